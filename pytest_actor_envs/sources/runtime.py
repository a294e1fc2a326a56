"""Where code of the guarded project runs: in a child process, or in this one where mutmut must see it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pytest_actor_envs.sources import observers

Request = Mapping[str, Any]
Runner = Callable[[Request, float], dict[str, Any]]


def run_in_child(request: Request, time_limit: float) -> dict[str, Any]:
    """Answers a request (see observers) in a new interpreter with a cleaned environment; seconds `time_limit`."""
    command = [sys.executable, "-I", str(Path(observers.__file__))]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=time_limit,
            env=observers.cleaned(os.environ),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return failure("TimeoutExpired", f"it did not finish in {time_limit:g} s")
    _, separator, text = done.stdout.rpartition("\0")
    if not separator:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return failure("ChildProcessError", f"its process ended with status {done.returncode}: {last}")
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
