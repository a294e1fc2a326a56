"""Trees, excerpts and imports of texts: read once, and kept as the store has them."""

from __future__ import annotations

import ast
import hashlib
import json

import pytest

from pytest_actor_envs.sources.fact_store import FactStore
from pytest_actor_envs.sources.imports import import_facts
from pytest_actor_envs.sources.memory import Memory
from pytest_actor_envs.sources.parsed_files import ParsedFiles

TEXT = b"import a\n\n\ndef f():\n    return 1\n\n\ndef g():\n    one\n"
EXCERPT = b"import a\n\n\ndef f():(_\n           )\n\n\ndef g():\n    one\n"


def test_a_given_memory_is_shared() -> None:
    memory = Memory()
    first, second = (ParsedFiles(FactStore(), memory) for _ in range(2))
    assert first.whole("a.py", TEXT) is second.whole("a.py", TEXT)
    assert ParsedFiles(FactStore()).whole("a.py", TEXT) is not first.whole("a.py", TEXT)


def test_texts_of_one_path_share_statements_and_those_of_others_do_not() -> None:
    files = ParsedFiles(FactStore())
    first = files.whole("a.py", TEXT)
    changed = files.whole("a.py", TEXT.replace(b"one", b"two"))
    assert changed.body[:2] == first.body[:2]
    assert ast.unparse(changed.body[2]) == "def g():\n    two"
    for other in (files.whole("b.py", TEXT), files.whole("a.py", TEXT, (3, 9)), files.whole("a.py", TEXT + b"x\n")):
        assert not set(other.body) & set(first.body)
        assert ast.dump(other.body[2]) == ast.dump(first.body[2])


def test_an_excerpt_leaves_out_functions_without_the_words() -> None:
    store = FactStore()
    tree = ParsedFiles(store).excerpt("a.py", TEXT, ("one", "other"))
    assert ast.dump(tree, include_attributes=True) == ast.dump(ast.parse(EXCERPT), include_attributes=True)
    assert facts(store) == {TEXT: {"excerpt one other": EXCERPT.decode()}}


def test_an_excerpt_that_is_the_whole_text_is_not_kept() -> None:
    store, content = FactStore(), b"# coding: latin-1\nx = '\xe9'\n"
    tree = ParsedFiles(store).excerpt("a.py", content, ("one",))
    assert ast.dump(tree) == ast.dump(ast.parse(content))
    assert facts(store, content) == {content: {"excerpt one": None}}


def test_the_kept_excerpt_is_believed() -> None:
    known, store = FactStore(), FactStore()
    known.of(TEXT, "excerpt one", lambda: "kept = 1\n")
    store.keep(known.facts)
    assert ast.unparse(ParsedFiles(store).excerpt("a.py", TEXT, ("one",))) == "kept = 1"


def test_imports_are_kept_as_rows() -> None:
    store = FactStore()
    content = b"from .a import b, c\nif sys.version_info >= (3, 11):\n    try:\n        import d\n    except ImportError: pass\n"
    found = ParsedFiles(store).imports(content)
    assert found == import_facts(content)
    rows = '[[1,"a",["b","c"],1,1,false,[],[0,0],[99,0]],[0,"d",[],4,16,false,[[3,true]],[3,11],[99,0]]]'
    assert facts(store, content) == {content: {"imports": rows}}
    kept = FactStore()
    kept.keep(store.facts)
    assert ParsedFiles(kept).imports(content) == found
    assert hash(found) == hash(import_facts(content))


def test_what_cannot_be_parsed_is_told_each_time() -> None:
    files = ParsedFiles(FactStore())
    errors = []
    for _ in range(2):
        with pytest.raises(SyntaxError) as of_whole:
            files.whole("a.py", b"(")
        with pytest.raises(SyntaxError) as of_excerpt:
            files.excerpt("a.py", b"(", ())
        errors += [of_whole.value, of_excerpt.value]
    assert errors[:2] == errors[2:]
    assert {error.filename for error in errors} == {"a.py"}
    assert isinstance(files.imports(b"import ("), SyntaxError)
    with pytest.raises(SyntaxError):
        files.whole("a.py", b"match x:\n    case 1: pass\n", (3, 9))


def test_questions_have_names_of_their_own_since_readers_share_one_memory() -> None:
    memory = Memory()
    files = ParsedFiles(FactStore(), memory)
    statement = files.whole("a.py", b"x = 1\n").body[0]
    assert files.of_statement(ast.dump, statement, False) == ast.dump(statement, False)
    files.excerpt("a.py", b"x = 1\n", ())
    files.imports(b"x = 1\n")
    assert list(memory) == [
        ("first", "a.py", None),
        ("whole", "a.py", None, b"x = 1\n"),
        ("statement", ast.dump, statement, (False,)),
        ("excerpt", "a.py", b"x = 1\n"),
        ("imports", b"x = 1\n"),
    ]


def facts(store: FactStore, content: bytes = TEXT) -> dict[bytes, object]:
    """What the store knows, by text."""
    kept = json.loads(store.facts)
    return {content: kept.pop(hashlib.sha256(content).hexdigest()), **kept}
