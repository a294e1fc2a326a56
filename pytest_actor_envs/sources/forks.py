"""Answers questions about project code in a forked child: fresh imports, and nothing of it stays in this process.

Standard library only. `serve` runs in the process that behavioural guards ask: it reads one request a line and forks
for each, so that an interpreter is started once, without the threads that a test runner may have.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from pytest_actor_envs.sources import observers
from pytest_actor_envs.sources.child_process import Conversation, fork_with_pipe, result_of
from pytest_actor_envs.sources.fresh_imports import Compiled, import_from
from pytest_actor_envs.sources.head_start import HeadStart


def run_in_fork(request: observers.Request, time_limit: float) -> dict[str, Any]:
    """Answers a request (see observers) in a fork of this process, which it leaves as it was.

    A child that outlives `time_limit` seconds is killed, with whatever it started, and the answer says so.
    """

    def work() -> dict[str, Any]:
        silent = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(silent, number)
        # A test runner may have put objects of its own here, which no descriptor sees.
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
        return observers.answer(request)

    return _answer_of_fork(work, time_limit, None)


def _answer_of_fork(work: Callable[[], dict[str, Any]], time_limit: float, asked_through: int | None) -> dict[str, Any]:
    """What `work` gives in a fork, or the failure that stands for it; see `result_of` for `asked_through`."""
    child, pipe = fork_with_pipe()
    if child == 0:
        status = 1
        try:
            with open(pipe, "wb") as answer:
                answer.write(json.dumps(work()).encode())
            status = 0
        finally:
            os._exit(status)
    content, status = result_of(child, pipe, time.monotonic() + time_limit, asked_through)
    if content is None:
        return late(time_limit)
    try:
        result: dict[str, Any] = json.loads(content)
    except ValueError:
        return failure("ChildProcessError", f"its process ended with status {status}")
    return result


def failure(kind: str, message: str) -> dict[str, Any]:
    """The answer that stands for a child that gave none."""
    return {"error": {"type": kind, "message": message, "path": None, "line": None}}


def late(time_limit: float) -> dict[str, Any]:
    """The answer that stands for one that took longer than that many seconds."""
    return failure("TimeoutExpired", f"it did not finish in {time_limit:g} s")


def serve(found: Collection[str]) -> None:
    """Answers the requests on stdin, one a line, on stdout, until stdin ends. The process has a cleaned environment.

    `found` are the modules that the interpreter itself has imported.
    """
    conversation, head_start = Conversation(), HeadStart(found)
    gc.collect()
    gc.freeze()  # so that the forks do not copy what the collector would touch
    for line in conversation.requests():
        request = json.loads(line)
        hidden, compiled = head_start.hidden_by(request), head_start.compiled_for(request)
        work = partial(_answer_apart, conversation, request, hidden, compiled)
        answer = _answer_of_fork(work, request["time_limit"], conversation.asked_through)
        head_start.learn(request, answer)
        conversation.answer(json.dumps(answer).encode())


def _answer_apart(
    conversation: Conversation, request: observers.Request, hidden: Sequence[str], compiled: Compiled
) -> dict[str, Any]:
    """The answer that a fork of `serve` gives; it ends then, so that nothing has to be undone."""
    conversation.leave()
    for name in hidden:
        del sys.modules[name]
    for name, value in request["variables"].items():
        os.environ[name] = value
    finder = import_from(request["root"], request["overlay"], request["packages"], compiled)
    return observers.answer_through(finder, request)
