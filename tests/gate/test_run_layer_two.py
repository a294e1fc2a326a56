"""Both layers in one run of the gate, with results of mutmut that were written by hand."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from pytest_actor_envs.gate import layers, run
from pytest_actor_envs.gate.changes import Changes
from pytest_actor_envs.gate.code_mutants import TEMPORARY_FOLDERS
from pytest_actor_envs.gate.kill_recorder import EVERY_KILLER, KILLS_FILE, NOT_ASKED, SECONDS
from pytest_actor_envs.gate.result import ExitCode, GateResult
from pytest_actor_envs.gate.store import load
from pytest_actor_envs.gate.verdicts import Fate
from pytest_actor_envs.model import ConfigurationError
from tests.gate.conftest import Programs, run_code_mutants
from tests.gate.gate_runs import (
    ALLOWED,
    IDLE,
    KILLED_A,
    KILLED_B,
    KILLED_CODE,
    KILLER,
    MANY,
    NAMES,
    RUN,
    SURVIVED,
    UNSEEN,
    B,
    changes_of,
    ran,
    told,
    with_code_mutants,
    with_two_guards,
)


@pytest.fixture
def root(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return with_two_guards(small, monkeypatch)


@pytest.fixture
def mutated(root: Path, programs: Programs, tmp_path: Path) -> Path:
    return with_code_mutants(root, programs, tmp_path)


def test_both_layers_make_one_result(mutated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(EVERY_KILLER, "1")
    result, seen = ran(mutated, 1, 2)
    assert result.seconds is not None and set(result.seconds) == {"baseline", "layer 1", "layer 2"}
    assert result == GateResult(
        ("aa", "ab"),
        (KILLED_A, SURVIVED, KILLED_B, KILLED_CODE, ALLOWED, UNSEEN),
        problems=(MANY,),
        seconds=result.seconds,
        idle_tests=(IDLE,),
    )
    assert seen[-1] == ("code mutants", 2, 3)
    arguments, *code, variable, folder = told(tmp_path)
    assert arguments == RUN
    assert code == ["def doubled(number):", "    return number * 2  # lifted"]
    # Where tests get folders, and the copy, are gone with the run.
    assert Path(folder).name == "project" and not Path(folder).exists()
    assert variable == f"PYTEST_DEBUG_TEMPROOT={Path(folder).parent}"
    assert {found.identity for _, found in load(mutated).reports.values()} == {
        found.identity for found in result.reports if found.fate is not Fate.NO_VERDICT
    }


def test_layer_two_alone_proves_no_guard(mutated: Path) -> None:
    result, seen = ran(mutated, 2)
    assert (result.guards, result.is_part, result.idle_tests) == ((), True, ())
    assert result.reports == (KILLED_CODE, ALLOWED, UNSEEN)
    assert seen == [("code mutants", 2, 3)]


def test_code_mutants_of_chosen_guards_that_no_file_holds_are_a_note(mutated: Path) -> None:
    result, _ = ran(mutated, 1, 2, guards=("a?",))
    assert result.reports == (KILLED_A, SURVIVED, KILLED_B)
    module = B.check.__module__
    assert result.notes == (f"layer 2: no code mutant is named {module}.* or {module}.*",)


@pytest.mark.parametrize(("count", "said"), [(3, "a0 or a1 or a2"), (5, "a0 or a1 or a2 or 2 more")])
def test_of_many_names_the_first_are_said(count: int, said: str) -> None:
    assert layers._some([f"a{number}" for number in range(count)]) == said


def test_code_mutants_that_mutmut_does_not_find_are_a_note(
    mutated: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs(mutmut="echo Filtered for specific mutants; exit 1")
    changes = {"pkg/numbers_of.py": "before\n"}
    monkeypatch.setattr(run, "changes_since", lambda given, reference: Changes(changes))
    result, _ = ran(mutated, 1, 2, since="REF")
    assert result.reports == ()
    assert result.notes[1:] == ("layer 2: no code mutant is named pkg.numbers_of.x*",)


def test_since_a_commit_only_code_that_can_be_affected_is_mutated(
    mutated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"pkg/numbers_of.py": "before\n"}
    monkeypatch.setattr(run, "changes_since", lambda given, reference: changes_of(given == mutated, reference, changes))
    result, _ = ran(mutated, 1, 2, since="REF")
    assert (result.reports, result.problems) == ((KILLED_CODE, ALLOWED, UNSEEN), ())
    assert told(tmp_path)[0] == f"{RUN} pkg.numbers_of.x*"
    changes.clear()
    result, _ = ran(mutated, 1, 2, since="REF")
    assert (result.reports, result.exit_code) == ((), ExitCode.ALL_LIVE)
    assert result.notes[-1] == "layer 2: no code mutant can be affected"


def test_of_chosen_guards_only_the_code_that_can_be_affected_is_mutated(
    mutated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"pkg/numbers_of.py": "before\n"}
    monkeypatch.setattr(run, "changes_since", lambda given, reference: Changes(changes))
    monkeypatch.setattr(B.check, "__module__", "pkg.numbers_of")
    ran(mutated, 2, guards=("ab",), since="REF")
    assert told(tmp_path)[0] == f"{RUN} pkg.numbers_of.x*"
    monkeypatch.setattr(B.check, "__module__", "pkg.others")
    result, _ = ran(mutated, 2, guards=("ab",), since="REF")
    assert result.notes == ("layer 2: no code mutant can be affected",)
    changes["pyproject.toml"] = "before\n"  # then any code can be
    result, _ = ran(mutated, 2, guards=("ab",), since="REF")
    assert result.notes[-1] == "layer 2: no code mutant is named pkg.others.*"


def test_a_guard_asked_for_by_name_whose_code_is_not_mutated_is_no_verdict(mutated: Path) -> None:
    result, _ = ran(mutated, 2, guards=("ab",))
    assert (result.reports, result.exit_code) == ((), ExitCode.NO_VERDICT)


def test_code_mutants_alone_are_run_in_a_prepared_copy(mutated: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def prepare(folder: Path) -> dict[str, str]:
        (folder / "pkg/numbers_of.py").write_text("prepared\n")
        return {TEMPORARY_FOLDERS: "elsewhere", EVERY_KILLER: "1"}

    names = ["pkg.numbers_of.x*", "pkg.gone.*"]
    result = run_code_mutants(mutated, names, lambda done, of: seen.append((done, of)), prepare)
    surviving = f"reached by {KILLER}, {IDLE}"
    assert [(found.identity, found.fate, found.reason) for found in result.reports] == [
        (NAMES[0], Fate.KILLED, ""),
        (NAMES[1], Fate.SURVIVED, surviving),
        (NAMES[2], Fate.NO_VERDICT, "mutmut did not come to it"),
    ]
    assert (result.problems, result.idle_tests, result.unknown, seen) == ((), None, None, [(2, 3)])
    at_once = len(os.sched_getaffinity(0)) + 1
    assert told(tmp_path)[:3] == [
        f"run --max-children {at_once} pkg.numbers_of.x* pkg.gone.*",
        "prepared",
        "PYTEST_DEBUG_TEMPROOT=elsewhere",
    ]


FAILURES = {
    "echo BadTestExecution": (ExitCode.BASELINE_FAILS, "the tests that are to kill cannot be collected:"),
    "echo broken": (ExitCode.NOT_PROVEN, "mutmut ended without a result:"),
}


@pytest.mark.parametrize("script", FAILURES)
def test_a_failure_of_layer_two_takes_nothing_from_layer_one(script: str, mutated: Path, programs: Programs) -> None:
    programs(mutmut=f"{script}; exit 1", python="echo no such test; exit 2")
    code, said = FAILURES[script]
    result, _ = ran(mutated, 1, 2)
    assert (result.reports, result.exit_code) == ((KILLED_A, SURVIVED, KILLED_B), code)
    assert result.failure is not None
    assert result.failure.text.split("\n")[0] == said
    assert set(load(mutated).reports) == {found.identity for found in result.reports}
    assert ran(mutated, 2)[0].failure == result.failure


@pytest.mark.parametrize(
    ("own", "set_to", "used", "multiplier"),
    [
        ("", None, "60", [1e6]),
        ("", "7.5", "7.5", [1e6]),
        ("timeout_multiplier = 3.0\n", None, "", [3.0]),
        ("timeout_constant = 9.0\n", "7", "7", []),
    ],
)
def test_the_limit_of_a_mutant_is_the_gates_own_unless_the_project_sets_mutmuts(
    own: str, set_to: str | None, used: str, multiplier: list[float], mutated: Path, programs: Programs, tmp_path: Path
) -> None:
    pyproject = mutated / "pyproject.toml"
    pyproject.write_text(pyproject.read_text() + own)
    programs(
        mutmut=f"cp -r {tmp_path}/results mutants; cp pyproject.toml {tmp_path}; echo $ACTOR_ENVS_GATE_SECONDS > {tmp_path}/seconds"
    )
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv(SECONDS, raising=False)
        if set_to is not None:
            environment.setenv(SECONDS, set_to)
        ran(mutated, 2)
    assert (tmp_path / "seconds").read_text() == f"{used}\n"
    table = tomllib.loads((tmp_path / "pyproject.toml").read_text())["tool"]["mutmut"]
    assert [value for key, value in table.items() if key == "timeout_multiplier"] == multiplier
    assert table["only_mutate"] == ["pkg/numbers_of.py"]


@pytest.mark.parametrize("text", ["", "x", "0", "-1", "nan"])
def test_a_limit_that_is_none_is_said_before_mutmut_starts(
    text: str, mutated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECONDS, text)
    with pytest.raises(ConfigurationError) as raised:
        ran(mutated, 2)
    assert str(raised.value) == (
        f"gate: the variable {SECONDS} is no number of seconds above 0: '{text}'\n    unset it, or set it to one, as 60"
    )
    assert not (tmp_path / "told").exists()


def test_a_mutant_that_was_not_asked_all_tests_in_time_timed_out(mutated: Path, tmp_path: Path) -> None:
    with (tmp_path / "results" / KILLS_FILE).open("a") as file:
        file.write("".join(f"\n{json.dumps([name, NOT_ASKED, '12'])}" for name in NAMES))
    result, _ = ran(mutated, 2)
    assert [(found.fate, found.reason) for found in result.reports] == [
        (Fate.KILLED, ""),
        (Fate.TIMED_OUT, "the limit of time ended before 12 further tests were run"),
        (Fate.NO_VERDICT, "mutmut did not come to it"),
    ]
