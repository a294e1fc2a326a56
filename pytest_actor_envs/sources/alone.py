"""Runs a file as the only one of a folder, under an interpreter that has nothing but the standard library.

Standard library only, and little of it. `serve` runs in a process that was started with `-I -S -B`, once for many
files, since starting it takes longer than running them. It forks for each import and each call of a file; a fork leaves
`serve` and ends as that interpreter does.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import math
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Collection, Mapping
from functools import partial
from types import CodeType, ModuleType
from typing import Any

from pytest_actor_envs.sources.child_process import Conversation, fork_with_pipe, result_of

Run = Callable[[], None]


def serve(found: Collection[str]) -> Run | None:
    """Answers the requests on stdin, one a line, on stdout, until stdin ends; in a fork, gives what it has to run.

    A request has `script`, the path of a file in a folder of its own, `calls`, argument lists, and `time_limit`, seconds
    for all of them. Its answer is `{"error": {error, line} or null, "runs": [{stdout, code}, ...]}`, or `{"late": true}`.
    A file finds those modules imported that `found` names.
    """
    conversation = Conversation()
    gc.collect()
    gc.freeze()  # so that the forks do not copy what the collector would touch
    for line in conversation.requests():
        request = json.loads(line)
        script, deadline = request["script"], time.monotonic() + request["time_limit"]
        code = _compiled(script)
        given: list[dict[str, Any]] = []
        for call in [None, *request["calls"]]:
            child, pipe = fork_with_pipe()
            if child == 0:
                conversation.leave()
                signal.alarm(math.ceil(request["time_limit"]) + 1)  # nothing else ends it when this process is gone
                for name in set(sys.modules).difference(found):
                    del sys.modules[name]
                os.chdir(os.path.dirname(script))
                return (
                    partial(_import, script, code, pipe) if call is None else partial(_call, script, code, call, pipe)
                )
            content, status = result_of(child, pipe, deadline, conversation.asked_through)
            if content is None:
                break
            given.append({"stdout": content.decode("utf-8", "replace"), "code": status})
        late = len(given) <= len(request["calls"])
        conversation.answer(json.dumps({"late": True} if late else _answer(*given)).encode())
    return None


def _answer(imported: Mapping[str, Any], *runs: Mapping[str, Any]) -> dict[str, Any]:
    try:
        error = json.loads(imported["stdout"])
    except ValueError:
        error = {"line": None, "error": f"its process ended with {imported['code']}"}
    return {"error": error, "runs": [] if error else list(runs)}


def _import(script: str, code: CodeType | None, pipe: int) -> None:
    """Imports a file as a module and writes what that raised to the pipe."""
    spec = importlib.util.spec_from_file_location("alone", script)
    assert spec is not None
    module = sys.modules["alone"] = importlib.util.module_from_spec(spec)  # dataclasses look their module up
    found: dict[str, Any] | None = None
    try:
        _execute(script, code, module)
    except BaseException as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == script]
        line = lines[-1] if lines else getattr(error, "lineno", None)
        found = {"line": line, "error": f"{type(error).__name__}: {error}"}
    os.write(pipe, json.dumps(found).encode())
    os._exit(0)  # that it was imported is all there is to know


def _call(script: str, code: CodeType | None, arguments: list[str], pipe: int) -> None:
    """Runs a file as a script whose output is the pipe."""
    os.dup2(pipe, 1)
    os.close(pipe)
    sys.argv[:] = [script, *arguments]
    module = sys.modules["__main__"] = ModuleType("__main__")
    module.__file__ = script
    _execute(script, code, module)


def _execute(script: str, code: CodeType | None, module: ModuleType) -> None:
    exec(compile(_read(script), script, "exec", dont_inherit=True) if code is None else code, module.__dict__)


def _compiled(script: str) -> CodeType | None:
    """The code of a file, `None` where whoever executes it has to see why there is none."""
    try:
        return compile(_read(script), script, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _read(script: str) -> bytes:
    with open(script, "rb") as file:
        return file.read()
