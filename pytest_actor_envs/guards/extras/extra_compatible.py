"""The extras of an entry, with those that they pull in, hold no two that `[tool.uv] conflicts` sets against each other.

Why it matters: uv refuses to install two conflicting extras, even from a lock. The command line looks right, and the
environment can never be built.

How to fix it: drop one of the two extras, or, if they do work together, take them out of the conflict set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import with_extras
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.pyproject import Extra, normalized
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    extras = frozenset(normalized(extra) for extra in project.extras_of(entry) or ())
    pulled_in = project.pyproject.base_extras
    present = project.pyproject.with_pulled_in(extras | pulled_in)
    for members, place in project.pyproject.extra_conflicts:
        clashing = sorted(members & present)
        if len(clashing) > 1:
            indirect = [name for name in clashing if name not in extras]
            via = f" ({', '.join(indirect)} pulled in by another)" if indirect else ""
            use = next(
                (use.location for use in reversed(entry.uses or ()) if normalized(use.name) in clashing), entry.location
            )
            yield Finding(
                use,
                f"{entry.class_name} needs {' and '.join(clashing)}, which conflict{via}",
                (f"drop one of them, or take them out of the set at {place}",),
            )


def mutants(project: Project) -> Iterator[Mutant]:
    for entry in project.entries:
        have = {normalized(extra) for extra in entry.extras or ()}
        for members, _ in project.pyproject.extra_conflicts:
            clashing = sorted(members)
            if have & members:
                missing = [_spelling(project, name) for name in clashing if name not in have]
                if missing:
                    yield Mutant(
                        entry.name,
                        "conflicting-added",
                        with_extras(project, entry, [*(entry.extras or ()), missing[0]]),
                    )
            elif entry.extras is None:
                pair = [_spelling(project, name) for name in clashing[:2]]
                yield Mutant(entry.name, "conflicting-pair", with_extras(project, entry, pair))


def _spelling(project: Project, name: str) -> str:
    extra: Extra | None = project.pyproject.extras_by_name.get(name)
    return name if extra is None else extra.name


GUARD = Guard("extra-compatible", subjects, check, mutants)
