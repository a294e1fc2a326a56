"""The gate without a limit of time: its configuration, its share, its words; runs of mutmut are test_code_mutants.py's."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from pytest_actor_envs.gate import reach_recorder
from pytest_actor_envs.gate.code_mutants import CodeMutantsResult
from pytest_actor_envs.gate.code_suppressions import CodeSuppression
from pytest_actor_envs.gate.mutmut_configuration import KILL_RECORDER
from pytest_actor_envs.gate.result import ExitCode
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from tools import gate_full
from tools.asked_mutants import Selection
from tools.gate_full_report import as_json, summary

ROOT = Path(__file__).resolve().parents[2]


def report(name: str, fate: Fate, path: str = "a.py") -> MutantReport:
    killers = ("tests/a.py::test_a",) if fate is Fate.KILLED else ()
    return MutantReport(2, name, "", f"{path}:3", "f", fate, killers, "-    1\n+    2", f"because of {name}")


def result(*fates: Fate, problems: tuple[str, ...] = ()) -> CodeMutantsResult:
    reports = tuple(report(f"m{number}", fate) for number, fate in enumerate(fates))
    return CodeMutantsResult(reports, problems, ("tests/a.py::test_idle",))


def whole(result: CodeMutantsResult, more: int = 0) -> Selection:
    """All mutants of a result, and `more` that it has no report of."""
    names = (*(report.identity for report in result.reports), *(f"more{number}" for number in range(more)))
    return Selection(names, f"{len(names)} code mutants", is_whole=True)


def test_the_projects_configuration_is_widened_and_nothing_else_changes() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    before = tomllib.loads(text)
    after = tomllib.loads(gate_full.in_the_copy([])("pyproject.toml", text.encode()).decode())
    table = after["tool"]["mutmut"]
    assert {*before["tool"]["mutmut"]["only_mutate"], *gate_full.MUTATED_AS_WELL} == set(table["only_mutate"])
    assert set(gate_full.KILLERS) <= set(table["pytest_add_cli_args_test_selection"])
    assert table["do_not_mutate"] == list(gate_full.NOT_MUTATED)
    assert table["pytest_add_cli_args"][-2:] == ["-p", reach_recorder.__name__]
    assert table["timeout_multiplier"] == gate_full.NO_LIMIT
    arguments = ("pytest_add_cli_args", "pytest_add_cli_args_test_selection")
    for key in ("only_mutate", "do_not_mutate", "timeout_multiplier", *arguments):
        before["tool"]["mutmut"].pop(key, None)  # In the copy that gate-full makes it is widened already.
        table.pop(key)
    assert before == after


def test_suppressions_are_lifted_where_they_stand_and_other_files_are_as_they_are() -> None:
    suppression = CodeSuppression("a.py", 1, 8, "nobody can tell")
    in_the_copy = gate_full.in_the_copy([suppression])
    content = b"x = 1  # pragma: no mutate: nobody can tell\ny = 2\n"
    assert in_the_copy("a.py", content) == b"x = 1  # lifted\ny = 2\n"
    assert in_the_copy("b.py", content) == content
    assert in_the_copy("image.bin", b"\xff") == b"\xff"


def test_suppressions_are_found_in_what_is_mutated_as_well_and_nowhere_else(tmp_path: Path) -> None:
    table = f'[tool.mutmut]\nsource_paths = ["."]\nonly_mutate = ["a.py"]\npytest_add_cli_args = ["-p", "{KILL_RECORDER}"]\n'
    line = "x = 1  # pragma: no mutate: nobody can tell\n"
    paths = (
        *gate_full.NOT_MUTATED,
        "a.py",
        "b.py",
        "nemo_rl/utils/c.py",
        "pytest_actor_envs/gate/d.py",
        "pytest_actor_envs/e.py",
    )
    for path, text in {"pyproject.toml": table, **dict.fromkeys(paths, line)}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    found = [suppression.path for suppression in gate_full.suppressions_of(tmp_path)]
    assert found == ["a.py", "nemo_rl/utils/c.py", "pytest_actor_envs/gate/d.py"]


@pytest.mark.parametrize("path", [*gate_full.KILLERS, *gate_full.NOT_KILLERS, *gate_full.NOT_MUTATED])
def test_what_it_names_is_there(path: str) -> None:
    file, _, test = path.partition("::")
    assert (ROOT / file).exists()
    assert not test or f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("pattern", gate_full.MUTATED_AS_WELL)
def test_what_it_mutates_is_there(pattern: str) -> None:
    assert list(ROOT.glob(pattern))


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (result(*[Fate.KILLED] * 19, Fate.SURVIVED), ExitCode.ALL_LIVE),
        (result(*[Fate.KILLED] * 18, Fate.SURVIVED), ExitCode.NOT_PROVEN),
        (result(*[Fate.KILLED] * 18, Fate.TIMED_OUT), ExitCode.NOT_PROVEN),
        (result(*[Fate.KILLED] * 18, Fate.NO_VERDICT), ExitCode.NOT_PROVEN),
        (result(*[Fate.KILLED] * 19, *[Fate.SUPPRESSED] * 5), ExitCode.ALL_LIVE),
        (result(Fate.KILLED, problems=("a.py:1:1: gate: stale",)), ExitCode.NOT_PROVEN),
        (result(Fate.SUPPRESSED), ExitCode.NOT_PROVEN),
        (result(), ExitCode.NO_VERDICT),
    ],
)
def test_nineteen_of_twenty_have_to_be_killed(found: CodeMutantsResult, code: ExitCode) -> None:
    assert gate_full.exit_code(found, whole(found)) is code


def test_mutants_that_nobody_looked_at_leave_no_verdict() -> None:
    found = result(*[Fate.KILLED] * 20)
    assert gate_full.exit_code(found, whole(found, more=1)) is ExitCode.NO_VERDICT


def test_each_that_was_not_killed_is_shown_with_what_it_takes() -> None:
    found = result(Fate.KILLED, Fate.SURVIVED, Fate.SUPPRESSED)
    assert summary(found, whole(found)).split("\n") == [
        "a.py:3:1: survived: m1",
        "    because of m1",
        "-    1",
        "+    2",
        "a.py: 1 of 2 killed",
        "1 tests that reach mutants kill none",
        "3 code mutants: 1 killed, 1 survived, 1 suppressed; 50.0% killed",
    ]


def test_a_sample_says_of_how_many_and_how_far_its_share_reaches() -> None:
    found = CodeMutantsResult(result(*[Fate.KILLED] * 19, Fate.TIMED_OUT).reports, (), None)
    names = tuple(report.identity for report in found.reports)
    sample = Selection(names, "20 of 500 code mutants, drawn with seed 7", is_drawn=True)
    assert summary(found, sample).split("\n")[-1] == (
        "20 of 500 code mutants, drawn with seed 7: 19 killed, 1 timed out;"
        " 95.0% killed, of all with 95 % certainty 76.4% to 99.1%"
    )


def test_a_run_that_was_stopped_says_how_many_are_missing() -> None:
    found = CodeMutantsResult(result(Fate.KILLED).reports, (), None)
    assert summary(found, whole(found, more=3)) == (
        "4 code mutants: 3 not looked at, 1 killed; 100.0% killed so far;"
        " mutmut comes to the quickest first, so that says nothing about the rest"
    )


def test_the_json_has_what_was_asked_and_each_report() -> None:
    found = result(Fate.KILLED, Fate.SURVIVED)
    document = json.loads(as_json(found, whole(found, more=2)))
    assert (document["asked"], document["not_looked_at"]) == ("4 code mutants", 2)
    assert [(mutant["identity"], mutant["fate"]) for mutant in document["mutants"]] == [
        ("m0", "killed"),
        ("m1", "survived"),
    ]
    assert document["mutants"][1]["diff"] == "-    1\n+    2"
