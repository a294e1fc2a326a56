"""A limit of processor time: when it is over, and what ends a process that goes on nevertheless."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from pytest_actor_envs.gate.processor_time import BY_THE_CLOCK, LIMIT_OF_TIME, ProcessorTime


def in_a_fork(look: Callable[[], object]) -> tuple[int, object]:
    """The exit status of a fork (negative: the signal that ended it), and what it found there."""
    # Here as well, since what only a fork calls is not seen to be reached.
    assert not ProcessorTime(math.inf).is_over()
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.write(writing, json.dumps(look()).encode())
            os._exit(0)
        finally:
            os._exit(99)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), json.loads(text) if text else None


def used_by(user: float, system: float, children_user: float, children_system: float) -> Callable[[], SimpleNamespace]:
    return lambda: SimpleNamespace(
        user=user, system=system, children_user=children_user, children_system=children_system, elapsed=math.inf
    )


def test_time_of_children_counts_and_all_of_it_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "signal", lambda *given: None)
    monkeypatch.setattr(signal, "setitimer", lambda *given: None)
    monkeypatch.setattr(resource, "setrlimit", lambda *given: None)
    monkeypatch.setattr(os, "times", used_by(1, 2, 4, 8))
    limit = ProcessorTime(16)
    found = []
    for used in ((1, 2, 4, 8), (17, 2, 4, 8), (17.5, 2, 4, 8), (1, 18.5, 4, 8), (1, 2, 20.5, 8), (1, 2, 4, 24.5)):
        monkeypatch.setattr(os, "times", used_by(*used))
        found.append(limit.is_over())
    assert found == [False, False, True, True, True, True]


@pytest.mark.parametrize(("hard", "expected"), [(resource.RLIM_INFINITY, 210), (150, 150), (400, 210)])
def test_what_ends_a_process_that_goes_on(monkeypatch: pytest.MonkeyPatch, hard: int, expected: int) -> None:
    told: list[tuple[object, ...]] = []
    own = SimpleNamespace(ru_utime=5.25, ru_stime=4.25)
    monkeypatch.setattr(resource, "getrusage", {resource.RUSAGE_SELF: own}.__getitem__)
    monkeypatch.setattr(resource, "getrlimit", {resource.RLIMIT_CPU: (7, hard)}.__getitem__)
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: told.append((which, limits)))
    monkeypatch.setattr(signal, "signal", lambda number, handler: told.append((number,)))
    monkeypatch.setattr(signal, "setitimer", lambda which, seconds: told.append((which, seconds)))
    ProcessorTime(100)
    assert told == [
        (resource.RLIMIT_CPU, (expected, hard)),
        (signal.SIGALRM,),
        (signal.ITIMER_REAL, BY_THE_CLOCK * 100),
    ]
    told.clear()
    assert not ProcessorTime(math.inf).is_over()
    assert told == []


def test_a_process_that_does_nothing_ends_with_its_status() -> None:
    def look() -> None:
        ProcessorTime(60)
        signal.raise_signal(signal.SIGALRM)

    assert in_a_fork(look) == (LIMIT_OF_TIME, None)


def test_the_system_takes_the_limits() -> None:
    def look() -> list[float]:
        ProcessorTime(60)
        return [resource.getrlimit(resource.RLIMIT_CPU)[0], signal.getitimer(signal.ITIMER_REAL)[0]]

    status, found = in_a_fork(look)
    assert status == 0 and isinstance(found, list)
    assert found[0] >= 120 and 0 < found[1] <= 60 * BY_THE_CLOCK
