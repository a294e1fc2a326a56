"""The requirements of one extra, as pyproject.toml writes them and as the lock recorded them, in one comparable form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pytest_actor_envs.sources.lock import LockRecord, holds, known_platforms
from pytest_actor_envs.sources.pyproject import Extra, normalized


@dataclass(frozen=True, slots=True)
class ExtraRequirement:
    """One requirement. `platforms` says where its marker holds, on each known platform under Pythons from 3.8 to 3.15."""

    name: str
    extras: frozenset[str]
    specifier: str
    marker: str
    has_source: bool
    platforms: tuple[bool, ...]

    def equals(self, other: ExtraRequirement) -> bool:
        """Whether both require the same; a requirement with a source of its own may have any version."""
        if (self.name, self.extras, self.platforms) != (other.name, other.extras, other.platforms):
            return False
        if self.has_source or other.has_source or self.specifier == other.specifier:
            return True
        from packaging.specifiers import SpecifierSet

        return SpecifierSet(self.specifier) == SpecifierSet(other.specifier)

    def __str__(self) -> str:
        extras = f"[{','.join(sorted(self.extras))}]" if self.extras else ""
        return f"{self.name}{extras}{self.specifier}" + (f"; {self.marker}" if self.marker else "")


def parsed(extra: Extra) -> list[list[Any]]:
    """What pyproject.toml requires for an extra, as JSON can hold it: name, extras, version, marker, has a source."""
    return [
        [
            normalized(item.name),
            sorted(map(normalized, item.extras)),
            str(item.specifier),
            str(item.marker or ""),
            item.url is not None,
        ]
        for item in extra.requirements
    ]


def written(rows: Iterable[Sequence[Any]], extra: Extra, project_name: str) -> list[ExtraRequirement]:
    """What was `parsed` of an extra, without the project's own extras."""
    name = normalized(extra.name)
    return [
        ExtraRequirement(required, frozenset(extras), specifier, marker, has_source, _where(marker, name))
        for required, extras, specifier, marker, has_source in rows
        if required != normalized(project_name)
    ]


def recorded(record: LockRecord, extra: Extra, project_name: str) -> list[ExtraRequirement]:
    """The same as the lock recorded it."""
    name = normalized(extra.name)
    return [
        ExtraRequirement(
            item.name, item.extras, item.specifier, item.marker, item.has_source, _where(item.marker, name)
        )
        for item in record.requirements
        if re.search(rf"extra == '{re.escape(name)}'", item.marker) and item.name != normalized(project_name)
    ]


def without_equals(some: Iterable[ExtraRequirement], others: list[ExtraRequirement]) -> list[ExtraRequirement]:
    """Those of `some` that none of `others` equals."""
    return [one for one in some if not any(one.equals(other) for other in others)]


@lru_cache(maxsize=1024)
def _where(marker: str, extra: str) -> tuple[bool, ...]:
    active = frozenset({extra})
    return tuple(holds(marker, platform, active) for minor in range(8, 16) for platform in known_platforms((3, minor)))
