"""Layer 2 with the real mutmut, on a project of a few functions."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_actor_envs.gate.code_mutants import CodeMutantsResult, check_can_run
from pytest_actor_envs.gate.kill_recorder import EVERY_KILLER
from pytest_actor_envs.gate.mutmut_configuration import CodeMutantsNotConfigured
from pytest_actor_envs.gate.mutmut_process import MutantNotFound, SuiteFails
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from tests.gate.conftest import run_code_mutants

PYPROJECT = """\
[tool.mutmut]
source_paths = ["tiny"]
only_mutate = ["tiny/code.py"]
process_isolation = "forkserver"
timeout_multiplier = 1.0
pytest_add_cli_args = [
    "--maxfail=0", "--disable-plugin-autoload", "-p", "pytest_actor_envs.gate.kill_recorder", "-p", "no:cacheprovider",
]
pytest_add_cli_args_test_selection = ["tests"]
"""
CODE = """\
import os


def doubled(number):
    return number * 2


def unwatched(number):
    return number + 1


def unreached(number):
    return number - 1


def fixture_value():
    return 3 + 4


def count(limit):
    number = 0
    while number < limit:
        number += 1
    return number


def helped():
    return 5


class Box:
    def size(self):
        return 3 + 1


def equivalent(number):
    return number + 0  # pragma: no mutate: a test for it would say nothing
"""
TESTS = """\
import pytest
from tiny.code import Box, count, doubled, equivalent, fixture_value, helped, unwatched


@pytest.fixture
def seven():
    value = fixture_value()
    if value != 7:
        raise RuntimeError(value)
    return value


def test_doubled():
    assert doubled(3) == 6


def test_doubled_again():
    assert doubled(5) == 10


def test_unwatched():
    unwatched(1)
    equivalent(1)
    helped()


def test_seven(seven):
    pass


def test_count():
    assert count(3) == 3


def test_size():
    assert Box().size() == 4
"""
OTHER_TESTS = """\
from tiny.code import doubled, helped


def test_in_passing():
    assert helped() == doubled(2) + 1


def test_in_passing_again():
    assert helped() == doubled(2) + 1
"""


def project(folder: Path, changes: Mapping[str, str] | None = None) -> Path:
    files = {
        "pyproject.toml": PYPROJECT,
        "tiny/__init__.py": "",
        "tiny/code.py": CODE,
        "tests/test_code.py": TESTS,
        "tests/test_other.py": OTHER_TESTS,
    }
    for path, text in {**files, **(changes or {})}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> CodeMutantsResult:
    seen: list[tuple[int, int]] = []
    root = project(tmp_path_factory.mktemp("tiny"))
    found = run_code_mutants(root, None, lambda done, of: seen.append((done, of)), lambda folder: {EVERY_KILLER: "1"})
    assert seen[-1] == (len(found.reports), len(found.reports))
    assert not (root / "mutants").exists()
    return found


@pytest.fixture(scope="module")
def first_killers(tmp_path_factory: pytest.TempPathFactory) -> CodeMutantsResult:
    root = project(tmp_path_factory.mktemp("tiny"))
    names = ["tiny.code.x_doubled*", "tiny.code.x_helped*"]
    return run_code_mutants(root, names, lambda done, of: None, lambda folder: {EVERY_KILLER: "0"})


def of(result: CodeMutantsResult, function: str) -> list[MutantReport]:
    reports = [report for report in result.reports if report.shape == function]
    assert reports
    return reports


def test_a_test_that_fails_kills_and_is_named(result: CodeMutantsResult) -> None:
    for report in of(result, "doubled"):
        assert report.fate is Fate.KILLED
        assert report.is_proof
        assert set(report.killers) == {
            "tests/test_code.py::test_doubled",
            "tests/test_code.py::test_doubled_again",
            "tests/test_other.py::test_in_passing",
            "tests/test_other.py::test_in_passing_again",
        }
        assert report.subject == "tiny/code.py:5"
        assert "-    return number * 2" in report.diff
        assert "@@ -4,2 +4,2 @@" in report.diff


def test_unless_every_killer_is_asked_for_the_first_one_is_enough(first_killers: CodeMutantsResult) -> None:
    for report in of(first_killers, "doubled"):
        assert report.killers in (("tests/test_code.py::test_doubled",), ("tests/test_code.py::test_doubled_again",))
    assert first_killers.idle_tests is None


def test_what_its_own_tests_miss_is_left_to_the_first_of_the_others_that_fails(
    first_killers: CodeMutantsResult,
) -> None:
    killers = [report.killers for report in of(first_killers, "helped")]
    assert killers
    for names in killers:
        assert len(names) == 1
        assert names[0].startswith("tests/test_other.py::test_in_passing")


def test_methods_are_placed_as_well(result: CodeMutantsResult) -> None:
    assert {report.subject for report in of(result, "Box.size")} == {"tiny/code.py:33"}
    assert {report.fate for report in of(result, "Box.size")} == {Fate.KILLED}


def test_what_no_test_notices_survives_and_says_who_reached_it(result: CodeMutantsResult) -> None:
    for report in of(result, "unwatched"):
        assert (report.fate, report.killers) == (Fate.SURVIVED, ())
        assert report.reason == "reached by tests/test_code.py::test_unwatched"
    for report in of(result, "unreached"):
        assert (report.fate, report.reason) == (Fate.SURVIVED, "no test in the process reaches it")


def test_an_error_in_a_set_up_is_no_kill_though_mutmut_says_so(result: CodeMutantsResult) -> None:
    for report in of(result, "fixture_value"):
        assert report.fate is Fate.CRASHED
        assert report.reason == "errors in setup of tests/test_code.py::test_seven; no test failed"


def test_a_loop_without_end_is_stopped_and_is_no_kill(result: CodeMutantsResult) -> None:
    endless = [report for report in of(result, "count") if "+        number -= 1" in report.diff]
    assert [(report.fate, report.killers) for report in endless] == [(Fate.TIMED_OUT, ())]


def test_a_suppressed_survivor_is_marked_with_its_reason(result: CodeMutantsResult) -> None:
    fates = {(report.fate, report.reason) for report in of(result, "equivalent")}
    assert fates == {(Fate.SUPPRESSED, "a test for it would say nothing")}
    assert [problem.split("\n")[0] for problem in result.problems] == [
        "gate: layer 2: 2 of 21 mutants are suppressed, more than 2%"
    ]


def test_tests_that_never_kill_are_listed(result: CodeMutantsResult) -> None:
    assert result.idle_tests == ("tests/test_code.py::test_seven", "tests/test_code.py::test_unwatched")


def test_suppressions_without_a_reason_stale_or_wide(tmp_path: Path) -> None:
    code = (
        "def kept(number):\n    return number + 1  # pragma: no mutate: nobody can tell\n\n\n"
        "def bare(number):\n    return number + 1  # pragma: no mutate\n\n\n"
        "def wide(number):\n    # pragma: no mutate block\n    return number + 1\n"
    )
    tests = "from tiny.code import bare, kept, wide\n\n\ndef test_all():\n    assert kept(1) == 2\n    bare(1)\n    wide(1)\n"
    found = run_code_mutants(
        project(tmp_path, {"tiny/code.py": code, "tests/test_code.py": tests, "tests/test_other.py": ""}),
        None,
        lambda done, of: None,
    )
    assert [problem.split("\n")[0] for problem in found.problems] == [
        "tiny/code.py:6:24: gate: lets mutants survive without a reason",
        "tiny/code.py:10:5: gate: hides mutants of more than its line",
        "tiny/code.py:2:24: gate: no mutant survives at this line",
        "gate: layer 2: 2 of 6 mutants are suppressed, more than 2%",
    ]


def test_names_choose_mutants(tmp_path: Path) -> None:
    found = run_code_mutants(project(tmp_path), ["tiny.code.x_doubled__*"], lambda done, of: None)
    assert {report.shape for report in found.reports} == {"doubled"}
    assert {report.fate for report in found.reports} == {Fate.KILLED}


def test_a_name_of_no_mutant(tmp_path: Path) -> None:
    with pytest.raises(MutantNotFound, match="no code mutant has that name"):
        run_code_mutants(project(tmp_path), ["tiny.code.x_tripled__*"], lambda done, of: None)
    with pytest.raises(MutantNotFound, match="no file that is mutated has such a name"):
        run_code_mutants(project(tmp_path), ["tiny.other.*"], lambda done, of: None)


def test_tests_that_fail_without_a_mutant(tmp_path: Path) -> None:
    root = project(tmp_path, {"tests/test_code.py": TESTS.replace("== 6", "== 7")})
    with pytest.raises(SuiteFails, match=r"to kill fail:(?s:.*)test_doubled"):
        run_code_mutants(root, None, lambda done, of: None)


def test_a_project_without_code_mutants_needs_no_mutmut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    root = project(tmp_path, {"pyproject.toml": "[project]\nname = 'tiny'\nversion = '1'\n"})
    with pytest.raises(CodeMutantsNotConfigured, match="is missing"):
        check_can_run(root)


def test_an_interruption_leaves_mutants_that_are_only_counted(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def interrupt(done: int, of: int) -> None:
        seen.append((done, of))
        if done:
            raise KeyboardInterrupt

    found = run_code_mutants(project(tmp_path), None, interrupt)
    assert found.unknown is not None
    assert 0 < len(found.reports) == seen[-1][1] - found.unknown < seen[-1][1]
    assert Fate.NO_VERDICT not in {report.fate for report in found.reports}
