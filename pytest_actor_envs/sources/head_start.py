"""What a process that forks for each question about project code has done before, so that no fork has to do it again.

Nothing that project code can tell: common modules of the standard library are imported, and files are compiled, but
nothing of the project is executed. Standard library only.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Collection
from types import CodeType
from typing import Any

from pytest_actor_envs.sources import observers
from pytest_actor_envs.sources.fresh_imports import IN_MEMORY, Compiled, Source
from pytest_actor_envs.sources.known_toml import KnownToml

COMMON = (
    "argparse",
    "ast",
    "configparser",
    "copy",
    "dataclasses",
    "datetime",
    "difflib",
    "hashlib",
    "pathlib",
    "platform",
    "shlex",
    "string",
    "sysconfig",
    "tempfile",
    "threading",
    "tomllib",
    "typing",
)
"""Modules that tables, registries and scripts import; importing them does nothing besides."""

MOST_FILES = 500
"""Files whose code is kept at most: mutants of one file are as many files."""


class HeadStart:
    """Modules that are imported already, and the code of files that earlier requests imported, as they are now.

    `found` are the modules that the interpreter itself has imported.
    """

    def __init__(self, found: Collection[str]) -> None:
        for name in COMMON:
            importlib.import_module(name)
        own = __name__.partition(".")[0]
        self._ahead = [name for name in sys.modules if name not in found and name.partition(".")[0] != own]
        self._ahead_at_top = frozenset(name.partition(".")[0] for name in self._ahead)
        self._imported: dict[tuple[str, str | None], list[str]] = {}
        self._codes: dict[tuple[str, Source], CodeType | None] = {}
        self._toml = KnownToml()
        self._toml.install()

    def learn(self, request: observers.Request, answer: dict[str, Any]) -> None:
        """Remembers which files the code that a request ran was imported from."""
        paths = dict.fromkeys(answer.get("imported", []))
        self._imported[_kind(request)] = [path for path in paths if _file(request, path) is not None]

    def compiled_for(self, request: observers.Request) -> Compiled:
        """The code of the files that the last request of this kind imported, from the overlay and folder of this one."""
        self._toml.prepare(request["root"])
        if len(self._codes) > MOST_FILES:
            self._codes.clear()
        files = []
        for path in self._imported.get(_kind(request), ()):
            file = _file(request, path)
            if file is not None:
                files.append(file)
                if file not in self._codes:
                    self._codes[file] = _code(*file)
        return {file: code for file in files if (code := self._codes[file]) is not None}

    def hidden_by(self, request: observers.Request) -> list[str]:
        """The modules imported ahead that would be modules of the project instead, since those are found first."""
        root = request["root"]
        names = {path.partition("/")[0] for path, text in request["overlay"].items() if text is not None}
        names.update(os.listdir(root) if root and os.path.isdir(root) else ())
        hidden = self._ahead_at_top & {name.removesuffix(".py") for name in names}
        return [name for name in self._ahead if name.partition(".")[0] in hidden]


def _kind(request: observers.Request) -> tuple[str, str | None]:
    return request["observer"], request["arguments"].get("path")


def _file(request: observers.Request, path: str) -> tuple[str, Source] | None:
    """The name and text of a file that a request would import, `None` where there is none."""
    filename = os.path.join(request["root"] or IN_MEMORY, path)
    if path in request["overlay"]:
        text = request["overlay"][path]
        return None if text is None else (filename, text)
    try:
        with open(filename, "rb") as file:
            return filename, file.read()
    except OSError:
        return None


def _code(filename: str, source: Source) -> CodeType | None:
    """The code of a file, `None` where compiling it raises or warns: that is for whoever imports it to see."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            code = compile(source, filename, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return None if warned else code
