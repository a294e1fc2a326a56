"""Syntax trees and imports of files, each text read once."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from pytest_actor_envs.sources.collector import without_collector
from pytest_actor_envs.sources.excerpts import excerpt
from pytest_actor_envs.sources.fact_store import FactStore
from pytest_actor_envs.sources.imports import ImportFact, import_facts, parsed
from pytest_actor_envs.sources.memory import Memory
from pytest_actor_envs.sources.reparsing import KnownTree

Read = TypeVar("Read")
Version = tuple[int, int]


class ParsedFiles:
    """What is read of Python texts and kept in `memory`, with the help of what `store` knows from earlier runs."""

    def __init__(self, store: FactStore, memory: Memory | None = None) -> None:
        self.store = store
        self._memory = Memory() if memory is None else memory

    def whole(self, path: str, content: bytes, version: Version | None = None) -> ast.Module:
        """The syntax tree of a text, with `version` as that Python reads it. Raises SyntaxError with the path as the file's name.

        Texts of one path share the trees of the statements in which they do not differ.
        """
        return _raised(
            self._memory.of(
                ("whole", path, version, content), lambda: _read(lambda: self._tree(path, content, version))
            )
        )

    def _tree(self, path: str, content: bytes, version: Version | None) -> ast.Module:
        def parse(text: bytes) -> ast.Module:
            return parsed(text, path, version)

        first = self._memory.of(("first", path, version), lambda: KnownTree(content.split(b"\n"), parse(content)))
        return first.of(content, parse) or parse(content)

    def of_statement(self, read: Callable[..., Read], statement: ast.stmt, *given: Hashable) -> Read:
        """What `read(statement, *given)` finds in a statement of a tree, computed once for all trees that share it."""
        return self._memory.of(("statement", read, statement, given), lambda: read(statement, *given))

    def excerpt(self, path: str, content: bytes, words: Sequence[str]) -> ast.Module:
        """The syntax tree of the text's excerpt (see excerpts). Raises SyntaxError as `whole` does."""

        def read() -> ast.Module:
            return parsed(self._excerpt(path, content, words), path)

        return _raised(self._memory.of(("excerpt", path, content), lambda: _read(read)))

    def _excerpt(self, path: str, content: bytes, words: Sequence[str]) -> bytes:
        def found() -> str | None:
            """`None` where it is the whole text, which may be no UTF-8."""
            text = excerpt(content, parsed(content, path), words)
            return None if text == content else text.decode()

        kept = self.store.of(content, f"excerpt {' '.join(words)}", found)
        return content if kept is None else kept.encode()

    def imports(self, content: bytes) -> tuple[ImportFact, ...] | SyntaxError:
        """The imports of a text, or why it cannot be read."""
        return self._memory.of(("imports", content), lambda: _read(lambda: self._kept_imports(content)))

    def _kept_imports(self, content: bytes) -> tuple[ImportFact, ...]:
        # One string instead of many small lists, which the collector would visit again and again.
        rows = self.store.of(content, "imports", lambda: json.dumps(import_facts(content), separators=(",", ":")))
        return tuple(map(_fact, json.loads(rows)))


def _read(reader: Callable[[], Read]) -> Read | SyntaxError:
    with without_collector():
        try:
            return reader()
        except SyntaxError as error:
            return error


def _raised(found: Read | SyntaxError) -> Read:
    if isinstance(found, SyntaxError):
        raise found
    return found


def _fact(row: list[Any]) -> ImportFact:
    level, module, names, line, column, in_function, attempts, since, before = row
    tried = tuple((place, part) for place, part in attempts)
    return ImportFact(
        level, module, tuple(names), line, column, in_function, tried, (since[0], since[1]), (before[0], before[1])
    )
