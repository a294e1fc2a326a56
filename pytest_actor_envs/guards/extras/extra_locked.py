"""The lock knows every declared extra, with the requirements that pyproject.toml gives it.

Runs where a lock is configured, or uv.lock is there. Requirements are compared by name, extras, version and what their
markers come to on every platform; a requirement with a source of its own (`[tool.uv.sources]`) is compared without its
version.

Why it matters: `--locked` refuses a lock that is not pyproject.toml's, and `--frozen` builds what the lock says: the
extra that was added last is unknown to it, and a requirement that was changed stays as it was.

How to fix it: `uv lock`. Where `[tool.pytest-actor-envs.brings]` names what the lock does not bring, correct it there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_actor_envs.guards.edits import Files
from pytest_actor_envs.model import Blocked, Finding, Guard, Location, Mutant, MutantDoesNotApply
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.lock import Lock, LockedRequirement, holds, platforms
from pytest_actor_envs.sources.pyproject import Extra, normalized

if TYPE_CHECKING:
    from packaging.requirements import Requirement

RELOCK = "refresh the lock: uv lock"


def subjects(project: Project) -> Iterable[Extra]:
    return project.pyproject.extras


def check(project: Project, extra: Extra) -> Iterator[Finding]:
    path = project.lock_path or ""
    try:
        lock = project.lock
    except Blocked:
        yield Finding(Location(path), "the lock cannot be read", (RELOCK,))
        return
    if lock is None or lock.project is None:
        yield Finding(
            Location(path), f"the lock holds no package {project.pyproject.name or 'of this folder'}", (RELOCK,)
        )
        return
    name = normalized(extra.name)
    if name not in lock.provided_extras:
        known = ", ".join(sorted(lock.provided_extras)) or "none"
        yield Finding(extra.location, f"{path} does not know extra '{extra.name}'", (RELOCK, f"it knows: {known}"))
        return
    yield from _requirements(project, extra, lock, path)
    yield from _brings(project, extra)


def _requirements(project: Project, extra: Extra, lock: Lock, path: str) -> Iterator[Finding]:
    name = normalized(extra.name)
    written = [_Shape.of(requirement, name) for requirement in extra.requirements if not _is_own(project, requirement)]
    locked = [
        _Shape.of_lock(item, name)
        for item in lock.recorded
        if _belongs(item, name) and item.name != normalized(project.pyproject.name)
    ]
    for shape in written:
        if not any(shape.equals(other) for other in locked):
            yield Finding(
                extra.location, f"{path} does not have the requirement '{shape}' of extra '{extra.name}'", (RELOCK,)
            )
    for shape in locked:
        if not any(shape.equals(other) for other in written):
            yield Finding(
                extra.location,
                f"{path} has the requirement '{shape}' for extra '{extra.name}', pyproject.toml has not",
                (RELOCK,),
            )


def _is_own(project: Project, requirement: Requirement) -> bool:
    return normalized(requirement.name) == normalized(project.pyproject.name)


def _belongs(item: LockedRequirement, extra: str) -> bool:
    return re.search(rf"extra == '{re.escape(extra)}'", item.marker) is not None


@lru_cache(maxsize=1024)
def _where(marker: str, extra: str) -> tuple[bool, ...]:
    """Whether a marker holds, with the extra, on each platform under each Python from 3.8 to 3.15."""
    pythons = [(3, minor) for minor in range(8, 16)]
    active = frozenset({extra})
    return tuple(
        holds(marker, platform, active) for python in pythons for platform in platforms(["os_name != ''"], python)
    )


class _Shape:
    """A requirement in the form that is compared."""

    def __init__(
        self, name: str, extras: frozenset[str], specifier: str, marker: str, extra: str, has_source: bool
    ) -> None:
        self.name = name
        self.extras = extras
        self.specifier = specifier
        self.marker = marker
        self.has_source = has_source
        self.platforms = _where(marker, extra)

    @classmethod
    def of(cls, requirement: Requirement, extra: str) -> _Shape:
        extras = frozenset(map(normalized, requirement.extras))
        marker = str(requirement.marker or "")
        return cls(
            normalized(requirement.name), extras, str(requirement.specifier), marker, extra, requirement.url is not None
        )

    @classmethod
    def of_lock(cls, item: LockedRequirement, extra: str) -> _Shape:
        return cls(item.name, item.extras, item.specifier, item.marker, extra, item.has_source)

    def equals(self, other: _Shape) -> bool:
        from packaging.specifiers import SpecifierSet

        same = (self.name, self.extras, self.platforms) == (other.name, other.extras, other.platforms)
        return same and (
            self.has_source or other.has_source or SpecifierSet(self.specifier) == SpecifierSet(other.specifier)
        )

    def __str__(self) -> str:
        extras = f"[{','.join(sorted(self.extras))}]" if self.extras else ""
        return f"{self.name}{extras}{self.specifier}" + (f"; {self.marker}" if self.marker else "")


def _brings(project: Project, extra: Extra) -> Iterator[Finding]:
    listed = next(
        (names for key, names in project.config.brings.items() if normalized(key) == normalized(extra.name)), ()
    )
    installed = project.provision.distributions(frozenset({normalized(extra.name)}))
    for distribution in listed:
        if normalized(distribution) not in installed:
            place = project.pyproject.at("tool", "pytest-actor-envs", "brings", extra.name)
            yield Finding(
                place,
                f"extra '{extra.name}' does not bring {distribution}, as the lock says",
                ("remove it from the list",),
            )


def mutants(project: Project) -> Iterator[Mutant]:
    path = project.lock_path
    if path is None:
        return
    for extra in project.pyproject.extras:
        name = normalized(extra.name)
        yield Mutant(extra.name, "extra-unknown", _without_provided(project, path, name))
        yield Mutant(extra.name, "requirement-changed", _with_narrower_marker(project, path, name))


def _with_narrower_marker(project: Project, path: str, name: str) -> Files:
    """The first requirement of the extra narrowed to one platform, where the lock records what was required."""
    test = f"extra == '{name}'"
    text = project.tree.read_text(path)
    start = text.find("requires-dist = [")
    if start < 0 or test not in text[start:]:
        raise MutantDoesNotApply(f"{path} records no requirement of {name}")
    return {path: text[:start] + text[start:].replace(test, f"{test} and sys_platform == 'win32'", 1)}


def _without_provided(project: Project, path: str, name: str) -> Files:
    text = project.tree.read_text(path)
    line = re.search(r"^provides-extras = \[.*?\]", text, re.MULTILINE | re.DOTALL)
    if line is None:
        raise MutantDoesNotApply(f"{path} lists no extras")
    return {path: text[: line.start()] + line[0].replace(f'"{name}"', f'"{name}-gone"') + text[line.end() :]}


GUARD = Guard("extra-locked", subjects, check, mutants)
