"""Answers questions about project code in a forked child: fresh imports, and nothing of it stays in this process.

Standard library only. As a script it is the process that behavioural guards ask: it reads one request a line and forks
for each, so that an interpreter is started once, without the threads that a test runner may have.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from typing import Any

from pytest_actor_envs.sources import observers


def run_in_fork(request: observers.Request, time_limit: float, asked_through: int | None = None) -> dict[str, Any]:
    """Answers a request (see observers) in a fork of this process, which it leaves as it was.

    A child that outlives `time_limit` seconds is killed, with whatever it started, and the answer says so. So is one
    whose answer nobody waits for any more: then `asked_through`, a pipe without further requests, is closed.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setsid()
            os.close(reader)
            with open(writer, "wb") as pipe, open(os.devnull, "r+b") as silent:
                for number in (0, 1, 2):
                    os.dup2(silent.fileno(), number)
                # A test runner may have put objects of its own here, which no descriptor sees.
                sys.stdin = open(0, closefd=False)  # noqa: SIM115
                sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
                pipe.write(json.dumps(observers.answer(request)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    try:
        content = _read_all(reader, time.monotonic() + time_limit, asked_through)
    except BaseException:  # this process is told to end: the child goes first
        _kill(child)
        os.waitpid(child, 0)
        raise
    if content is None:
        _kill(child)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if content is None:
        return failure("TimeoutExpired", f"it did not finish in {time_limit:g} s")
    try:
        answer: dict[str, Any] = json.loads(content)
    except ValueError:
        return failure("ChildProcessError", f"its process ended with status {status}")
    return answer


def _kill(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:  # it has not come to start its own session
        os.kill(child, signal.SIGKILL)


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


def failure(kind: str, message: str) -> dict[str, Any]:
    """The answer that stands for a child that gave none."""
    return {"error": {"type": kind, "message": message, "path": None, "line": None}}


def serve() -> None:
    """Answers the requests on stdin, one a line, on stdout, until stdin ends."""
    for line in sys.stdin:
        request = json.loads(line)
        sys.stdout.write(json.dumps(run_in_fork(request, request["time_limit"], sys.stdin.fileno())) + "\n")
        sys.stdout.flush()
