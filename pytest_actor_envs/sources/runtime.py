"""Where code of the guarded project runs: in a child process, or in this one where mutmut must see it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pytest_actor_envs.sources import observers
from pytest_actor_envs.sources.forks import failure, late
from pytest_actor_envs.sources.fresh_imports import cleaned

Request = observers.Request
Runner = Callable[[Request, float], dict[str, Any]]

NEED_A_CHILD = frozenset({"alone", "import-effects"})
"""Observers that would leave something in the process that they work in."""
FOLDER_OF_THIS_PACKAGE = str(Path(__file__).resolve().parents[2])
FORKS = """
import sys
found = frozenset(sys.modules)
sys.path.insert(0, sys.argv[1])
from pytest_actor_envs.sources.forks import serve
del sys.path[0]
serve(found)
"""
ALONE = """
import importlib.util, json, os, signal, sys, traceback
found = frozenset(sys.modules)
sys.path.insert(0, sys.argv[1])
from pytest_actor_envs.sources.alone import serve
del sys.path[0]
run = serve(found)
if run is not None:
    run()
"""
"""A fork of it finds no more imported than what the first line needs."""


class ChildRunner:
    """Answers requests (see observers) in forks of one child, which has a cleaned environment.

    The observer `alone` is another child, an interpreter without site-packages: `text` as the only file of a folder,
    named as in `path`; what importing it raised, and what each of `calls` gives. A child is started when it is first
    asked, or by `start`, and ends with the runner. What takes longer than the limit is killed.
    """

    def __init__(self) -> None:
        self._forks = _Child(["-I", "-c", FORKS, FOLDER_OF_THIS_PACKAGE])
        self._alone = _Child(["-I", "-S", "-B", "-c", ALONE, FOLDER_OF_THIS_PACKAGE])

    def __call__(self, request: Request, time_limit: float) -> dict[str, Any]:
        if request["observer"] == "alone":
            return self._run_alone(request["arguments"], time_limit)
        return self._forks.ask({**request, "time_limit": time_limit})

    def start(self) -> None:
        """Starts both children and does not wait for them, so that they are there once they are asked."""
        self._forks.start()
        self._alone.start()

    def _run_alone(self, arguments: Mapping[str, Any], time_limit: float) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder).resolve() / Path(arguments["path"]).name
            script.write_bytes(arguments["text"].encode())
            answer = self._alone.ask({"script": str(script), "calls": arguments["calls"], "time_limit": time_limit})
        if "late" in answer:
            return late(time_limit)
        return {"value": answer, "imported": [arguments["path"]]} if "runs" in answer else answer


class _Child:
    """A conversation with a Python process, a line of JSON each way, which is started when it is first asked."""

    def __init__(self, arguments: list[str]) -> None:
        self._arguments = arguments
        self._process: _Process | None = None

    def start(self) -> _Process:
        """Starts the process, if it is not running already. It ends with this object."""
        # After a fork of this process, parent and child must not share one conversation.
        if self._process is None or self._process.owner != os.getpid():
            self._process = _Process(self._arguments)
            weakref.finalize(self, self._process.stop)
        return self._process

    def ask(self, request: Request) -> dict[str, Any]:
        """The answer to a request, or the failure that stands for it where the process ended."""
        process = self.start()
        line = process.answer(json.dumps(request))
        if not line:
            self._process = None
            return failure("ChildProcessError", f"the process that runs project code ended with {process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


class _Process:
    """A Python process that answers lines with lines. `owner` is the process that started it."""

    def __init__(self, arguments: list[str]) -> None:
        self.owner = os.getpid()
        self._was_asked = False
        self._started = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=cleaned(os.environ),
            start_new_session=True,
        )

    def answer(self, line: str) -> str:
        """The line that is the answer, empty where the process has ended."""
        self._was_asked = True
        assert self._started.stdin is not None and self._started.stdout is not None
        try:
            self._started.stdin.write(f"{line}\n")
            self._started.stdin.flush()
            return self._started.stdout.readline()
        except BrokenPipeError:
            return ""

    def wait(self) -> int:
        """The exit status, once it has ended."""
        return self._started.wait()

    def stop(self) -> None:
        """Ends it, and with it what it has started. One that has nothing to end need not come to read that."""
        if self.owner == os.getpid():
            if not self._was_asked:
                self._started.kill()
            self._started.communicate()


def run_in_process(request: Request, time_limit: float) -> dict[str, Any]:
    """Answers a request in this process; mutmut stops one that hangs. What leaves something there needs a child."""
    if request["observer"] in NEED_A_CHILD:
        return ChildRunner()(request, time_limit)
    answer: dict[str, Any] = json.loads(json.dumps(observers.answer(request)))
    return answer


def runner_for(environment: Mapping[str, str]) -> Runner:
    """The runner that fits: under mutmut only code in the test process is mutated."""
    return run_in_process if "MUTANT_UNDER_TEST" in environment else ChildRunner()
