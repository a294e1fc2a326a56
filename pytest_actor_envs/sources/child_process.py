"""A process that is asked through pipes and forks to answer, within a time limit.

Standard library only, and little of it: processes that run project code use it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Iterator
from typing import Any

PAUSE = 0.0002
"""Seconds between two looks at a child that has closed its pipe and is about to end."""


class Conversation:
    """What a process is asked on stdin and answers on stdout, a line each, apart from its standard descriptors.

    Those are silent, so that no fork of it can read a request or take part in answering. `asked_through` is the pipe
    that requests come through, which is closed when nobody waits any more.
    """

    def __init__(self) -> None:
        self.asked_through, self._answers = os.dup(0), os.dup(1)
        silent = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(silent, standard)
        os.close(silent)

    def requests(self) -> Iterator[bytes]:
        """The lines that are asked, until there are no more."""
        begun = b""
        while part := os.read(self.asked_through, 1 << 16):
            *lines, begun = (begun + part).split(b"\n")
            yield from lines

    def answer(self, content: bytes) -> None:
        """Writes one line."""
        with open(self._answers, "wb", closefd=False) as pipe:
            pipe.write(content + b"\n")

    def leave(self) -> None:
        """Takes no part in it any more, as a fork."""
        os.close(self.asked_through)
        os.close(self._answers)


def fork_with_pipe() -> tuple[int, int]:
    """(process id, reading end) here; (0, writing end) in the fork, which leads a session of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(reader)
        return 0, writer
    os.close(writer)
    return child, reader


def result_of(child: int, reader: int, deadline: float, asked_through: int | None) -> tuple[bytes | None, int]:
    """What a fork wrote until its pipe was closed, and its exit status, negative for a signal.

    A fork that has not ended at `deadline` (of the monotonic clock) is killed, and the first is `None`. So it is where
    nobody waits any more: then `asked_through`, a pipe without further requests, is closed. In each case what the fork
    started, and has not left its session, ends too.
    """
    try:
        content = _read_all(reader, deadline, asked_through)
        status = None if content is None else _ended(child, deadline)
    except BaseException:  # this process is told to end: the child goes first
        _kill(child)
        os.waitpid(child, 0)
        raise
    if status is not None:
        with contextlib.suppress(ProcessLookupError):  # mostly it started nothing
            os.killpg(child, signal.SIGKILL)
        return content, status
    _kill(child)
    return None, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _kill(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:  # it has not come to start its own session
        os.kill(child, signal.SIGKILL)


def _ended(child: int, deadline: float) -> int | None:
    """The exit status of a child that has closed its pipe, `None` where it goes on beyond the deadline all the same."""
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= deadline:
            return None
        time.sleep(PAUSE)


def _read_all(reader: int, deadline: float, asked_through: int | None) -> bytes | None:
    """What a pipe gives until it is closed, `None` where that is not before the deadline."""
    parts: list[bytes] = []
    with open(reader, "rb", buffering=0) as pipe:
        while True:
            waited: list[Any] = [pipe] if asked_through is None else [pipe, asked_through]
            ready, _, _ = select.select(waited, [], [], max(0.0, deadline - time.monotonic()))
            if pipe not in ready:
                return None
            part = pipe.read(1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)
