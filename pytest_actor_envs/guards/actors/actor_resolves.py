"""Every actor's name resolves, by parsing, to a module of the project that defines its class.

Why it matters: a class that was moved or renamed, while the table was not, raises when the actor is launched: at the
start of a run on a cluster, not in review.

How to fix it: write the entry's key as the module that defines or re-exports the class, a dot, and the class.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.actors.resolution import definition_of
from pytest_actor_envs.guards.edits import renamed_entry
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.modules import syntax_error_place
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    try:
        found = project.modules.definition(entry.module, entry.class_name)
    except SyntaxError as error:
        yield Finding(
            syntax_error_place(error, str(error.filename)),
            f"{entry.name} cannot be looked up, since this file is not valid Python: {error.msg}",
            ("mend the syntax",),
        )
        return
    if found is None:
        yield Finding(entry.location, _message(project, entry), tuple(_advice(project, entry)))


def _message(project: Project, entry: Entry) -> str:
    if not (entry.module and entry.class_name):
        return f"'{entry.name}' is not the dotted name of a class in a module"
    path = project.modules.path_of(entry.module)
    if path is None:
        return f"there is no module {entry.module} for {entry.class_name}"
    return f"{path} defines no class {entry.class_name} at its top level"


def suggested(project: Project, entry: Entry) -> list[str]:
    """The names that are suggested for an entry: none for one that resolves, or whose file is not valid Python."""
    try:
        if project.modules.definition(entry.module, entry.class_name) is not None:
            return []
    except SyntaxError:
        return []
    return _defining(project, entry) or _close(project, entry)


def _advice(project: Project, entry: Entry) -> list[str]:
    return (
        [f'write "{name}"' for name in _defining(project, entry)]
        or [f"did you mean '{name}'?" for name in _close(project, entry)]
        or ["define the class there, or remove the entry"]
    )


def _defining(project: Project, entry: Entry) -> list[str]:
    return [f"{module}.{entry.class_name}" for module in project.modules.modules_defining(entry.class_name)]


def _close(project: Project, entry: Entry) -> list[str]:
    modules = difflib.get_close_matches(entry.module, list(project.modules.names()))[:1]
    try:
        names = [(module, name) for module in modules for name in project.modules.top_level_names(module)]
    except SyntaxError:
        return []
    close = difflib.get_close_matches(entry.class_name, [name for _, name in names])
    return [f"{module}.{name}" for module, name in names if name in close[:1]]


def mutants(project: Project) -> Iterator[Mutant]:
    for entry in project.entries:
        parts = entry.name.split(".")
        for index, part in enumerate(parts):
            misspelt = ".".join([*parts[:index], f"{part}_gone", *parts[index + 1 :]])
            shape = "module-misspelt" if parts[index + 1 :] else "class-misspelt"
            yield Mutant(misspelt, shape, renamed_entry(project, entry, misspelt))
        found = definition_of(project, entry.name)
        if found is not None:
            path = found.location.path
            yield Mutant(entry.name, "definition-gone", {path: ""})
            if found.module == entry.module:
                moved = path.removesuffix(".py") + "_moved.py"
                yield Mutant(entry.name, "module-moved", {path: None, moved: project.tree.read_text(path)})


GUARD = Guard("actor-resolves", subjects, check, mutants)
