"""Which distributions an environment of some extras has: by the lock, or, without one, by what requirements say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from pytest_actor_envs.sources.imports import Version
from pytest_actor_envs.sources.lock import Closures, platforms
from pytest_actor_envs.sources.pyproject import Pyproject, normalized, requirements

if TYPE_CHECKING:
    from packaging.requirements import Requirement


class Provision(Protocol):
    """Names of extras and of distributions are normalized. `extras` is empty for base dependencies alone."""

    @property
    def known(self) -> frozenset[str]:
        """The distributions that an import may be provided by."""

    def distributions(self, extras: frozenset[str]) -> frozenset[str]:
        """What an environment of base dependencies and these extras has."""

    def bringers(self, distributions: frozenset[str]) -> list[str]:
        """The declared extras, each of which brings one of the distributions, sorted."""

    def decides(self, distribution: str) -> bool:
        """Whether it is known which environments have the distribution, and which have not."""


class _ByExtra:
    """What both kinds of provision share: an extra brings what it adds to base."""

    def __init__(self, pyproject: Pyproject) -> None:
        self._names = sorted(pyproject.extras_by_name)

    def distributions(self, extras: frozenset[str]) -> frozenset[str]:
        raise NotImplementedError

    def bringers(self, distributions: frozenset[str]) -> list[str]:
        return [name for name in self._names if distributions & self.distributions(frozenset({name}))]


class LockedProvision(_ByExtra):
    """By the lock, which decides everything: what it does not install is not there."""

    def __init__(self, pyproject: Pyproject, closures: Closures, names: Iterable[str]) -> None:
        super().__init__(pyproject)
        self._pyproject = pyproject
        self._closures = closures
        self.known = frozenset(names)
        self._answers: dict[frozenset[str], frozenset[str]] = {}

    def distributions(self, extras: frozenset[str]) -> frozenset[str]:
        if extras not in self._answers:
            reached = self._pyproject.with_pulled_in(extras | self._pyproject.base_extras)
            self._answers[extras] = self._closures.of(reached)
        return self._answers[extras]

    def decides(self, distribution: str) -> bool:
        return True


class DirectProvision(_ByExtra):
    """By direct requirements, of dependency groups too, and by what the configuration says that extras bring."""

    def __init__(self, pyproject: Pyproject, brings: Mapping[str, Sequence[str]], python: Version) -> None:
        super().__init__(pyproject)
        self._pyproject = pyproject
        environments = platforms(pyproject.get("tool", "uv", "environments", default=[]), python)
        groups = {name: _group(pyproject, name, frozenset()) for name in pyproject.get("dependency-groups", default={})}
        installed = [item for name in default_groups(pyproject) for item in groups.get(name, ())]
        self._base = _names([*pyproject.base_requirements, *installed], environments)
        brought = {normalized(extra): frozenset(map(normalized, listed)) for extra, listed in brings.items()}
        self._of_extra = {
            name: _names(extra.requirements, environments) | brought.get(name, frozenset())
            for name, extra in pyproject.extras_by_name.items()
        }
        in_groups = frozenset(normalized(item.name) for listed in groups.values() for item in listed)
        self.known = self._base.union(in_groups, *self._of_extra.values())
        self._answers: dict[frozenset[str], frozenset[str]] = {}

    def distributions(self, extras: frozenset[str]) -> frozenset[str]:
        if extras not in self._answers:
            reached = self._pyproject.with_pulled_in(extras | self._pyproject.base_extras)
            self._answers[extras] = self._base.union(*(self._of_extra.get(name, frozenset()) for name in reached))
        return self._answers[extras]

    def decides(self, distribution: str) -> bool:
        return distribution in self.known


def _group(pyproject: Pyproject, name: str, seen: frozenset[str]) -> list[Requirement]:
    """The requirements of a dependency group, with those of the groups that it includes."""
    found: list[Requirement] = []
    for item in pyproject.get("dependency-groups", name, default=[]) if name not in seen else []:
        if isinstance(item, str):
            found.extend(requirements([item]))
        elif isinstance(item, Mapping) and isinstance(item.get("include-group"), str):
            found.extend(_group(pyproject, item["include-group"], seen | {name}))
    return found


def _names(listed_requirements: Iterable[Requirement], environments: Sequence[Mapping[str, str]]) -> frozenset[str]:
    """The requirements whose markers hold on each of the platforms; several lines of one name may share them out."""
    markers: dict[str, list[Requirement]] = {}
    for requirement in listed_requirements:
        markers.setdefault(normalized(requirement.name), []).append(requirement)
    return frozenset(
        name
        for name, listed in markers.items()
        if all(any(_holds(requirement, environment) for requirement in listed) for environment in environments)
    )


def _holds(requirement: Requirement, environment: Mapping[str, str]) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({**environment})


def default_groups(pyproject: Pyproject) -> list[str]:
    """The dependency groups that uv installs unless told otherwise: `[tool.uv] default-groups`, else `dev`."""
    listed = pyproject.get("tool", "uv", "default-groups", default=["dev"])
    return list(pyproject.get("dependency-groups", default={})) if listed == "all" else [str(name) for name in listed]
