"""What a run of the gate keeps for the next one, and from which state it was found."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from pytest_actor_envs.gate import store
from pytest_actor_envs.gate.store import RESULTS_FILE, Stored, load, save, state_of, versions
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.project import open_project, project_in_memory
from tests.gate.conftest import FILES


def report(identity: str, fate: Fate, *killers: str) -> MutantReport:
    return MutantReport(1, identity, "g", "s", "shape", fate, killers, "diff", "reason")


OLD, OTHER, NEW = report("a", Fate.KILLED, "g", "h"), report("b", Fate.KILLED, "g"), report("a", Fate.SURVIVED)


def test_reports_come_back_as_they_were_newer_ones_in_place_of_older(tmp_path: Path) -> None:
    assert load(tmp_path) == Stored({})
    save(tmp_path, "one", [OTHER, OLD], load(tmp_path))
    first = load(tmp_path)
    assert first == Stored({"a": ("one", OLD), "b": ("one", OTHER)})
    save(tmp_path, "two", [NEW], first)
    second = load(tmp_path)
    assert second == Stored({"a": ("two", NEW), "b": ("one", OTHER)})
    assert (second.known("one"), second.known("two"), second.known("three")) == ({"b": OTHER}, {"a": NEW}, {})
    assert (first.killed, second.killed) == ({"g": {"a", "b"}, "h": {"a"}}, {"g": {"b"}})
    rows = json.loads((tmp_path / RESULTS_FILE).read_text(encoding="utf-8"))
    assert [(row["state"], row["report"]["identity"], row["report"]["fate"]) for row in rows] == [
        ("two", "a", "survived"),
        ("one", "b", "killed"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[" * 100_000,
        "null",
        "[1]",
        "{}[]",
        '[{"state": 1}]',
        '[{"state": "s", "report": {}}]',
        '[{"report": {"identity": "a"}}]',
    ],
)
def test_what_cannot_be_read_is_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / RESULTS_FILE).parent.mkdir(parents=True)
    (tmp_path / RESULTS_FILE).write_text(text)
    assert load(tmp_path) == Stored({})


def test_what_is_no_report_of_this_version_is_nothing(tmp_path: Path) -> None:
    save(tmp_path, "one", [OLD], Stored({}))
    text = (tmp_path / RESULTS_FILE).read_text()
    for old, new in (
        ('"killed"', '"slain"'),
        ('"diff":', '"difference":'),
        ('"layer": 1', '"layer": "1"'),
        ('"layer": 1', '"layer": 3'),
        *((f'"{name}": "', f'"{name}": ["a"], "x": "') for name in ("identity", "claimed_by", "subject", "diff")),
        ('"shape": "shape"', '"shape": null'),
        ('"reason": "reason"', '"reason": 7'),
        ('"killers": ["g", "h"]', '"killers": 5'),
        ('"killers": ["g", "h"]', '"killers": ["g", ["h"]]'),
    ):
        wrong = text.replace(old, new)
        assert wrong != text
        (tmp_path / RESULTS_FILE).write_text(wrong)
        assert load(tmp_path) == Stored({})


def test_a_folder_that_is_made_is_kept_from_git_and_one_that_is_there_is_left_alone(tmp_path: Path) -> None:
    save(tmp_path, "one", [OLD], Stored({}))
    ignore = tmp_path / ".pytest_cache/.gitignore"
    assert ignore.read_text().split("\n")[1:] == ["*", ""]
    ignore.unlink()
    save(tmp_path, "one", [OLD], Stored({}))
    assert not ignore.exists()


def test_a_state_may_have_files_whose_names_are_no_utf_8(tmp_path: Path) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    guards = load_guards()[:1]

    def state() -> str:
        project = open_project(tmp_path)
        assert project is not None
        return state_of(project, guards)

    before = state()
    (tmp_path / os.fsdecode(b"n\xe4me")).touch()
    assert state() != before == state_of(project_in_memory(FILES), guards)


def test_a_state_is_of_every_file_by_its_name_of_the_plugin_and_of_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plugin/inner").mkdir(parents=True)
    (tmp_path / "plugin/inner/a.py").write_text("1")
    monkeypatch.setattr(store, "PLUGIN_FOLDER", tmp_path / "plugin")
    guards = load_guards()[:1]
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    seen: list[str] = []

    def state(**files: str) -> str:
        seen.append(state_of(project_in_memory({**FILES, **files}), guards))
        return seen[-1]

    assert state() == state_of(project_in_memory(FILES), guards)
    assert len(seen[0]) == 64
    for files in ({"a": "1"}, {"b": "1"}, {"a": "2"}, {"a": "1", "b": "1"}, {"a": "1", "b": "2"}):
        state(**files)
    (tmp_path / "plugin/inner/a.py").write_text("2")
    state()
    (tmp_path / "plugin/inner/a.txt").write_text("of no interest")
    assert state() == seen.pop()
    for name, version in (("one", "1"), ("one", "2"), ("two", "2")):
        metadata = tmp_path / f"site/{name}-{version}.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        importlib.invalidate_caches()
        state()
        if version == "1":
            shutil.rmtree(metadata)
    assert len(set(seen)) == len(seen) == 10
    monkeypatch.setattr(sys, "version", "another")
    assert state() not in seen[:-1]
    guards = load_guards()[1:2]
    assert state() not in seen[:-1]


def test_versions_are_those_of_the_interpreter_and_of_all_that_is_installed() -> None:
    interpreter, *installed = versions()
    assert interpreter == sys.version
    assert f"pytest=={pytest.__version__}" in installed
    assert installed == sorted(installed)


def test_who_killed_code_mutants_is_known_from_any_state() -> None:
    code = MutantReport(2, "m", "", "p:1", "f", Fate.KILLED, ("t", "u"), "diff", "")
    survivor = MutantReport(2, "n", "", "p:2", "f", Fate.SURVIVED, (), "diff", "")
    stored = Stored({"a": ("one", OLD), "m": ("two", code), "n": ("one", survivor)})
    assert stored.code_killers == {"m": ("t", "u")}
