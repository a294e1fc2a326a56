from __future__ import annotations

import json
from pathlib import Path

from pytest_actor_envs.sources.fact_store import FILE, FactStore

TEXT = b"import sys\ntry:\n    from a.b import c as d\nexcept ImportError:\n    import e\nif sys.version_info < (3, 9):\n    import f\n"


def test_facts_that_were_kept_are_those_that_were_read(tmp_path: Path) -> None:
    first = FactStore()
    facts = first.read(TEXT)
    first.save(tmp_path)
    second = FactStore()
    second.load(tmp_path)
    assert second.read(TEXT) == facts
    assert len(second.used) == 1
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_only_the_facts_of_this_run_are_kept(tmp_path: Path) -> None:
    for text in (TEXT, b"import g\n"):
        store = FactStore()
        store.load(tmp_path)
        store.read(text)
        store.save(tmp_path)
    assert list(json.loads((tmp_path / FILE).read_text())["facts"].values()) == [
        [[0, "g", [], 1, 8, False, [], [0, 0], [99, 0]]]
    ]


def test_a_file_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    for broken in ("{", "[]", '{"format": 0, "facts": {"x": []}}', '{"facts": {}}'):
        (tmp_path / FILE).write_text(broken)
        store = FactStore()
        store.load(tmp_path)
        assert not isinstance(store.read(TEXT), SyntaxError)


def test_a_text_that_does_not_parse_is_not_kept(tmp_path: Path) -> None:
    store = FactStore()
    assert isinstance(store.read(b"import ("), SyntaxError)
    assert isinstance(store.read(b"import a\0"), SyntaxError)
    store.save(tmp_path)
    assert list(tmp_path.iterdir()) == []
