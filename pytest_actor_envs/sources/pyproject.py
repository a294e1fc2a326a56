"""pyproject.toml of the guarded project: extras, conflicts, and where each thing stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.toml_positions import Key, TomlPositions

if TYPE_CHECKING:
    from packaging.requirements import Requirement

PATH = "pyproject.toml"


def normalized(name: str) -> str:
    """An extra's or a distribution's name as PEP 685 and PEP 503 compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@dataclass(frozen=True, slots=True)
class Extra:
    """A key of `[project.optional-dependencies]`."""

    name: str
    location: Location
    written: tuple[Any, ...]
    """Its requirements as the file has them."""

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """Those of them that can be read."""
        return requirements(self.written)

    def names_pulled_in(self, project_name: str) -> frozenset[str]:
        """Normalized extras of the project itself that this one requires: `project[other]`."""
        return _own_extras(self.written, project_name)


class Pyproject:
    """The parsed file. Raises `tomllib.TOMLDecodeError` where it is no TOML."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.data: Mapping[str, Any] = tomllib.loads(content.decode())

    @cached_property
    def positions(self) -> TomlPositions:
        return TomlPositions(PATH, self._content)

    def at(self, *key: str | int) -> Location:
        """Where `key` stands, or its nearest ancestor."""
        return self.positions.at(key)

    def get(self, *key: str, default: Any = None) -> Any:
        """The value at a path of table keys, or `default`."""
        value: Any = self.data
        for part in key:
            if not isinstance(value, Mapping) or part not in value:
                return default
            value = value[part]
        return value

    @property
    def name(self) -> str:
        """The distribution's name, empty where there is none."""
        return str(self.get("project", "name", default=""))

    @cached_property
    def base_requirements(self) -> tuple[Requirement, ...]:
        return requirements(self.get("project", "dependencies", default=[]))

    @cached_property
    def base_extras(self) -> frozenset[str]:
        """Normalized extras of the project itself that its base dependencies require."""
        listed = self.get("project", "dependencies", default=[])
        return _own_extras(listed if isinstance(listed, list) else [], self.name)

    @cached_property
    def extras(self) -> tuple[Extra, ...]:
        """The declared extras, in order."""
        table = self.get("project", "optional-dependencies", default={})
        key: Key = ("project", "optional-dependencies")
        return tuple(
            Extra(name, self.at(*key, name), tuple(listed) if isinstance(listed, list) else ())
            for name, listed in table.items()
        )

    @cached_property
    def extras_by_name(self) -> Mapping[str, Extra]:
        """Normalized name -> extra."""
        return {normalized(extra.name): extra for extra in self.extras}

    def with_pulled_in(self, names: frozenset[str]) -> frozenset[str]:
        """`names` (normalized) and every extra of the project itself that they require, transitively."""
        reached: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name in reached:
                continue
            reached.add(name)
            if name in self.extras_by_name:
                waiting.extend(self.extras_by_name[name].names_pulled_in(self.name))
        return frozenset(reached)

    @cached_property
    def extra_conflicts(self) -> tuple[tuple[frozenset[str], Location], ...]:
        """The sets of `[tool.uv] conflicts`: normalized names of extras, and where the set stands."""
        sets = self.get("tool", "uv", "conflicts", default=[])
        return tuple(
            (
                frozenset(normalized(item["extra"]) for item in members if "extra" in item),
                self.at("tool", "uv", "conflicts", index),
            )
            for index, members in enumerate(sets)
        )


def _own_extras(listed: Iterable[Any], project_name: str) -> frozenset[str]:
    """Normalized extras of the project itself that some of its requirements name."""
    own = [text for text in listed if isinstance(text, str) and _named(text) == normalized(project_name)]
    return frozenset(normalized(extra) for requirement in requirements(own) for extra in requirement.extras)


def _named(text: str) -> str:
    """The normalized name that a requirement starts with; reading all of it takes a hundred times as long."""
    name = re.match(r"\s*([A-Za-z0-9._-]+)", text)
    return normalized(name[1]) if name else ""


def requirements(listed: Any) -> tuple[Requirement, ...]:
    """Those of a list of PEP 508 strings that can be read."""
    texts = listed if isinstance(listed, list | tuple) else []
    return tuple(found for text in texts if isinstance(text, str) and (found := _requirement(text)) is not None)


@lru_cache(maxsize=4096)
def _requirement(text: str) -> Requirement | None:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(text)
    except InvalidRequirement:
        return None
