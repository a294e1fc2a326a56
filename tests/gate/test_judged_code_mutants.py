"""What follows from what mutmut left: reports, suppressions that are used or stale, and tests that killed nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_actor_envs.gate.code_mutants import CodeMutantsResult, _mutated_files, judged
from pytest_actor_envs.gate.code_suppressions import CodeSuppression
from pytest_actor_envs.gate.mutmut_configuration import KILL_RECORDER, changed
from pytest_actor_envs.gate.mutmut_diffs import Change
from pytest_actor_envs.gate.mutmut_process import MutantNotFound
from pytest_actor_envs.gate.mutmut_results import CodeMutant, Results
from pytest_actor_envs.gate.verdicts import Fate, MutantReport

TESTS = tuple(f"t.py::{letter}" for letter in "abcdefg")
NAMES = tuple(f"p.a.x_{letter}__mutmut_1" for letter in "fghk")
KILLED, SURVIVED, UNREACHED, ALLOWED = (
    CodeMutant(NAMES[0], "p/a.py", 1, (("call", TESTS[0]), ("call", TESTS[1]))),
    CodeMutant(NAMES[1], "p/a.py", 0),
    CodeMutant(NAMES[2], "p/a.py", 33),
    CodeMutant(NAMES[3], "p/b.py", 0),
)
MUTANTS = (KILLED, SURVIVED, UNREACHED, ALLOWED)
CHANGES = {
    NAMES[0]: Change("diff of f", 3, "f"),
    NAMES[1]: Change("diff of g", 7, "Box.g"),
    NAMES[3]: Change("diff of k", 7, "k"),
}
REACHED = {"p.a.x_f": TESTS[:3], "p.a.x_g": TESTS, "p.a.x_k": (TESTS[6],)}
USED = CodeSuppression("p/b.py", 7, 9, "nobody can tell")
STALE = CodeSuppression("p/a.py", 3, 9, "it is so")
REPORTS = (
    MutantReport(2, NAMES[0], "", "p/a.py:3", "f", Fate.KILLED, TESTS[:2], "diff of f", ""),
    MutantReport(
        2,
        NAMES[1],
        "",
        "p/a.py:7",
        "Box.g",
        Fate.SURVIVED,
        (),
        "diff of g",
        "reached by t.py::a, t.py::b, t.py::c, t.py::d, t.py::e",
    ),
    MutantReport(2, NAMES[2], "", "p/a.py:1", "", Fate.SURVIVED, (), "", "no test in the process reaches it"),
    MutantReport(2, NAMES[3], "", "p/b.py:7", "k", Fate.SUPPRESSED, (), "diff of k", "nobody can tell"),
)


def result(complete: bool, every_killer: bool) -> CodeMutantsResult:
    return judged(MUTANTS, CHANGES, [USED, STALE], Results(MUTANTS, REACHED), complete, every_killer)


def test_of_a_whole_run_that_asked_all_tests_everything_is_known() -> None:
    stale = "p/a.py:3:9: gate: no mutant survives at this line\n    remove the comment"
    assert result(True, True) == CodeMutantsResult(REPORTS, (stale,), TESTS[2:])


@pytest.mark.parametrize(("complete", "every_killer"), [(True, False), (False, True), (False, False)])
def test_what_only_a_whole_run_can_know_is_left_open(complete: bool, every_killer: bool) -> None:
    found = result(complete, every_killer)
    assert found.reports == REPORTS
    assert found.idle_tests is None
    assert len(found.problems) == complete


def test_a_suppression_holds_for_its_very_line_and_file() -> None:
    beside = [CodeSuppression("p/b.py", 6, 9, "why"), CodeSuppression("p/c.py", 7, 9, "why")]
    found = judged([ALLOWED], CHANGES, beside, Results(MUTANTS, {}), True, False)
    assert [(report.fate, report.reason) for report in found.reports] == [(Fate.SURVIVED, "reached by ")]
    assert [problem.partition(": gate: no mutant")[0] for problem in found.problems] == ["p/b.py:6:9", "p/c.py:7:9"]


def test_the_copy_mutates_only_the_files_that_can_hold_what_was_asked_for(tmp_path: Path) -> None:
    text = f'[tool.mutmut]\nsource_paths = ["p"]\nonly_mutate = ["p/*"]\npytest_add_cli_args = ["-p", "{KILL_RECORDER}"]\n# é\n'
    (tmp_path / "p").mkdir()
    for name in ("a.py", "b.py"):
        (tmp_path / "p" / name).write_text("")
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text(text, encoding="utf-8")
    for everything in (None, ()):
        assert _mutated_files(tmp_path, everything) == ("p/a.py", "p/b.py")
        assert pyproject.read_text(encoding="utf-8") == text
    assert _mutated_files(tmp_path, ["p.b.x_f*", "p.c.*"]) == ("p/b.py",)
    assert pyproject.read_text(encoding="utf-8") == changed(text, {"only_mutate": ["p/b.py"]})
    with pytest.raises(MutantNotFound) as raised:
        _mutated_files(tmp_path, ["p.c.*", "q.*"])
    assert str(raised.value) == "no code mutant is named p.c.* or q.*: no file that is mutated has such a name"
