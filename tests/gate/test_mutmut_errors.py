"""What the last words of a mutmut that gave up mean, with scripts where pytest would be."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from pytest_actor_envs.gate import mutmut_process
from pytest_actor_envs.gate.mutmut_configuration import KILL_RECORDER
from pytest_actor_envs.gate.mutmut_process import (
    MutantNotFound,
    MutmutFailed,
    SuiteFails,
    SuiteNotCollected,
    _error,
)
from pytest_actor_envs.gate.reach_recorder import FAILURES
from tests.gate.conftest import Programs, has_ended


def test_a_mutant_that_there_is_not(tmp_path: Path) -> None:
    error = _error(tmp_path, "one\nFiltered for specific mutants, but nothing matches: collect stats")
    assert isinstance(error, MutantNotFound)
    assert str(error) == "no code mutant has that name\n    all names: mutmut results --all true"


CONFIGURATION = f"""
[tool.mutmut]
pytest_add_cli_args = ["-p", "{KILL_RECORDER}"]
pytest_add_cli_args_test_selection = ["tests", "more"]
"""
COMMAND = f"-m pytest -q --tb=short -p {KILL_RECORDER} tests more"
OUTPUTS = ("failed to collect stats", "failed to run clean test", "BadTestExecution", "could not find any test case")


@pytest.mark.parametrize("output", OUTPUTS)
def test_failures_that_the_first_run_wrote_down_are_told(output: str, tmp_path: Path) -> None:
    (tmp_path / "mutants").mkdir()
    (tmp_path / "mutants" / FAILURES).write_text("test_é fails\n", encoding="utf-8")
    error = _error(tmp_path, f"x {output} y")
    assert isinstance(error, SuiteFails)
    assert str(error) == "the tests that are to kill fail:\ntest_é fails\n"


@pytest.mark.parametrize(
    ("collects", "passes", "output", "kind", "said"),
    [
        (2, 0, OUTPUTS[0], SuiteNotCollected, "the tests that are to kill cannot be collected:\n{collected}"),
        (0, 1, OUTPUTS[1], SuiteFails, "the tests that are to kill fail:\n{ran}"),
        (0, 1, OUTPUTS[3], SuiteFails, "the tests that are to kill fail:\n{ran}"),
        (
            0,
            0,
            OUTPUTS[3],
            SuiteFails,
            "the tests that are to kill pass, but none of them calls a function that is mutated\n"
            "    in [tool.mutmut], only_mutate names the files, pytest_add_cli_args_test_selection the tests:\n{ran}",
        ),
        (
            0,
            0,
            OUTPUTS[2],
            MutmutFailed,
            f"mutmut ended without a result, and the tests pass without it:\n{OUTPUTS[2]}",
        ),
    ],
)
def test_else_the_tests_are_run_without_mutmut(
    collects: int, passes: int, output: str, kind: type[Exception], said: str, programs: Programs, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text(CONFIGURATION)
    (tmp_path / "mutants").mkdir()
    (tmp_path / "mutants" / FAILURES).touch()
    says = 'echo; echo "  $*"; pwd; echo; echo why >&2'
    collecting = f'case "$*" in *--collect-only) {says}; exit {collects};; esac'
    programs(python=f"{collecting}\n{says}; exit {passes}")
    error = _error(tmp_path, output)
    ends = f"\n{tmp_path}\n\nwhy"
    assert type(error) is kind
    assert str(error) == said.format(collected=f"{COMMAND} --collect-only{ends}", ran=f"{COMMAND}{ends}")


@pytest.mark.parametrize("stuck", ["--collect-only", "tests more"])
def test_tests_that_do_not_end_without_mutmut_are_ended_and_the_error_says_how_to_run_them(
    stuck: str, programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutmut_process, "SECONDS_WITHOUT_MUTMUT", 1.5)
    monkeypatch.setattr(mutmut_process, "SECONDS_TO_END", 0.1)
    (tmp_path / "pyproject.toml").write_text(CONFIGURATION)
    programs(
        python=f"""case "$*" in *"{stuck}") sh -c 'trap "" TERM; echo $$ > part; mv part child; sleep 60; exit';; esac"""
    )
    error = _error(tmp_path, f"one\n{OUTPUTS[0]}")
    more = " --collect-only" if stuck == "--collect-only" else ""
    assert type(error) is MutmutFailed
    assert str(error) == (
        f"mutmut ended without a result, and pytest without it did not end within 1.5 s:\none\n{OUTPUTS[0]}\n"
        f"    find what does not end: python {COMMAND}{more}"
    )
    child = int((tmp_path / "child").read_text())
    assert not psutil.pid_exists(child) or has_ended(psutil.Process(child))


def test_words_of_pytest_that_are_no_text_are_told_as_far_as_they_are(programs: Programs, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(CONFIGURATION)
    programs(python="printf 'caf\\351'; cat; exit 1")
    assert str(_error(tmp_path, OUTPUTS[0])).endswith(":\ncaf\ufffd")


def test_of_what_pytest_says_the_end_is_told(programs: Programs, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(CONFIGURATION)
    programs(python="i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo line $i; done; exit 1")
    lines = str(_error(tmp_path, OUTPUTS[0])).split("\n")
    assert lines[1:] == [f"line {number}" for number in range(6, 31)]
