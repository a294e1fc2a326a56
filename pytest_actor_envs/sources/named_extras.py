"""Which extras a comment names, as a reader would: `vLLM`, `NeMo Gym`, `ModelOpt-based`, but no class or path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.pyproject import normalized


def named_extras(comment: Iterable[tuple[Location, str]], declared: Sequence[str]) -> Iterator[tuple[str, Location]]:
    """(normalized extra, place of its first mention) of each declared extra that the lines of a comment name.

    A name may be written in any case, with `-`, `_`, `.` and space alike, also across the end of a line; of names that
    contain each other the longest is taken. It has to be a word of its own: no part of a longer name, a dotted name or a
    path.
    """
    if not declared:
        return
    text, places = _joined(comment)
    seen = set()
    for match in _pattern(tuple(declared)).finditer(text):
        extra = normalized(re.sub(r"\s+", "-", match[0]))
        if extra not in seen:
            seen.add(extra)
            yield extra, places[match.start()]


def _joined(comment: Iterable[tuple[Location, str]]) -> tuple[str, list[Location]]:
    """The comment's text with one space for each end of a line, and where each of its characters stands."""
    text = ""
    places: list[Location] = []
    for location, line in comment:
        stripped = line.lstrip("#")
        column = location.column + len(line) - len(stripped)
        content = stripped.lstrip()
        column += len(stripped) - len(content)
        content = content.rstrip()
        text += content + " "
        places.extend(Location(location.path, location.line, column + index) for index in range(len(content) + 1))
    return text, places


@lru_cache(maxsize=64)
def _pattern(declared: tuple[str, ...]) -> re.Pattern[str]:
    names = sorted({normalized(extra) for extra in declared}, key=lambda name: (-len(name), name))
    written = "|".join(r"[-_. ]".join(map(re.escape, name.split("-"))) for name in names)
    return re.compile(rf"(?<![\w./-])(?:{written})(?![\w/]|\.\w)", re.IGNORECASE)
