"""Which verdicts that gate-full keeps hold when something has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_actor_envs.gate.kill_recorder import EVERY_KILLER, NOT_ASKED, SECONDS
from pytest_actor_envs.gate.mutmut_results import CodeMutant
from tools.kept_state import Asking, State, lasting, read_state, write_state

KILLED = CodeMutant("killed", "a.py", 1, (("call", "tests/low/test_a.py::test_a"),))
BY_GUARD = CodeMutant("by guard", "a.py", 1, (("call", "pyproject.toml::extra-declared::vllm"),))
BY_BOTH = CodeMutant("by both", "a.py", 1, (*BY_GUARD.failures, *KILLED.failures))
SURVIVED = CodeMutant("survived", "a.py", 0)
CUT_SHORT = CodeMutant("cut short", "a.py", 0, ((NOT_ASKED, "3"),))
ERROR_CUT_SHORT = CodeMutant("error", "a.py", 1, (("setup", "tests/low/test_a.py::test_a"), (NOT_ASKED, "3")))
KILLED_LATE = CodeMutant("late", "a.py", 1, ((NOT_ASKED, "3"), *KILLED.failures))
STOPPED = CodeMutant("stopped", "a.py", -24)
MUTANTS = (KILLED, BY_GUARD, BY_BOTH, SURVIVED, CUT_SHORT, ERROR_CUT_SHORT, KILLED_LATE, STOPPED)
ALL = {mutant.name for mutant in MUTANTS}
DEAD_BY_TEST = {"killed", "by both", "late"}
BEFORE = State({"a.py": "1", "b.py": "1", "pytest_actor_envs/guards/g.py": "1"}, ("3.11",), Asking(20.0))


@pytest.mark.parametrize(
    ("changes", "lasts"),
    [
        ({}, ALL),
        ({"b.py": "2"}, {*DEAD_BY_TEST, "by guard"}),
        ({"new.py": "1"}, {*DEAD_BY_TEST, "by guard"}),
        ({"a.py": "2"}, set()),
        ({"tests/low/test_a.py": "2"}, {"by guard", "by both"}),
        ({"tests/low/conftest.py": "2"}, {"by guard", "by both"}),
        ({"tests/conftest.py": "2"}, {"by guard", "by both"}),
        ({"tests/high/conftest.py": "2"}, {*DEAD_BY_TEST, "by guard"}),
        ({"conftest.py": "2"}, set()),
        ({"pyproject.toml": "2"}, DEAD_BY_TEST),
        ({"pytest_actor_envs/guards/g.py": "2"}, DEAD_BY_TEST),
        ({"pytest_actor_envs_more/g.py": "2"}, {*DEAD_BY_TEST, "by guard"}),
    ],
)
def test_a_change_leaves_kills_whose_file_and_killer_are_as_they_were(
    changes: Mapping[str, str], lasts: set[str]
) -> None:
    after = replace(BEFORE, files={**BEFORE.files, **changes})
    assert lasting(MUTANTS, BEFORE, after) == lasts
    assert lasting(MUTANTS, after, BEFORE) == lasts


@pytest.mark.parametrize(
    ("before", "after", "lasts"),
    [
        (Asking(20.0), Asking(20.0), ALL),
        (Asking(20.0), Asking(5.0), ALL),
        (Asking(20.0), Asking(20.1), ALL - {"cut short", "error", "stopped"}),
        (Asking(20.0), Asking(20.0, every_killer=True), set()),
        (Asking(20.0, every_killer=True), Asking(20.0, every_killer=True), ALL),
        (Asking(20.0, every_killer=True), Asking(20.0), ALL),
    ],
)
def test_what_was_asked_in_another_way_is_asked_again_where_that_can_matter(
    before: Asking, after: Asking, lasts: set[str]
) -> None:
    assert lasting(MUTANTS, replace(BEFORE, asking=before), replace(BEFORE, asking=after)) == lasts


def test_a_state_comes_back_as_it_was(tmp_path: Path) -> None:
    assert read_state(tmp_path / "state.json") is None
    for state in (BEFORE, replace(BEFORE, asking=Asking(5.0, every_killer=True))):
        write_state(tmp_path / "state.json", state)
        assert read_state(tmp_path / "state.json") == state


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": "1"}', '{"files": {}, "versions": [], "asking": {}}'])
def test_another_format_is_no_state(text: str, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(text)
    assert read_state(tmp_path / "state.json") is None


def test_how_to_ask_is_told_in_variables() -> None:
    assert Asking(5.0).variables == {SECONDS: "5.0", EVERY_KILLER: "0"}
    assert Asking(5.0, every_killer=True).variables == {SECONDS: "5.0", EVERY_KILLER: "1"}
