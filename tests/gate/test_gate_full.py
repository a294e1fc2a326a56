"""The gate without a limit of time: its configuration, its share, its words; runs of mutmut are test_code_mutants.py's."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from pytest_actor_envs.gate.code_mutants import CodeMutantsResult
from pytest_actor_envs.gate.result import ExitCode
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from tools import gate_full

ROOT = Path(__file__).resolve().parents[2]


def report(name: str, fate: Fate) -> MutantReport:
    killers = ("tests/a.py::test_a",) if fate is Fate.KILLED else ()
    return MutantReport(2, name, "", "a.py:3", "f", fate, killers, "-    1\n+    2", f"because of {name}")


def result(*fates: Fate, problems: tuple[str, ...] = ()) -> CodeMutantsResult:
    reports = tuple(report(f"m{number}", fate) for number, fate in enumerate(fates))
    return CodeMutantsResult(reports, problems, ("tests/a.py::test_idle",))


def test_the_projects_configuration_is_widened_and_nothing_else_changes(tmp_path: Path) -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    assert gate_full.prepare(tmp_path) == {gate_full.EVERYTHING: "1"}
    before = tomllib.loads(text)
    after = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))
    table = after["tool"]["mutmut"]
    assert {*before["tool"]["mutmut"]["only_mutate"], *gate_full.MUTATED_AS_WELL} == set(table["only_mutate"])
    assert set(gate_full.KILLERS) <= set(table["pytest_add_cli_args_test_selection"])
    assert table["do_not_mutate"] == list(gate_full.NOT_MUTATED)
    for key in ("only_mutate", "pytest_add_cli_args_test_selection", "do_not_mutate"):
        before["tool"]["mutmut"].pop(key, None)
        table.pop(key)
    assert before == after


@pytest.mark.parametrize("path", [*gate_full.KILLERS, *gate_full.NOT_KILLERS, *gate_full.NOT_MUTATED])
def test_what_it_names_is_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("pattern", gate_full.MUTATED_AS_WELL)
def test_what_it_mutates_is_there(pattern: str) -> None:
    assert list(ROOT.glob(pattern))


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (result(*[Fate.KILLED] * 19, Fate.SURVIVED), ExitCode.ALL_LIVE),
        (result(*[Fate.KILLED] * 18, Fate.SURVIVED), ExitCode.NOT_PROVEN),
        (result(*[Fate.KILLED] * 18, Fate.TIMED_OUT), ExitCode.NOT_PROVEN),
        (result(*[Fate.KILLED] * 19, *[Fate.SUPPRESSED] * 5), ExitCode.ALL_LIVE),
        (result(Fate.KILLED, problems=("a.py:1:1: gate: stale",)), ExitCode.NOT_PROVEN),
        (result(Fate.SUPPRESSED), ExitCode.NOT_PROVEN),
        (result(), ExitCode.NO_VERDICT),
    ],
)
def test_nineteen_of_twenty_have_to_be_killed(found: CodeMutantsResult, code: ExitCode) -> None:
    assert gate_full.exit_code(found) is code


def test_each_that_was_not_killed_is_shown_with_what_it_takes() -> None:
    assert gate_full.summary(result(Fate.KILLED, Fate.SURVIVED, Fate.SUPPRESSED)).split("\n") == [
        "a.py:3:1: survived: m1",
        "    because of m1",
        "-    1",
        "+    2",
        "1 tests that reach mutants kill none",
        "3 code mutants: 1 killed, 1 survived, 1 suppressed; 50.0% killed",
    ]
