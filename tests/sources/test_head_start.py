"""What is done ahead of requests: modules that are imported already, and code of files as they are now."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_actor_envs.sources import head_start
from pytest_actor_envs.sources.fresh_imports import IN_MEMORY
from pytest_actor_envs.sources.head_start import COMMON, HeadStart

AHEAD = ("argparse", "json", "json.decoder", "pytest_actor_envs", "pytest_actor_envs.model")


@pytest.fixture(autouse=True)
def toml_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a head start puts in the place of `tomllib.loads` does not stay."""
    monkeypatch.setattr(tomllib, "loads", tomllib.loads)


def ahead_of_requests() -> HeadStart:
    """One that takes the modules of AHEAD for imported by itself."""
    return HeadStart(set(sys.modules) - set(AHEAD))


def request(overlay: Mapping[str, str | None], root: Path | None = None, **other: Any) -> dict[str, Any]:
    return {"observer": "script", "arguments": {}, "root": root and str(root), "overlay": overlay, **other}


@pytest.mark.parametrize(
    ("overlay", "hidden"),
    [
        ({"json.py": ""}, {"json", "json.decoder"}),
        ({"json/__init__.py": "", "argparse/a.py": ""}, {"argparse", "json", "json.decoder"}),
        ({"json.py": None, "decoder.py": "", "pkg/json.py": ""}, set()),
        ({"pytest_actor_envs/model.py": "", "ast.py": ""}, set()),
        ({}, set()),
    ],
)
def test_modules_of_the_project_hide_those_that_are_imported_ahead(
    overlay: Mapping[str, str | None], hidden: set[str]
) -> None:
    ahead = ahead_of_requests()
    assert set(ahead.hidden_by(request(overlay))) == hidden


def test_so_do_those_in_its_folder(tmp_path: Path) -> None:
    ahead = ahead_of_requests()
    (tmp_path / "argparse.py").write_text("")
    (tmp_path / "json").mkdir()
    assert set(ahead.hidden_by(request({}, tmp_path))) == {"argparse", "json", "json.decoder"}
    assert ahead.hidden_by(request({}, tmp_path / "none")) == []


def test_what_is_common_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "string")
    HeadStart(())
    assert "string" in sys.modules
    assert set(COMMON) <= set(sys.modules)


def names_of(ahead: HeadStart, asked: dict[str, Any]) -> dict[str, object]:
    return {filename: text for filename, text in ahead.compiled_for(asked)}


def test_files_that_the_last_request_of_the_kind_imported_are_compiled_as_they_are_now(tmp_path: Path) -> None:
    ahead = ahead_of_requests()
    (tmp_path / "a.py").write_text("x = 1\n")
    asked = request({"b.py": "y = 1\n", "gone.py": None}, tmp_path)
    assert ahead.compiled_for(asked) == {}
    ahead.learn(asked, {"imported": ["a.py", "b.py", "gone.py", "none.py", "a.py"]})
    a, b = (os.path.join(tmp_path, name) for name in ("a.py", "b.py"))
    assert names_of(ahead, asked) == {a: b"x = 1\n", b: "y = 1\n"}
    (tmp_path / "a.py").write_text("x = 2\n")
    assert names_of(ahead, request({"b.py": None}, tmp_path)) == {a: b"x = 2\n"}
    assert names_of(ahead, request({}, tmp_path, observer="registry")) == {}
    assert names_of(ahead, request({}, tmp_path, arguments={"path": "a.py"})) == {}
    ahead.learn(asked, {"error": {}})
    assert ahead.compiled_for(asked) == {}


def test_code_runs_and_what_cannot_be_compiled_without_a_word_is_left_out() -> None:
    ahead = ahead_of_requests()
    overlay = {"a.py": "X = 3\n", "syntax.py": "(\n", "warns.py": "X = 1 is 1\n", "null.py": "\0"}
    asked = request(overlay)
    ahead.learn(asked, {"imported": list(overlay)})
    [(file, code)] = ahead.compiled_for(asked).items()
    assert file == (os.path.join(IN_MEMORY, "a.py"), "X = 3\n")
    assert code.co_filename == file[0]
    assert not code.co_flags & 0x1000000  # of `from __future__ import annotations`, which is this plugin's
    found: dict[str, object] = {}
    exec(code, found)
    assert found["X"] == 3


def test_only_so_much_code_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = ahead_of_requests()
    monkeypatch.setattr(head_start, "MOST_FILES", 2)
    kept = []
    for number in range(5):
        asked = request({"a.py": f"X = {number}\n"})
        ahead.learn(asked, {"imported": ["a.py"]})
        assert len(ahead.compiled_for(asked)) == 1
        kept.append(len(ahead._codes))
    assert kept == [1, 2, 3, 1, 2]


def test_a_module_below_one_that_the_interpreter_has_itself_is_hidden_too() -> None:
    ahead = HeadStart(set(sys.modules) - {"json.decoder"})
    assert ahead.hidden_by(request({"json.py": ""})) == ["json.decoder"]


def test_the_projects_pyproject_is_parsed_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = ahead_of_requests()
    roots: list[str | None] = []
    monkeypatch.setattr(ahead._toml, "prepare", roots.append)
    for root in (tmp_path, None):
        ahead.compiled_for(request({}, root))
    assert roots == [str(tmp_path), None]
