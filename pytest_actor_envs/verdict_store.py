"""Which guards held when a project was last judged, believed as long as nothing has changed that they were judged by.

That is every file that was read or missed, every folder that was listed, the plugin's own source, the Python that runs
it, and the metadata of what is installed. One digest says whether all of it is the same; any difference, and nothing is
believed. Only what holds is kept: whatever is not green is judged in every run.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_actor_envs.model import ConfigurationError
from pytest_actor_envs.sources.kept_files import write_into_place
from pytest_actor_envs.sources.tree import Tree

FILE = "verdicts.json"

HeldCase = tuple[str, str, int]
"""A case that held: its name, and the path and line of its subject."""


class Verdicts(NamedTuple):
    """What is known of a whole project: the report's header, and each guard that runs, with its cases if all held."""

    header: str
    guards: Mapping[str, Sequence[HeldCase] | None]


class VerdictStore:
    """The verdicts kept in a folder. Made when a run begins: who judges in it is who is there by then."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._judges = _judges()

    def load(self, tree: Tree) -> Verdicts | None:
        """What held, `None` where nothing is kept, or something has changed. `tree` is then the one to judge more by."""
        try:
            data = json.loads(self._file.read_bytes())
            files, folders, header, guards = data["files"], data["folders"], data["header"], data["guards"]
            if data["digest"] != self._digest(tree, files, folders, header, guards):
                return None
            return Verdicts(header, guards)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ConfigurationError):
            return None

    def save(self, tree: Tree, verdicts: Verdicts) -> None:
        """Keeps what held, by everything that `tree` has read. Raises OSError."""
        files, folders = tree.seen()
        header, guards = verdicts.header, dict(verdicts.guards)
        digest = self._digest(tree, files, folders, header, guards)
        data = {"digest": digest, "header": header, "guards": guards, "files": files, "folders": folders}
        write_into_place(self._file, json.dumps(data, separators=(",", ":")))

    def _digest(self, tree: Tree, files: list[str], folders: list[str], *kept: object) -> str:
        lists = [self._judges, kept, files, folders, [list(tree.files(folder)) for folder in folders]]
        digest = hashlib.sha256(json.dumps(lists).encode())
        for path in files:
            content = tree.read_bytes(path) if tree.exists(path) else None
            digest.update(b"missing" if content is None else b"%d " % len(content))
            digest.update(content or b"")
        return digest.hexdigest()


def _judges() -> list[str]:
    """Who judges: the plugin's source, the Python that runs it, and what is installed for that."""
    source = hashlib.sha256()
    for path in sorted(_sources(os.path.dirname(__file__))):
        with open(path, "rb") as file:
            source.update(b"%s %d " % (os.fsencode(path), os.fstat(file.fileno()).st_size))
            source.update(file.read())
    return [source.hexdigest(), sys.version, sys.platform, *_installed()]


def _sources(folder: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.name.endswith(".py"):
            yield entry.path
        elif entry.is_dir() and entry.name.isidentifier() and entry.name != "__pycache__":
            yield from _sources(entry.path)


def _installed() -> Iterator[str]:
    """The metadata of installed distributions, each file by its name, size and time of change."""
    for folder in sys.path:
        for entry in _entries(folder or "."):
            if entry.name.endswith((".dist-info", ".egg-info")):
                yield f"{entry.path} {_stat(entry)}"
                yield from (f"{file.path} {_stat(file)}" for file in _entries(entry.path))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _stat(entry: os.DirEntry[str]) -> str:
    try:
        found = entry.stat()
    except OSError:
        return "gone"
    return f"{found.st_size} {found.st_mtime_ns}"
