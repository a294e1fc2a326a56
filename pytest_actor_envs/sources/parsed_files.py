"""Syntax trees and imports of files, each text read once."""

from __future__ import annotations

import ast
import gc
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from pytest_actor_envs.sources.excerpts import excerpt
from pytest_actor_envs.sources.fact_store import FactStore
from pytest_actor_envs.sources.imports import ImportFact, import_facts, parsed

Read = TypeVar("Read")


class ParsedFiles:
    """What is read of Python texts, with the help of what `store` knows from earlier runs."""

    def __init__(self, store: FactStore) -> None:
        self.store = store
        self._whole: dict[tuple[str, bytes], ast.Module | SyntaxError] = {}
        self._excerpts: dict[tuple[str, bytes], ast.Module | SyntaxError] = {}
        self._imports: dict[bytes, tuple[ImportFact, ...] | SyntaxError] = {}

    def whole(self, path: str, content: bytes) -> ast.Module:
        """The syntax tree of a text. Raises SyntaxError with the path as the file's name."""
        key = (path, content)
        if key not in self._whole:
            self._whole[key] = _read(lambda: parsed(content, path))
        return _raised(self._whole[key])

    def excerpt(self, path: str, content: bytes, words: Sequence[str]) -> ast.Module:
        """The syntax tree of the text's excerpt (see excerpts). Raises SyntaxError as `whole` does."""
        key = (path, content)
        if key not in self._excerpts:
            self._excerpts[key] = _read(lambda: parsed(self._excerpt(path, content, words), path))
        return _raised(self._excerpts[key])

    def _excerpt(self, path: str, content: bytes, words: Sequence[str]) -> bytes:
        def found() -> str | None:
            """`None` where it is the whole text, which may be no UTF-8."""
            text = excerpt(content, parsed(content, path), words)
            return None if text == content else text.decode()

        kept = self.store.of(content, f"excerpt {' '.join(words)}", found)
        return content if kept is None else kept.encode()

    def imports(self, content: bytes) -> tuple[ImportFact, ...] | SyntaxError:
        """The imports of a text, or why it cannot be read."""
        if content not in self._imports:
            self._imports[content] = _read(lambda: self._kept_imports(content))
        return self._imports[content]

    def _kept_imports(self, content: bytes) -> tuple[ImportFact, ...]:
        # One string instead of many small lists, which the collector would visit again and again.
        rows = self.store.of(content, "imports", lambda: json.dumps(import_facts(content), separators=(",", ":")))
        return tuple(map(_fact, json.loads(rows)))


def _read(reader: Callable[[], Read]) -> Read | SyntaxError:
    with _without_collector():
        try:
            return reader()
        except SyntaxError as error:
            return error


def _raised(found: Read | SyntaxError) -> Read:
    if isinstance(found, SyntaxError):
        raise found
    return found


@contextmanager
def _without_collector() -> Iterator[None]:
    """A syntax tree is many small objects without cycles, which the collector would visit again and again."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _fact(row: list[Any]) -> ImportFact:
    level, module, names, line, column, in_function, attempts, since, before = row
    tried = tuple((place, part) for place, part in attempts)
    return ImportFact(
        level, module, tuple(names), line, column, in_function, tried, (since[0], since[1]), (before[0], before[1])
    )
