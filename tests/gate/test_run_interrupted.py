"""A run of the gate that is interrupted: what was found stays, and what is unknown is counted."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pytest_actor_envs import interruption
from pytest_actor_envs.cli import main
from pytest_actor_envs.gate import code_mutants, layers, run
from pytest_actor_envs.gate.mutmut_process import RunningMutmut
from pytest_actor_envs.gate.result import ExitCode
from pytest_actor_envs.gate.run import GateOptions, run_gate
from pytest_actor_envs.gate.verdicts import Fate
from pytest_actor_envs.interruption import SAID
from tests.gate.conftest import Programs, in_a_fork, run_code_mutants
from tests.gate.gate_runs import (
    ALLOWED,
    IDLE,
    KILLED_A,
    KILLED_B,
    KILLED_CODE,
    KILLER,
    MANY,
    NAMES,
    SURVIVED,
    opened,
    ran,
    with_code_mutants,
    with_two_guards,
)


@pytest.fixture
def root(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return with_two_guards(small, monkeypatch)


@pytest.fixture
def mutated(root: Path, programs: Programs, tmp_path: Path) -> Path:
    return with_code_mutants(root, programs, tmp_path)


def test_an_interruption_counts_what_is_left(root: Path) -> None:
    calls: list[int] = []

    def interrupt(what: str, done: int, total: int) -> None:
        calls.append(done)
        if len(calls) == 2:
            raise KeyboardInterrupt

    result = run_gate(opened(root), GateOptions((1,), jobs=1), interrupt)
    assert calls == [0, 1]
    assert result.reports == (KILLED_A,)
    assert (len(result.reports), result.unknown, result.is_interrupted, result.is_part) == (1, 2, True, False)
    assert result.exit_code is ExitCode.NO_VERDICT


def test_an_interrupted_run_calls_no_suppression_stale(mutated: Path) -> None:
    stale = "def doubled(number):  # pragma: no mutate: for this test\n    return number * 2\n"
    (mutated / "pkg/numbers_of.py").write_text(stale)

    def interrupt(done: int, of: int) -> None:
        raise KeyboardInterrupt

    result = run_code_mutants(mutated, None, interrupt)
    assert [(found.fate, found.reason) for found in result.reports] == [
        (Fate.KILLED, ""),
        (Fate.SURVIVED, f"reached by {KILLER}, {IDLE}"),
    ]
    assert (result.problems, result.idle_tests, result.unknown) == ((), None, 1)


def test_an_interruption_of_layer_two_keeps_what_is_there(mutated: Path) -> None:
    def interrupt(what: str, done: int, total: int) -> None:
        if what == "code mutants":
            raise KeyboardInterrupt

    result = run_gate(opened(mutated), GateOptions(), interrupt)
    assert result.reports == (KILLED_A, SURVIVED, KILLED_B, KILLED_CODE, ALLOWED)
    assert (result.unknown, result.is_interrupted, result.problems) == (1, True, ())


def test_an_interruption_before_there_are_code_mutants_says_so_and_keeps_layer_one(
    mutated: Path, programs: Programs
) -> None:
    programs(mutmut="echo '2/3  x 1'; sleep 60")

    def interrupt(what: str, done: int, total: int) -> None:
        if what == "code mutants":
            raise KeyboardInterrupt

    result = run_gate(opened(mutated), GateOptions(), interrupt)
    assert result.reports == (KILLED_A, SURVIVED, KILLED_B)
    assert result.notes == ("layer 2: interrupted before there were code mutants, so none was looked at",)
    assert (result.unknown, result.is_interrupted) == (0, True)


def test_an_interruption_while_layer_two_starts_leaves_all_unknown(
    mutated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*given: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(layers, "started_code_mutants", interrupt)
    result, seen = ran(mutated, 1, 2)
    assert (result.reports, result.unknown, result.is_interrupted, seen) == ((), 3, True, [])
    assert result.notes == ("layer 2: interrupted before there were code mutants, so none was looked at",)
    assert result.exit_code is ExitCode.NO_VERDICT


def test_an_interruption_that_comes_when_all_is_known_takes_nothing_away(mutated: Path, tmp_path: Path) -> None:
    meta = tmp_path / "results/pkg/numbers_of.py.meta"
    meta.write_text(json.dumps({"exit_code_by_key": dict(zip(NAMES, (1, 0, 1), strict=True))}))

    def interrupt(what: str, done: int, total: int) -> None:
        if what == "code mutants":
            raise KeyboardInterrupt

    result = run_gate(opened(mutated), GateOptions(), interrupt)
    assert len(result.reports) == 6
    assert (result.unknown, result.is_interrupted, result.problems) == (0, False, (MANY,))


def test_nothing_is_left_but_to_gather_when_both_layers_have_ended(mutated: Path) -> None:
    order: list[str] = []
    run_gate(opened(mutated), GateOptions(), lambda what, done, total: order.append(what), lambda: order.append("hold"))
    assert order == [*["subject mutants"] * 4, "code mutants", "hold", "hold"]
    order.clear()
    run_gate(opened(mutated), GateOptions((1,)), lambda *told: None, lambda: order.append("hold"))
    assert order == ["hold"]


def test_an_interruption_of_layer_one_ends_layer_two_as_well(mutated: Path) -> None:
    def interrupt(what: str, done: int, total: int) -> None:
        assert what == "subject mutants"
        if done == 2:
            raise KeyboardInterrupt

    result = run_gate(opened(mutated), GateOptions(), interrupt)
    in_layer_two = [found for found in result.reports if found.layer == 2]
    assert len(result.reports) - len(in_layer_two) == 2
    assert result.is_interrupted
    # What mutmut had come to by then is as it may be, but nothing is lost.
    assert result.unknown - 1 == (1 if in_layer_two else 0)


def gate_with_signals(root: Path, tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The command in a fork, where SIGINT is what it is at a terminal."""

    def command() -> int:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return main(["--root", str(root), "gate", "--report", "json", *options])

    return in_a_fork(command, tmp_path)


def with_signals_before(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The function, so many SIGINT sent to this process ahead of its first call."""
    left = iter(range(count))

    def interrupted(*given: Any) -> Any:
        for _ in left:
            signal.raise_signal(signal.SIGINT)
        return function(*given)

    return interrupted


def test_signals_while_diffs_are_made_lose_nothing(
    mutated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_mutants, "diffs_of", with_signals_before(code_mutants.diffs_of, 2))
    done = gate_with_signals(mutated, tmp_path)
    report = json.loads(done.stdout)
    assert (done.returncode, report["unknown"], len(report["mutants"])) == (1, 0, 6)
    assert SAID.decode() in done.stderr


def test_a_signal_while_processes_are_ended_loses_nothing(
    mutated: Path, tmp_path: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs(mutmut=f"cp -r {tmp_path}/results aside && mv aside mutants\necho '2/3  x 1'\nsleep 60")
    follow, end = RunningMutmut.follow, RunningMutmut.end
    follow_interrupted = with_signals_before(lambda *given: None, 1)
    monkeypatch.setattr(RunningMutmut, "follow", lambda *given: follow(given[0], follow_interrupted))
    monkeypatch.setattr(interruption, "ONE_WISH", 0.0)
    monkeypatch.setattr(RunningMutmut, "end", with_signals_before(end, 1))
    done = gate_with_signals(mutated, tmp_path)
    report = json.loads(done.stdout)
    assert (report["unknown"], len(report["mutants"])) == (1, 5)


def test_who_goes_on_ends_what_gathers_results_too(
    mutated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interruption, "ONE_WISH", 0.0)
    monkeypatch.setattr(code_mutants, "diffs_of", with_signals_before(code_mutants.diffs_of, 2))
    done = gate_with_signals(mutated, tmp_path)
    assert (done.returncode, done.stdout) == (ExitCode.NO_VERDICT, "")
    assert done.stderr.endswith(f"{SAID.decode()}gate: interrupted before there was a result, so nothing is known\n")


def test_an_interruption_before_there_are_mutants_leaves_no_result(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "Bench", with_signals_before(run.Bench, 1))
    done = gate_with_signals(root, tmp_path)
    assert (done.returncode, done.stdout) == (ExitCode.NO_VERDICT, "")
    assert done.stderr == "gate: interrupted before there was a result, so nothing is known\n"
