"""No two actors with an environment share a class name.

Why it matters: the wrapper script `python-<ClassName>` and log folders are named by the class. Of two actors with
one name the second silently overwrites the first, and one of them starts in the other's environment.

How to fix it: rename one of the two classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import added_entry, added_twin
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    if project.extras_of(entry) is None:
        return
    others = [name for name in project.part(_names_by_class_name, entry.class_name) or () if name != entry.name]
    if not others:
        return
    for other in project.entries:
        if other.name in others:
            yield Finding(
                entry.location,
                f"{entry.name} has the class name of {other.name}, at line {other.location.line}; "
                f"both want the wrapper script python-{entry.class_name}",
                ("rename one of the two classes",),
            )


def _names_by_class_name(project: Project) -> dict[str, list[str]]:
    """Class name -> the actors with an environment that have it."""
    found: dict[str, list[str]] = {}
    for entry in project.entries_with_environment:
        found.setdefault(entry.class_name, []).append(entry.name)
    return found


def mutants(project: Project) -> Iterator[Mutant]:
    for entry in project.entries_with_environment:
        for shape, module in (("same-package", f"{entry.module}_other"), ("other-package", "elsewhere.workers")):
            files = added_entry(project, f"{module}.{entry.class_name}", entry.extras)
            yield Mutant(entry.name, shape, files)
    for entry in project.entries:
        if entry.extras is None:
            twin = f"elsewhere.workers.{entry.class_name}"
            extras = [extra.name for extra in project.pyproject.extras] or ["extra"]
            yield Mutant(entry.name, "given-an-environment", added_twin(project, twin, extras[:1], entry))


GUARD = Guard("actor-name-unique", subjects, check, mutants)
