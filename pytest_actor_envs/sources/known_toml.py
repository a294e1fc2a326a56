"""A project's pyproject.toml, parsed before the code that reads it runs: parsing it takes longer than most such code.

Standard library only.
"""

from __future__ import annotations

import functools
import marshal
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

PYPROJECT = "pyproject.toml"


class KnownToml:
    """`tomllib.loads` that has the answer to one text at hand, new objects for each who asks."""

    def __init__(self) -> None:
        self._text: str | None = None
        self._parsed = b""
        self._parse = tomllib.loads

    def install(self) -> None:
        """Takes the place of `tomllib.loads` in this process, for good."""

        @functools.wraps(self._parse)
        def loads(s: str, /, *, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
            if parse_float is float and self._text is not None and s == self._text:
                parsed: dict[str, Any] = marshal.loads(self._parsed)
                return parsed
            return self._parse(s, parse_float=parse_float)

        tomllib.loads = loads

    def prepare(self, root: str | None) -> None:
        """Parses what a folder's pyproject.toml holds now. Errors, and dates, are for whoever reads it."""
        try:
            text = (Path(root) / PYPROJECT).read_bytes().decode() if root else None
        except (OSError, UnicodeDecodeError):
            text = None
        if text is None or text == self._text:
            return
        try:
            self._text, self._parsed = text, marshal.dumps(self._parse(text))
        except (tomllib.TOMLDecodeError, RecursionError, ValueError):
            self._text = None
