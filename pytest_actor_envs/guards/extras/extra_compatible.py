"""The extras of an entry, with those that they pull in, hold no two that `[tool.uv] conflicts` sets against each other.

Why it matters: uv refuses to install two conflicting extras, even from a lock. The command line looks right, and the
environment can never be built.

How to fix it: drop one of the two extras, or, if they do work together, take them out of the conflict set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import with_extras
from pytest_actor_envs.guards.extras.declarations import with_conflict
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.pyproject import normalized
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    extras = frozenset(map(normalized, project.extras_of(entry) or ()))
    present = project.pyproject.with_pulled_in(extras | project.pyproject.base_extras)
    for members, place in project.pyproject.extra_conflicts:
        clashing = sorted(members & present)
        if len(clashing) > 1:
            indirect = [name for name in clashing if name not in extras]
            via = f" ({', '.join(indirect)} pulled in by another)" if indirect else ""
            uses = [use.location for use in entry.uses or () if normalized(use.name) in clashing]
            yield Finding(
                [entry.location, *uses][-1],
                f"{entry.class_name} needs {' and '.join(clashing)}, which conflict{via}",
                (f"drop one of them, or take them out of the set at {place}",),
            )


def mutants(project: Project) -> Iterator[Mutant]:
    conflicts = [sorted(members) for members, _ in project.pyproject.extra_conflicts if members]
    spelt = {name: extra.name for name, extra in project.pyproject.extras_by_name.items()}
    for entry in project.entries:
        extras = entry.extras or ()
        if not conflicts:
            both = with_extras(project, entry, [*extras, "this", "that"])
            yield Mutant(entry.name, "conflict-declared", {**both, **with_conflict(project, "this", "that")})
        have = set(map(normalized, extras))
        for members in conflicts:
            missing = [spelt.get(name, name) for name in members if name not in have]
            if missing:
                shape, count = ("conflicting-added", 1) if have & set(members) else ("conflicting-pair", 2)
                yield Mutant(entry.name, shape, with_extras(project, entry, [*extras, *missing[:count]]))


GUARD = Guard("extra-compatible", subjects, check, mutants)
