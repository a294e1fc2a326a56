"""Where code of the guarded project runs: in a child process, or in this one where mutmut must see it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pytest_actor_envs.sources import observers
from pytest_actor_envs.sources.forks import failure
from pytest_actor_envs.sources.fresh_imports import cleaned

Request = observers.Request
Runner = Callable[[Request, float], dict[str, Any]]

CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from pytest_actor_envs.sources.forks import serve
del sys.path[0]
serve()
"""
FOLDER_OF_THIS_PACKAGE = str(Path(__file__).resolve().parents[2])


class ChildRunner:
    """Answers requests (see observers) in forks of one child, which has a cleaned environment.

    The child is started when it is first asked and ends with the runner. What takes longer than the limit is killed.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None
        self._owner = 0

    def __call__(self, request: Request, time_limit: float) -> dict[str, Any]:
        child = self._started()
        assert child.stdin is not None and child.stdout is not None
        try:
            child.stdin.write(json.dumps({**request, "time_limit": time_limit}) + "\n")
            child.stdin.flush()
            line = child.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self._child = None
            return failure("ChildProcessError", f"the process that runs project code ended with {child.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _started(self) -> subprocess.Popen[str]:
        # After a fork of this process, parent and child must not share one conversation.
        if self._child is None or self._owner != os.getpid():
            self._owner = os.getpid()
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-c", CHILD, FOLDER_OF_THIS_PACKAGE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=cleaned(os.environ),
                start_new_session=True,
            )
            weakref.finalize(self, _stop, self._child, self._owner)
        return self._child


def _stop(child: subprocess.Popen[str], owner: int) -> None:
    if owner == os.getpid():
        child.communicate()


def run_in_process(request: Request, time_limit: float) -> dict[str, Any]:
    """Answers a request in this process; mutmut stops one that hangs. Audit hooks stay, so those need a child."""
    if request["observer"] == "import-effects":
        return ChildRunner()(request, time_limit)
    answer: dict[str, Any] = json.loads(json.dumps(observers.answer(request)))
    return answer


def runner_for(environment: Mapping[str, str]) -> Runner:
    """The runner that fits: under mutmut only code in the test process is mutated."""
    return run_in_process if "MUTANT_UNDER_TEST" in environment else ChildRunner()
