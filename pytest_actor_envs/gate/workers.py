"""Work shared by forked processes, each piece under a time limit; nothing outlives whoever asked for it."""

from __future__ import annotations

import contextlib
import gc
import itertools
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

SECONDS_TO_END = 2.0
"""Seconds that a process has to end by itself."""

NICENESS = 5
"""How far these processes stand back for what was started beside them and is waited for longer."""

PIECES_TO_COLLECT = 64
"""After how many pieces a process collects the garbage."""

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def processors() -> int:
    """How many processors this process may use; where the system does not say, how many there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Lost:
    """A piece without a result: `timed_out`, or its process ended, in which case `reason` says how."""

    timed_out: bool
    reason: str


@dataclass(slots=True)
class _Worker(Generic[Piece]):
    process: Any
    pipe: Connection
    piece: Piece | None = None
    deadline: float = 0.0


def shared(
    work: Callable[[Piece], Result], pieces: Sequence[Piece], workers: int, time_limit: float
) -> Generator[tuple[Piece, Result | Lost], None, None]:
    """(piece, what `work` gives for it) in any order, by forks of this process.

    A piece that takes longer than `time_limit` seconds is given up and its process killed, with what it started. When
    the iterator is closed, every process is.
    """
    waiting = deque(pieces)
    gc.collect()
    gc.freeze()  # so that the forks do not copy what the collector would touch
    running: list[_Worker[Piece]] = []
    try:
        for _ in range(min(max(workers, 1), len(pieces))):
            running.append(_started(work, running))
            _give(running[-1], waiting, time_limit)
        while any(worker.piece is not None for worker in running):
            busy = [worker for worker in running if worker.piece is not None]
            soonest = min(worker.deadline for worker in busy)
            ready = wait([worker.pipe for worker in busy], max(0.0, soonest - time.monotonic()))
            for worker in busy:
                piece = worker.piece
                assert piece is not None
                result: Result | Lost
                if worker.pipe in ready:
                    try:
                        result = worker.pipe.recv()
                    except (EOFError, ConnectionError):
                        worker.process.join()
                        result = Lost(False, f"its process ended with {worker.process.exitcode}")
                elif time.monotonic() >= worker.deadline:
                    result = Lost(True, f"no verdict within {time_limit:g} s")
                else:
                    continue
                if isinstance(result, Lost):
                    _end(worker)
                    running.remove(worker)
                    if waiting:
                        running.append(_started(work, running))
                        _give(running[-1], waiting, time_limit)
                else:
                    _give(worker, waiting, time_limit)
                yield piece, result
    finally:
        for worker in running:
            _end(worker)
        gc.unfreeze()


def _started(work: Callable[[Piece], Result], others: Sequence[_Worker[Piece]]) -> _Worker[Piece]:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(
        target=_serve, args=(work, theirs, [ours, *(other.pipe for other in others)]), daemon=True
    )
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _serve(work: Callable[[Piece], Result], pipe: Connection, not_ours: Sequence[Connection]) -> None:
    for end in not_ours:  # else no process would notice that whoever asked is gone
        end.close()
    os.nice(NICENESS)
    os.setpgid(0, 0)  # Ctrl-C is for whoever asked, who then ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    gc.disable()  # it would visit what a piece still needs; what pieces leave behind is collected between them
    with contextlib.suppress(EOFError, ConnectionError):  # whoever asked is gone
        for number in itertools.count(1):
            pipe.send(work(pipe.recv()))
            if number % PIECES_TO_COLLECT == 0:
                gc.collect()


def _stop(number: int, frame: object) -> None:
    raise SystemExit(number)  # what is under way ends its own children


def _give(worker: _Worker[Piece], waiting: deque[Piece], time_limit: float) -> None:
    worker.piece = waiting.popleft() if waiting else None
    if worker.piece is not None:
        worker.deadline = time.monotonic() + time_limit
        with contextlib.suppress(ConnectionError):  # then there will be no answer either
            worker.pipe.send(worker.piece)


def _end(worker: _Worker[Piece]) -> None:
    worker.pipe.close()
    worker.process.terminate()
    worker.process.join(SECONDS_TO_END)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()
