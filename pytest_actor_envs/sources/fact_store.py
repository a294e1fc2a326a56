"""Import facts of files, each text parsed once: in this run, or in an earlier one that left them in a folder."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

from pytest_actor_envs.sources.imports import ImportFact, import_facts

FORMAT = 1
"""Raised whenever the facts of a text, or how they are written, change."""

Kept = Mapping[str, list[Any]]


class FactStore:
    """Import facts by the content of a file; a file that does not parse gives its SyntaxError, which is not kept."""

    def __init__(self) -> None:
        self._facts: dict[bytes, tuple[ImportFact, ...] | SyntaxError] = {}
        self._kept: dict[str, list[Any]] = {}
        self._used: dict[str, list[Any]] = {}
        self._has_news = False

    def read(self, content: bytes) -> tuple[ImportFact, ...] | SyntaxError:
        """The facts of a text."""
        if content not in self._facts:
            self._facts[content] = self._found(content)
        return self._facts[content]

    def _found(self, content: bytes) -> tuple[ImportFact, ...] | SyntaxError:
        key = hashlib.sha256(content).hexdigest()
        if key in self._kept:
            self._used[key] = self._kept[key]
            return tuple(_fact(row) for row in self._kept[key])
        facts = _parsed(content)
        if not isinstance(facts, SyntaxError):
            self._used[key] = [list(astuple(fact)) for fact in facts]
            self._has_news = True
        return facts

    def keep(self, kept: Kept) -> None:
        """Takes over what `used` of another store gave."""
        self._kept.update(kept)

    @property
    def used(self) -> Kept:
        """The facts read so far, by the hash of the text, as JSON can hold them."""
        return self._used

    def load(self, folder: Path) -> None:
        """Takes over what `save` left in a folder, if anything that can be read."""
        try:
            data = json.loads((folder / FILE).read_bytes())
            self.keep(data["facts"] if data["format"] == FORMAT else {})
        except (OSError, ValueError, KeyError, TypeError):
            return

    def save(self, folder: Path) -> None:
        """Leaves the facts read so far in a folder, for the next run; written aside and moved into place."""
        if not self._has_news:
            return
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".json", delete=False) as file:
            json.dump({"format": FORMAT, "facts": self._used}, file, separators=(",", ":"))
        os.replace(file.name, folder / FILE)
        self._has_news = False


FILE = "import-facts.json"


def _fact(row: list[Any]) -> ImportFact:
    level, module, names, line, column, in_function, attempts, since, before = row
    tried = tuple((place, part) for place, part in attempts)
    return ImportFact(
        level, module, tuple(names), line, column, in_function, tried, (since[0], since[1]), (before[0], before[1])
    )


def _parsed(content: bytes) -> tuple[ImportFact, ...] | SyntaxError:
    collects = gc.isenabled()
    gc.disable()  # a syntax tree is many small objects without cycles, which the collector would visit again and again
    try:
        return import_facts(content)
    except SyntaxError as error:
        return error
    finally:
        if collects:
            gc.enable()
