"""Work in forked processes: results, limits, and that nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from pytest_actor_envs.gate.workers import Lost, shared


def gone(process: int) -> bool:
    return not psutil.pid_exists(process) or psutil.Process(process).status() == psutil.STATUS_ZOMBIE


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_every_piece_gets_its_result(workers: int) -> None:
    assert sorted(shared(lambda number: number * number, range(7), workers, 10)) == [(n, n * n) for n in range(7)]


def test_no_pieces_start_no_process() -> None:
    before = set(psutil.Process().children())
    assert list(shared(lambda number: number, [], 2, 10)) == []
    assert set(psutil.Process().children()) <= before


def test_a_piece_that_takes_too_long_is_given_up_and_the_others_go_on() -> None:
    def work(number: int) -> int:
        while number == 1:
            pass
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
