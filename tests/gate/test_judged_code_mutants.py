"""What follows from what mutmut left: reports, suppressions that are used or stale, and tests that killed nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_actor_envs.gate.code_mutants import (
    CodeMutantsResult,
    _mutated_files,
    idle_tests,
    judged,
    result_of_all,
    result_of_some,
)
from pytest_actor_envs.gate.code_suppressions import CodeSuppression, problems_of
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
    NAMES[2]: Change("diff of h", 9, "h"),
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
    MutantReport(2, NAMES[2], "", "p/a.py:9", "h", Fate.SURVIVED, (), "diff of h", "no test in the process reaches it"),
    MutantReport(2, NAMES[3], "", "p/b.py:7", "k", Fate.SUPPRESSED, (), "diff of k", "nobody can tell"),
)


STALE_TEXT = "p/a.py:3:9: gate: no mutant survives at this line\n    remove the comment"
MANY = (
    "gate: layer 2: 1 of 4 mutants are suppressed, more than 2%\n"
    "    kill some of them: write a test that sees what they change"
)


def test_each_mutant_has_a_report_and_those_that_a_comment_lets_survive_are_marked() -> None:
    assert judged(MUTANTS, CHANGES, [USED, STALE], Results(MUTANTS, REACHED)) == REPORTS
    assert judged(MUTANTS[2:3], CHANGES, [], Results(MUTANTS, REACHED)) == REPORTS[2:3]


def test_of_all_mutants_stale_and_too_many_suppressions_are_known() -> None:
    bare = CodeSuppression("p/a.py", 4, 9, "")
    found = result_of_all(REPORTS, [USED, bare, STALE], TESTS[2:])
    assert found == CodeMutantsResult(REPORTS, (*problems_of([bare]), STALE_TEXT, MANY), TESTS[2:])
    assert result_of_all(REPORTS[:3], [], None) == CodeMutantsResult(REPORTS[:3], (), None)


def test_of_some_mutants_only_what_a_comment_says_itself_is_known() -> None:
    bare = CodeSuppression("p/a.py", 4, 9, "")
    assert result_of_some(REPORTS, [USED, STALE]) == CodeMutantsResult(REPORTS, (), None)
    assert result_of_some(REPORTS, [bare]).problems == tuple(problems_of([bare])) != ()


def test_tests_that_reach_mutants_and_kill_none_are_idle() -> None:
    assert idle_tests(REPORTS, Results(MUTANTS, REACHED)) == TESTS[2:]
    assert idle_tests((), Results(MUTANTS, REACHED)) == TESTS


def test_a_suppression_holds_for_its_very_line_and_file() -> None:
    beside = [CodeSuppression("p/b.py", 6, 9, "why"), CodeSuppression("p/c.py", 7, 9, "why")]
    reports = judged([ALLOWED], CHANGES, beside, Results(MUTANTS, {}))
    assert [(report.fate, report.reason) for report in reports] == [(Fate.SURVIVED, "reached by ")]
    problems = result_of_all(reports, beside, None).problems
    assert [problem.partition(": gate: no mutant")[0] for problem in problems] == ["p/b.py:6:9", "p/c.py:7:9"]


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
