"""Import facts of files, each text parsed once."""

from __future__ import annotations

import gc

from pytest_actor_envs.sources.imports import ImportFact, import_facts


class FactStore:
    """Import facts by the content of a file; a file that does not parse gives its SyntaxError."""

    def __init__(self) -> None:
        self._facts: dict[bytes, tuple[ImportFact, ...] | SyntaxError] = {}

    def read(self, content: bytes) -> tuple[ImportFact, ...] | SyntaxError:
        """The facts of a text."""
        if content not in self._facts:
            self._facts[content] = self._parsed(content)
        return self._facts[content]

    def _parsed(self, content: bytes) -> tuple[ImportFact, ...] | SyntaxError:
        collects = gc.isenabled()
        gc.disable()  # a syntax tree is many small objects without cycles, which the collector would visit again and again
        try:
            return import_facts(content)
        except SyntaxError as error:
            return error
        finally:
            if collects:
                gc.enable()
