"""Where code of the guarded project runs: in a child process, or in this one where mutmut must see it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pytest_actor_envs.sources import observers
from pytest_actor_envs.sources.fresh_imports import cleaned

Request = observers.Request
Runner = Callable[[Request, float], dict[str, Any]]

CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from pytest_actor_envs.sources.observers import main
del sys.path[0]
main()
"""
FOLDER_OF_THIS_PACKAGE = str(Path(__file__).resolve().parents[2])


def run_in_child(request: Request, time_limit: float) -> dict[str, Any]:
    """Answers a request (see observers) in a new interpreter with a cleaned environment.

    A child that takes more than `time_limit` seconds is killed, with whatever it started, and the answer says so.
    """
    child = subprocess.Popen(
        [sys.executable, "-I", "-c", CHILD, FOLDER_OF_THIS_PACKAGE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=cleaned(os.environ),
        start_new_session=True,
    )
    try:
        stdout, stderr = child.communicate(json.dumps(request), timeout=time_limit)
    except subprocess.TimeoutExpired:
        return failure("TimeoutExpired", f"it did not finish in {time_limit:g} s")
    finally:
        if child.returncode is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
    _, separator, text = stdout.rpartition("\0")
    if not separator:
        last = (stderr.strip().splitlines() or ["no output"])[-1]
        return failure("ChildProcessError", f"its process ended with status {child.returncode}: {last}")
    answer: dict[str, Any] = json.loads(text)
    return answer


def run_in_process(request: Request, time_limit: float) -> dict[str, Any]:
    """Answers a request in this process; mutmut stops one that hangs. Audit hooks stay, so those need a child."""
    if request["observer"] == "import-effects":
        return run_in_child(request, time_limit)
    answer: dict[str, Any] = json.loads(json.dumps(observers.answer(request)))
    return answer


def runner_for(environment: Mapping[str, str]) -> Runner:
    """The runner that fits: under mutmut only code in the test process is mutated."""
    return run_in_process if "MUTANT_UNDER_TEST" in environment else run_in_child


def failure(kind: str, message: str) -> dict[str, Any]:
    """The answer that stands for a child that gave none."""
    return {"error": {"type": kind, "message": message, "path": None, "line": None}}
