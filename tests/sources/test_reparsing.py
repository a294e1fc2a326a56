"""A tree that was made from a known one is the one that parsing all of the text gives."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from pytest_actor_envs.sources.fact_store import FactStore
from pytest_actor_envs.sources.parsed_files import ParsedFiles
from pytest_actor_envs.sources.reparsing import KnownTree, has_own_encoding

ROOT = Path(__file__).resolve().parents[2]
KNOWN = b'"""text"""\nimport os\n\n@one\n@two\ndef f():\n    pass\n\nX = {\n    # a\n    "a": 1,\n}\ny = 2; z = 3\nlast = 4\n'


def shown(tree: ast.Module) -> str:
    return ast.dump(tree, include_attributes=True)


def from_known(content: bytes, known: bytes = KNOWN) -> ast.Module | None:
    return KnownTree(known.split(b"\n"), ast.parse(known)).of(content, ast.parse)


@pytest.mark.parametrize(
    ("old", "new", "same_before", "same_behind"),
    [
        (b'"a": 1', b'"b": [1, 2]', 3, 3),
        (b"    # a", b"    # b", 3, 3),
        (b"last = 4", b"last = 4; more = 5", 6, 0),
        (b"last = 4", b"# nothing", 6, 0),
        (b"@two", b"@two(2)", 2, 4),
        (b"    pass", b"    def g(): pass", 2, 4),
    ],
)
def test_the_statements_around_the_changed_one_are_shared(
    old: bytes, new: bytes, same_before: int, same_behind: int
) -> None:
    known = KnownTree(KNOWN.split(b"\n"), ast.parse(KNOWN))
    content = KNOWN.replace(old, new)
    found = known.of(content, ast.parse)
    assert found is not None
    assert shown(found) == shown(ast.parse(content))
    assert found.body[:same_before] == known.tree.body[:same_before]
    assert found.body[len(found.body) - same_behind :] == known.tree.body[len(known.tree.body) - same_behind :]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"import os\n", b"import os\nimport sys\n"),  # other lines have other numbers
        (b"y = 2; z = 3", b"y = 2; z = 4"),  # two statements on a line
        (b"\n\nX", b"\n# new\nX"),  # between statements
        (b'"a": 1,\n}', b'"a": 1,\n})'),  # no Python
        (b"last = 4", b"last = ("),
        (b"@one\n@two\ndef f():", b"@one\n@two\nasync\\\n"),
        (b"last = 4", b"last = 4 \\"),
        (b'"""text"""', b"# coding: latin-1"),
        (b'"""text"""', b'"""other"""'),  # where an encoding may stand
        (b'"""text"""', b'\xef\xbb\xbf"""text"""'),
        (b"import os\n", b"import os\r\n"),
        (b"import os\n", b"import re\n"),
        (b"    pass", b"    pass\r"),
    ],
)
def test_everything_is_parsed_where_the_change_is_not_within_one_statement(old: bytes, new: bytes) -> None:
    assert from_known(KNOWN.replace(old, new)) is None


@pytest.mark.parametrize(
    ("known", "old", "new", "shares"),
    [
        (b"#\n#\ny = 2; z = [\n1]\n", b"1", b"3", False),
        (b"#\n#\nx = [\n1]; y = 2\n", b"1", b"3", False),
        (b"#\n#\n#\nx = [\n1]\ny = 2\n", b"1", b"3", True),
        (b"x = [\n1,\n2,\n3]\n", b"2", b"4", True),
        (b"#\n#\nx = 1\ny = 2\n", b"1", b"3", True),
    ],
)
def test_a_changed_statement_has_its_lines_for_itself(known: bytes, old: bytes, new: bytes, shares: bool) -> None:
    content = known.replace(old, new)
    found = from_known(content, known)
    assert (None if found is None else shown(found)) == (shown(ast.parse(content)) if shares else None)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"# coding: latin-1\n", True),
        (b"#\n# vim: fileencoding=latin-1\n", True),
        (b"#\n#\n# coding: latin-1\n", False),
        (b"\xef\xbb\xbfx = 1\n", True),
        (b"x = 1\n", False),
    ],
)
def test_whether_a_text_may_say_its_encoding(content: bytes, expected: bool) -> None:
    assert has_own_encoding(content) is expected


def test_a_statement_that_takes_in_the_next_one_is_not_mistaken() -> None:
    content = KNOWN.replace(b"y = 2; z = 3", b'y = """').replace(b"last = 4", b'"""')
    known = KNOWN.replace(b"y = 2; z = 3", b"y = 2")
    found = from_known(content, known)
    assert found is None or shown(found) == shown(ast.parse(content))


@pytest.mark.filterwarnings("ignore:invalid escape sequence")
def test_random_changes_of_real_files_give_the_tree_of_the_whole_text() -> None:
    chance, shared = random.Random(20261130), 0
    paths = [*sorted((ROOT / "nemo_rl" / "distributed").glob("*.py")), ROOT / "tools" / "generate_fingerprint.py"]
    for path in paths:
        content = path.read_bytes()
        files = ParsedFiles(FactStore())
        files.whole("file", content)
        for _ in range(25):
            changed = bytearray(content)
            start = chance.randrange(len(content))
            changed[start : start + chance.randrange(4)] = chance.choice(
                [b"x", b"", b"#", b'"', b"'''", b"(", b")", b";", b"\\", b" ", b":", b"0", b",", b"else:"]
            )
            text = bytes(changed)
            try:
                whole = shown(ast.parse(text))
            except (SyntaxError, ValueError):
                with pytest.raises(SyntaxError):
                    files.whole("file", text)
                continue
            tree = files.whole("file", text)
            assert shown(tree) == whole
            shared += any(statement in files.whole("file", content).body for statement in tree.body)
    assert shared > 50


def test_what_is_read_of_a_statement_is_read_once_for_all_trees_that_share_it() -> None:
    files, read = ParsedFiles(FactStore()), list[int]()

    def line(statement: ast.stmt, more: int) -> int:
        read.append(statement.lineno)
        return statement.lineno + more

    def lines(content: bytes, more: int) -> list[int]:
        return [files.of_statement(line, statement, more) for statement in files.whole("file", content).body]

    assert lines(b"#\n#\na = 1\nb = 2\n", 10) == lines(b"#\n#\na = 1\nb = 3\n", 10) == [13, 14]
    assert read == [3, 4, 4]
    assert lines(b"#\n#\na = 1\nb = 2\n", 20) == [23, 24]
    assert read == [3, 4, 4, 3, 4]
