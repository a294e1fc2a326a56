"""What guards ask of the guarded project's running code; each observer gives JSON.

Standard library only, since it runs in the child processes of behavioural guards. A request is a JSON object: `root`
(folder of the code, or null), `overlay` (path -> text or null), `packages`, `variables`, `observer`, `arguments`,
`time_limit` (seconds). The answer is `{"value": ..., "imported": [...]}`, or `{"error": {"type", "message", "path",
"line"}}` when project code raised. The observer `alone` is not among these: see runtime.py.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_actor_envs.sources.fresh_imports import OverlayFinder, fresh_imports, import_alone, places
from pytest_actor_envs.sources.import_effects import Effects

Request = Mapping[str, Any]


def called(function: Callable[[list[str]], object], arguments: list[str]) -> dict[str, Any]:
    """Output, error output and exit status that a script with this `main` has."""
    out, err = io.StringIO(), io.StringIO()
    code: object
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = function(arguments)
        except SystemExit as stop:
            code = stop.code
        except Exception as error:  # a script that raises exits with 1 and says so on stderr
            code = f"{type(error).__name__}: {error}"
    if isinstance(code, bool) or not isinstance(code, int | None):
        err.write(str(code))
        code = 1
    return {"stdout": out.getvalue(), "stderr": err.getvalue(), "code": code or 0}


def observe_script(request: Request, finder: OverlayFinder) -> Any:
    """`{argument list as JSON: {stdout, stderr, code}}` of the leaf's `main` for each of `calls`."""
    module, arguments = _module(request, finder), request["arguments"]
    return {json.dumps(call): called(module.main, list(call)) for call in arguments["calls"]}


def observe_registry(request: Request, finder: OverlayFinder) -> Any:
    """The imported `registry`, the `constants` of the executables, and the driver's interpreter (`system`)."""
    arguments = request["arguments"]
    registry = importlib.import_module(arguments["registry"])
    constants: dict[str, str] = {}
    if arguments["executables"]:
        holder = getattr(importlib.import_module(arguments["executables"]), arguments["executables_name"])
        constants = {name: text for name, text in vars(holder).items() if isinstance(text, str) and name[:1] != "_"}
    commands = {
        str(name): command if isinstance(command, str) else repr(command)
        for name, command in dict(getattr(registry, arguments["registry_name"])).items()
    }
    return {"registry": commands, "system": sys.executable, "constants": constants}


def observe_rejection(request: Request, finder: OverlayFinder) -> Any:
    """For each of `changes` (entry, extras): None, or what a fresh import of the registry over that table raised.

    `frames` are the (path, line) that the error came through, the deepest last.
    """
    arguments = request["arguments"]
    leaf = importlib.import_module(arguments["leaf"])
    table = dict(getattr(leaf, arguments["table"]))
    results: list[dict[str, Any] | None] = []
    for entry, extras in arguments["changes"]:
        setattr(leaf, arguments["table"], {**table, entry: list(extras)})
        sys.modules.pop(arguments["registry"], None)
        try:
            importlib.import_module(arguments["registry"])
        except Exception as error:  # whatever the registry raises is what is observed
            frames = places(error, request["root"])
            results.append({"type": type(error).__name__, "message": str(error), "frames": frames})
        else:
            results.append(None)
    return results


def observe_fingerprint(request: Request, finder: OverlayFinder) -> Any:
    """`fingerprint(root)` of a copy of `files` (path -> bytes as Latin-1): intact, and with one byte more in each."""
    module, files = _module(request, finder), request["arguments"]["files"]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        hashes, sizes = {}, {}
        for path, text in files.items():
            content = text.encode("latin-1")
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            sizes[path] = (root / path).write_bytes(content)
            hashes[path] = [hashlib.new(kind, content).hexdigest() for kind in ("md5", "sha1", "sha256")]
        intact, changed = dict(module.fingerprint(root)), {}
        for path, size in sizes.items():
            with (root / path).open("ab") as file:
                file.write(b"\n")
            changed[path] = dict(module.fingerprint(root))
            os.truncate(root / path, size)
    return {"hashes": hashes, "intact": intact, "changed": changed}


def observe_import_effects(request: Request, finder: OverlayFinder) -> Any:
    """What executing one file does besides defining things: a list of {effect, line}.

    Where it does nothing, it is executed a second time, which has to give the same table.
    """
    arguments = request["arguments"]
    effects = Effects(arguments["path"])
    effects.install()
    first = effects.execute(lambda: _module(request, finder))
    if not effects.found and arguments["table"]:
        second = effects.execute(lambda: _module(request, finder))
        if getattr(first, arguments["table"], None) != getattr(second, arguments["table"], None):
            effects.add("gives another table each time", arguments["line"])
    return effects.found


def _module(request: Request, finder: OverlayFinder) -> ModuleType:
    return import_alone(request["arguments"]["module"], request["arguments"]["path"], finder)


OBSERVERS: Mapping[str, Callable[[Request, OverlayFinder], Any]] = {
    "script": observe_script,
    "registry": observe_registry,
    "rejection": observe_rejection,
    "fingerprint": observe_fingerprint,
    "import-effects": observe_import_effects,
}


def answer(request: Request) -> dict[str, Any]:
    """The answer to one request, and this process as it was before."""
    with fresh_imports(request["root"], request["overlay"], request["packages"], request["variables"]) as finder:
        return answer_through(finder, request)


def answer_through(finder: OverlayFinder, request: Request) -> dict[str, Any]:
    """The answer to one request; what project code raises is part of the answer, also SystemExit.

    `imported` are the paths, there or not, that the code of modules was looked for at.
    """
    result: dict[str, Any]
    try:
        result = {"value": OBSERVERS[request["observer"]](request, finder)}
    except (Exception, SystemExit) as error:
        found = places(error, request["root"])
        path, line = found[-1] if found else (None, None)
        result = {"error": {"type": type(error).__name__, "message": str(error), "path": path, "line": line}}
    alone = request["arguments"].get("path")
    return {**result, "imported": [*finder.paths_asked(), *([alone] if alone else [])]}
