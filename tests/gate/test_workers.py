"""Work in forked processes: results, limits, and that nothing is left behind."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from pytest_actor_envs.gate import workers
from pytest_actor_envs.gate.workers import Lost, processors, shared


def gone(process: int) -> bool:
    return not psutil.pid_exists(process) or psutil.Process(process).status() == psutil.STATUS_ZOMBIE


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


@pytest.mark.parametrize("count", [0, 1, 3])
def test_every_piece_gets_its_result(count: int) -> None:
    assert sorted(shared(lambda number: number * number, range(7), count, 10)) == [(n, n * n) for n in range(7)]


def test_no_pieces_start_no_process() -> None:
    before = set(psutil.Process().children())
    assert list(shared(lambda number: number, [], 2, 10)) == []
    assert set(psutil.Process().children()) <= before


def test_a_piece_that_takes_too_long_is_given_up_and_the_others_go_on() -> None:
    def work(number: int) -> int:
        if number == 1:
            time.sleep(3)  # not for ever: a limit that does not hold is seen by a result
        return number

    results = dict(shared(work, range(4), 1, 0.5))
    assert results == {0: 0, 1: Lost(True, "no verdict within 0.5 s"), 2: 2, 3: 3}


def test_a_process_that_dies_loses_its_piece_only() -> None:
    def work(number: int) -> int:
        if number == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    results = dict(shared(work, range(4), 1, 10))
    assert results == {0: 0, 1: Lost(False, "its process ended with -9"), 2: 2, 3: 3}


def test_closing_ends_every_process_and_what_it_started(tmp_path: Path) -> None:
    def work(number: int) -> int:
        if number:
            child = subprocess.Popen(["sleep", "60"])
            (tmp_path / str(number)).write_text(f"{os.getpid()} {child.pid}")
            try:
                child.wait()
            finally:
                child.kill()
                child.wait()
        return number

    with closing(shared(work, [0, 1, 2], 2, 60)) as running:
        next(running)
        assert eventually(lambda: all((tmp_path / name).exists() for name in ("1", "2")))
    ended = [int(process) for name in ("1", "2") for process in (tmp_path / name).read_text().split()]
    assert len(ended) == 4
    assert all(gone(process) for process in ended)


def test_workers_end_when_whoever_asked_is_killed(tmp_path: Path) -> None:
    asking = os.fork()
    if asking == 0:

        def work(number: int) -> int:
            (tmp_path / f"{number}.part").write_text(str(os.getpid()))
            (tmp_path / f"{number}.part").rename(tmp_path / str(number))
            time.sleep(0.3)
            return number

        list(shared(work, range(100), 2, 60))
        os._exit(0)
    assert eventually(lambda: (tmp_path / "0").exists() and (tmp_path / "1").exists())
    workers = [int((tmp_path / name).read_text()) for name in ("0", "1")]
    os.kill(asking, signal.SIGKILL)
    os.waitpid(asking, 0)
    assert eventually(lambda: all(gone(process) for process in workers))


@pytest.mark.parametrize(("asked", "pieces", "processes"), [(0, 3, 1), (1, 3, 1), (2, 3, 2), (9, 3, 3), (9, 1, 1)])
def test_there_are_as_many_processes_as_asked_for_and_no_more_than_pieces(
    asked: int, pieces: int, processes: int
) -> None:
    def work(number: int) -> int:
        return os.getpid()

    found = dict(shared(work, range(pieces), asked, 10))
    assert list(found) == list(range(pieces)) or asked > 1
    assert len(set(found.values())) == processes
    assert os.getpid() not in found.values()


def test_a_process_is_a_group_of_its_own_that_leaves_interrupts_and_garbage_to_others() -> None:
    def work(number: int) -> list[object]:
        os.kill(os.getpid(), signal.SIGINT)
        return [os.getpgid(0) == os.getpid(), gc.isenabled(), gc.get_freeze_count() > 0]

    assert gc.isenabled() and gc.get_freeze_count() == 0
    running = shared(work, [1, 2], 1, 10)
    assert next(running) == (1, [True, False, True])
    assert gc.get_freeze_count() > 0
    assert list(running) == [(2, [True, False, True])]
    assert gc.get_freeze_count() == 0


class Cycle:
    """What only the collector takes away."""

    def __init__(self) -> None:
        self.itself = self


def test_what_pieces_leave_behind_is_collected_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "PIECES_TO_COLLECT", 3)
    left: list[weakref.ref[Cycle]] = []

    def work(number: int) -> int:
        left.append(weakref.ref(Cycle()))
        return sum(cycle() is not None for cycle in left)

    assert [alive for _, alive in shared(work, range(7), 1, 10)] == [1, 2, 3, 1, 2, 3, 1]


def test_a_process_that_will_not_end_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(workers, "SECONDS_TO_END", 0.1)

    def work(number: int) -> int:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        (tmp_path / "process").write_text(str(os.getpid()))
        time.sleep(3 * number)
        return number

    assert list(shared(work, [1, 0], 1, 0.5)) == [(1, Lost(True, "no verdict within 0.5 s")), (0, 0)]
    assert gone(int((tmp_path / "process").read_text()))


@pytest.mark.parametrize(("ends_with", "said"), [(0, 0), (3, 3)])
def test_how_a_process_ended_is_told(ends_with: int, said: int) -> None:
    def work(number: int) -> int:
        if number % 2:
            os._exit(ends_with)
        return number

    lost = Lost(False, f"its process ended with {said}")
    assert dict(shared(work, range(5), 2, 10)) == {0: 0, 1: lost, 2: 2, 3: lost, 4: 4}


def test_a_limit_is_for_each_piece_and_those_who_wait_for_it_do_not_hold_up_others() -> None:
    def work(number: int) -> int:
        time.sleep(0.01 if number < 9 else 3)
        return number

    found = list(shared(work, [9, 1, 2, 3], 2, 1))
    assert [number for number, _ in found] == [1, 2, 3, 9]
    assert found[-1] == (9, Lost(True, "no verdict within 1 s"))


def test_what_serves_in_a_process_answers_until_nobody_asks_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    # In a thread, where it is as in its process but for what would change the process of the tests.
    noted: list[tuple[object, ...]] = []
    for module, name in ((os, "nice"), (os, "setpgid"), (signal, "signal"), (gc, "disable"), (gc, "collect")):

        def note(*given: object, name: str = name) -> None:
            noted.append((name, *given))

        monkeypatch.setattr(module, name, note)
    monkeypatch.setattr(workers, "PIECES_TO_COLLECT", 2)
    ours, theirs = multiprocessing.Pipe()
    beside, other = multiprocessing.Pipe()
    answers: list[int] = []
    with ThreadPoolExecutor(1) as pool:
        serving = pool.submit(workers._serve, lambda number: number * 2, theirs, [beside])
        try:
            for number in range(1, 6):
                ours.send(number)
                assert ours.poll(5)
                answers.append(ours.recv())
        finally:
            ours.close()
        serving.result(5)
    assert answers == [2, 4, 6, 8, 10]
    assert beside.closed
    other.close()
    assert noted == [
        ("nice", workers.NICENESS),
        ("setpgid", 0, 0),
        ("signal", signal.SIGINT, signal.SIG_IGN),
        ("signal", signal.SIGTERM, workers._stop),
        ("disable",),
        ("collect",),
        ("collect",),
    ]


def test_what_serves_ends_quietly_where_nobody_waits_for_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((os, "nice"), (os, "setpgid"), (signal, "signal"), (gc, "disable")):
        monkeypatch.setattr(module, name, lambda *given: None)
    ours, theirs = multiprocessing.Pipe()
    ours.send(1)
    ours.close()
    workers._serve(lambda number: number, theirs, [])


def test_a_signal_ends_a_process_with_its_number() -> None:
    with pytest.raises(SystemExit) as end:
        workers._stop(signal.SIGTERM, None)
    assert end.value.code == signal.SIGTERM


def test_a_process_whose_asker_is_gone_with_its_answer_unread_ends_as_told() -> None:
    ours, theirs = multiprocessing.get_context("fork").Pipe()
    ours.send(1)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            workers._serve(lambda number: number, theirs, [ours])
            status = 0
        finally:
            os._exit(status)
    theirs.close()
    assert eventually(ours.poll)
    ours.close()
    assert os.waitpid(child, 0)[1] == 0


def test_processors_are_those_that_may_be_used_or_else_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 9)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {process, 4, 5}, raising=False)
    assert processors() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert processors() == 9
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processors() == 1
