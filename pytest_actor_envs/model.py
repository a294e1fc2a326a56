"""The words of the plugin as frozen data (design: words): no behaviour, no I/O."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pytest_actor_envs.project import Project


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in the guarded project: `path` relative to its root, with `/`; line and column count from 1."""

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


class Subject(Protocol):
    """What one guard looks at once. `name` makes the item's id and is unique within the guard."""

    @property
    def name(self) -> str: ...

    @property
    def location(self) -> Location: ...


@dataclass(frozen=True, slots=True)
class Place:
    """A subject that is nothing but a name and a location: a file, a stage, an argument."""

    name: str
    location: Location


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation. `fix` holds lines that say what to do; a line that starts with `    ` is text to paste."""

    location: Location
    message: str
    fix: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mutant:
    """The guarded project with one thing broken on purpose.

    `subject` names the guard's subject that must break. `shape` names the syntactic form of the break.
    `files` maps a path to its new text, or to `None` for a file that is gone.
    """

    subject: str
    shape: str
    files: Mapping[str, str | None] = field(hash=False)


class Verdict(enum.Enum):
    """What evaluating one guard on one subject came to; only `HOLDS` is green."""

    HOLDS = "holds"
    BROKEN = "broken"
    BLOCKED = "blocked"
    UNDECIDED = "undecided"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One verdict with what explains it: findings of a broken guard, else a reason (a traceback for a crash)."""

    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    reason: str = ""


class Blocked(Exception):
    """Another guard already rejects what this one would look at; the argument is that guard's name."""


class Undecided(Exception):
    """The answer cannot be known from here; the argument says why and what to add to decide it."""


class MutantDoesNotApply(Exception):
    """The project has nothing that this mutant could break: its anchor does not exist (any more)."""


class ConfigurationError(Exception):
    """`[tool.pytest-actor-envs]` cannot be used; the message is `path:line:column: what` and the way out."""


@dataclass(frozen=True, slots=True)
class Guard:
    """One invariant.

    `subjects(project)` gives the subjects; none at all is a failure. `check(project, subject)` yields findings,
    or raises `Blocked` or `Undecided`; it is pure and reads only through `project`. `mutants(project)` yields
    mutants of that very project.
    """

    name: str
    subjects: Callable[[Project], Iterable[Any]]
    check: Callable[[Project, Any], Iterable[Finding]]
    mutants: Callable[[Project], Iterable[Mutant]]

    @property
    def family(self) -> str:
        """The folder that the guard's file stands in, empty for one that stands in none."""
        return self.check.__module__.rpartition(".")[0].rpartition(".")[2]

    @property
    def explanation(self) -> str:
        """The docstring of the guard's file."""
        return (sys.modules[self.check.__module__].__doc__ or "").strip()
