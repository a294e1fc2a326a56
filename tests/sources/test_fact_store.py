from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from pytest_actor_envs.sources import fact_store
from pytest_actor_envs.sources.fact_store import FILE, RUNS_KEPT, FactStore
from pytest_actor_envs.sources.parsed_files import ParsedFiles

TEXT = b"import sys\ntry:\n    from a.b import c as d\nexcept ImportError:\n    import e\nif sys.version_info < (3, 9):\n    import f\n"


def asked(store: FactStore, text: bytes = TEXT, question: str = "length") -> bool:
    """Whether the answer had to be found."""
    found = []
    store.of(text, question, lambda: found.append(1) or [len(text), question])
    return bool(found)


def loaded(folder: Path) -> FactStore:
    store = FactStore()
    store.load(folder)
    return store


def test_what_was_kept_is_not_asked_again(tmp_path: Path) -> None:
    first = FactStore()
    assert asked(first)
    assert not asked(first)
    first.save(tmp_path)
    second = loaded(tmp_path)
    assert not asked(second)
    assert second.of(TEXT, "length", list) == [len(TEXT), "length"]
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_nothing_is_believed_of_another_text_or_question(tmp_path: Path) -> None:
    first = FactStore()
    asked(first)
    first.save(tmp_path)
    second = loaded(tmp_path)
    assert asked(second, TEXT + b" ")
    assert asked(second, TEXT, "width")


def test_what_a_question_raises_is_not_kept() -> None:
    store = FactStore()
    with pytest.raises(ZeroDivisionError):
        store.of(TEXT, "length", lambda: 1 // 0)
    assert asked(store)


def test_a_run_without_news_writes_nothing(tmp_path: Path) -> None:
    FactStore().save(tmp_path)
    assert not list(tmp_path.iterdir())
    first = FactStore()
    asked(first)
    first.save(tmp_path)
    (tmp_path / FILE).chmod(0o444)
    written = (tmp_path / FILE).stat()
    second = loaded(tmp_path)
    asked(second)
    second.save(tmp_path)
    assert (tmp_path / FILE).stat().st_ino == written.st_ino


def test_answers_that_nobody_asks_for_are_left_out_after_some_runs(tmp_path: Path) -> None:
    first = FactStore()
    asked(first)
    first.save(tmp_path)
    for number in range(RUNS_KEPT + 1):
        assert (hash_of(TEXT) in json.loads((tmp_path / FILE).read_bytes())["facts"]) == (number <= RUNS_KEPT)
        store = loaded(tmp_path)
        asked(store, b"%d" % number)
        store.save(tmp_path)
    assert hash_of(TEXT) not in json.loads((tmp_path / FILE).read_bytes())["facts"]


def hash_of(text: bytes) -> str:
    store = FactStore()
    asked(store, text)
    return next(iter(json.loads(store.facts)))


def test_a_store_takes_over_what_another_was_asked() -> None:
    first, second = FactStore(), FactStore()
    asked(first)
    second.keep(first.facts)
    assert not asked(second)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "1",
        '{"facts": {}}',
        '{"format": "FORMAT", "run": 1, "facts": {"HASH": 1}}',
        '{"format": "FORMAT", "run": 1, "facts": {"HASH": [1, 2]}}',
        '{"format": "FORMAT", "run": [], "facts": {"HASH": [1, {"length": 1}]}}',
        '{"format": "another", "run": 1, "facts": {"HASH": [1, {"length": 1}]}}',
        '{"format": "FORMAT", "run": 1, "facts": [[1, {"length": 1}]]}',
        "\x00\xff",
    ],
)
def test_a_file_that_cannot_be_read_is_passed_over(content: str, tmp_path: Path) -> None:
    text = content.replace("FORMAT", fact_store._format()).replace("HASH", hash_of(TEXT))
    (tmp_path / FILE).write_text(text, encoding="latin-1")
    store = loaded(tmp_path)
    assert asked(store)
    store.save(tmp_path)
    assert not asked(loaded(tmp_path))


def test_a_file_of_another_version_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = FactStore()
    asked(first)
    first.save(tmp_path)
    monkeypatch.setattr(fact_store, "_format", lambda: "another")
    assert asked(loaded(tmp_path))


def test_the_format_depends_on_the_source_of_the_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {path.name for path in Path(fact_store.__file__).parent.glob("*.py")}
    assert {"fact_store.py", "imports.py", "skeleton.py", "excerpts.py", "lock.py"} <= names
    found = set()
    for text in ("1", "2"):
        (tmp_path / "reader.py").write_text(text)
        monkeypatch.setattr(fact_store, "__file__", str(tmp_path / "fact_store.py"))
        found.add(fact_store._format.__wrapped__())
    assert len(found) == 2


def test_several_that_write_at_once_leave_a_whole_file(tmp_path: Path) -> None:
    def write(number: int) -> None:
        store = FactStore()
        for index in range(200):
            asked(store, b"%d %d" % (number, index))
        store.save(tmp_path)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(json.loads((tmp_path / FILE).read_bytes())["facts"]) == 200
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_what_cannot_be_moved_into_place_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    store = FactStore()
    asked(store)
    with pytest.raises(OSError):
        store.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_imports_that_were_kept_are_those_that_were_read(tmp_path: Path) -> None:
    first = ParsedFiles(FactStore())
    facts = first.imports(TEXT)
    first.store.save(tmp_path)
    second = ParsedFiles(loaded(tmp_path))
    assert second.imports(TEXT) == facts
    assert not isinstance(facts, SyntaxError)
    assert len(facts) == 4


def test_a_text_that_does_not_parse_is_not_kept(tmp_path: Path) -> None:
    files = ParsedFiles(FactStore())
    for text in (b"import (", b"import a\0"):
        assert isinstance(files.imports(text), SyntaxError)
        for _ in range(2):
            with pytest.raises(SyntaxError) as raised:
                files.excerpt("bad.py", text, ())
            assert raised.value.filename == "bad.py"
            with pytest.raises(SyntaxError):
                files.whole("bad.py", text)
    files.store.save(tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_excerpt_that_was_kept_is_the_one_that_was_made(tmp_path: Path) -> None:
    text = b"def f():\n    return 1\n\n\ndef g():\n    return remote\n"
    first = ParsedFiles(FactStore())
    made = first.excerpt("a.py", text, ("remote",))
    first.store.save(tmp_path)
    store = loaded(tmp_path)
    kept = ParsedFiles(store).excerpt("a.py", text, ("remote",))
    assert [node.end_lineno for node in kept.body] == [node.end_lineno for node in made.body] == [2, 6]
    assert "return 1" not in store.facts
    assert ParsedFiles(store).excerpt("a.py", b"# remote\n" + text, ("remote",)).body[0].lineno == 2


def test_the_file_has_each_answer_with_the_run_that_asked_last(tmp_path: Path) -> None:
    def saved() -> dict[str, object]:
        text = (tmp_path / FILE).read_text()
        data: dict[str, object] = json.loads(text)
        assert text == json.dumps(data, separators=(",", ":"))
        return data

    first = FactStore()
    asked(first)
    first.keep(json.dumps({"other": {"length": 5}}))
    first.save(tmp_path)
    one, two = hash_of(TEXT), hash_of(b"more")
    facts: dict[str, object] = {"other": [0, {"length": 5}], one: [1, {"length": [len(TEXT), "length"]}]}
    assert saved() == {"format": fact_store._format(), "run": 1, "facts": facts}
    written = (tmp_path / FILE).stat().st_ino
    first.save(tmp_path)
    assert (tmp_path / FILE).stat().st_ino == written
    second = loaded(tmp_path)
    asked(second, b"more")
    second.save(tmp_path)
    assert saved() == {
        "format": fact_store._format(),
        "run": 2,
        "facts": {**facts, two: [2, {"length": [4, "length"]}]},
    }
