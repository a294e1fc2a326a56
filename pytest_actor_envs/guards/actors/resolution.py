"""What names resolve to, asked once for each state of a project."""

from __future__ import annotations

from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.modules import ClassDefinition
from pytest_actor_envs.sources.table import Entry

Key = tuple[str, str]
"""(module that defines, name): what classes are compared by."""


def definition_of(project: Project, name: str) -> ClassDefinition | None:
    """What a dotted name resolves to; `None` where nothing does, or where a file on the way cannot be parsed."""
    module, _, class_name = name.rpartition(".")
    try:
        return project.modules.definition(module, class_name)
    except SyntaxError:
        return None


def key_of(project: Project, name: str) -> Key | None:
    """The same as what classes are compared by; `X = Y` makes `X` another name of `Y`."""
    module, _, class_name = name.rpartition(".")
    try:
        found = project.modules.definition(module, class_name)
        meant = None if found is None else project.modules.unaliased(found)
    except SyntaxError:
        return None
    return None if meant is None else (meant.module, meant.name)


def names_by_class(project: Project) -> dict[Key | None, list[str]]:
    """The names of the entries of each class; those that do not resolve are under `None`."""
    return {key: [entry.name for entry in entries] for key, entries in project.once(entries_by_class).items()}


def entries_by_class(project: Project) -> dict[Key | None, list[Entry]]:
    """The entries of each class; those that do not resolve are under `None`."""
    found: dict[Key | None, list[Entry]] = {}
    for entry in project.entries:
        found.setdefault(key_of(project, entry.name), []).append(entry)
    return found
