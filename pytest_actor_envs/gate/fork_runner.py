"""Answers questions about project code in a forked child: fresh imports over an overlay, at the price of a fork."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from typing import Any

from pytest_actor_envs.sources import observers, runtime


def run_in_fork(request: runtime.Request, time_limit: float) -> dict[str, Any]:
    """Answers a request (see observers) in a fork of this process, which it leaves as it was.

    A child that outlives `time_limit` seconds is killed and the answer says so.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            with open(writer, "wb") as pipe, open(os.devnull, "wb") as silent:
                os.dup2(silent.fileno(), 1)
                os.dup2(silent.fileno(), 2)
                # A test runner may have put objects of its own here, which no descriptor sees.
                sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
                pipe.write(json.dumps(observers.answer(dict(request))).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    content = _read_all(reader, child, time.monotonic() + time_limit)
    os.waitpid(child, 0)
    if content is None:
        return runtime.failure("TimeoutExpired", f"it did not finish in {time_limit:g} s")
    try:
        answer: dict[str, Any] = json.loads(content)
    except ValueError:
        return runtime.failure("ChildProcessError", "its process ended without an answer")
    return answer


def _read_all(reader: int, child: int, deadline: float) -> bytes | None:
    parts = []
    with open(reader, "rb", buffering=0) as pipe:
        while True:
            ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                os.kill(child, signal.SIGKILL)
                return None
            part = pipe.read(1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)
