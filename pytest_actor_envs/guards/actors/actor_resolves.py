"""Every actor's name resolves, by parsing, to a module of the project that defines its class.

Why it matters: a class that was moved or renamed, while the table was not, raises when the actor is launched: at the
start of a run on a cluster, not in review.

How to fix it: write the entry's key as the module that defines or re-exports the class, a dot, and the class.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import renamed_entry, replaced_node
from pytest_actor_envs.model import Finding, Guard, Location, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    try:
        path = project.modules.path_of(entry.module)
        found = project.modules.definition(entry.module, entry.class_name) if path else None
    except SyntaxError as error:
        place = Location(error.filename or project.config.leaf, error.lineno or 1, error.offset or 1)
        yield Finding(
            place,
            f"{entry.name} cannot be looked up, since this file is not valid Python: {error.msg}",
            ("mend the syntax",),
        )
        return
    if found is not None:
        return
    elsewhere = project.modules.modules_defining(entry.class_name)
    if elsewhere:
        advice = [f'write "{module}.{entry.class_name}"' for module in elsewhere]
    else:
        advice = [f"did you mean '{name}'?" for name in _close(project, entry)] or [
            "define the class there, or remove the entry"
        ]
    if path is None:
        message = f"there is no module {entry.module} for {entry.class_name or entry.name}"
    else:
        message = f"{path} defines no class {entry.class_name} at its top level"
    yield Finding(entry.location, message, tuple(advice))


def _close(project: Project, entry: Entry) -> list[str]:
    known = list(project.modules.names())
    module = (
        entry.module if entry.module in known else next(iter(difflib.get_close_matches(entry.module, known, n=1)), None)
    )
    if module is None:
        return []
    names = project.modules.top_level_names(module)
    close = difflib.get_close_matches(entry.class_name, names, n=1)
    return [f"{module}.{close[0]}"] if close else []


def mutants(project: Project) -> Iterator[Mutant]:
    for entry in project.entries:
        parts = entry.name.split(".")
        for index, part in enumerate(parts):
            misspelt = ".".join([*parts[:index], f"{part}_gone", *parts[index + 1 :]])
            shape = "class-misspelt" if index == len(parts) - 1 else "module-misspelt"
            yield Mutant(misspelt, shape, renamed_entry(project, entry, misspelt))
        found = project.modules.definition(entry.module, entry.class_name)
        path = project.modules.path_of(found.module) if found else None
        if found is not None and path is not None:
            yield Mutant(entry.name, "definition-removed", replaced_node(project, path, found.node, "pass"))
            if found.module == entry.module:
                moved = path.removesuffix(".py") + "_moved.py"
                yield Mutant(entry.name, "module-moved", {path: None, moved: project.tree.read_text(path)})


GUARD = Guard("actor-resolves", subjects, check, mutants)
