"""The table is one dict display: string keys, each once; values `None` or a list of strings, none twice.

Why it matters: the image build, the documentation and these guards read the table by parsing or in a layer where
nothing else exists. A tuple passes every set operation and fails in a concatenation; a key that is written twice
silently loses the first entry; an empty list says "an environment of its own" for an actor that needs none.

How to fix it: write each entry out as `"package.module.Class": ["extra", ...]`, or `None` for the driver's
interpreter, and change the table nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import appended, replaced_span, written_extras
from pytest_actor_envs.model import Finding, Guard, Mutant, Place
from pytest_actor_envs.project import Project


def subjects(project: Project) -> Iterable[Place]:
    return [Place(project.config.leaf, project.table.location)]


def check(project: Project, leaf: Place) -> Iterator[Finding]:
    for problem in project.table.problems:
        of_entry = f" (entry {problem.entry})" if problem.entry and problem.entry not in problem.message else ""
        yield Finding(problem.location, problem.message + of_entry, (problem.fix,))


def mutants(project: Project) -> Iterator[Mutant]:
    leaf, table = project.config.leaf, project.config.table
    yield Mutant(leaf, "assigned-later", appended(project, leaf, f'{table}["added.later.Actor"] = None'))
    for entry in project.entries:
        shapes = [("key-twice", f"{written_extras(entry.extras)}, {json.dumps(entry.name)}: None")]
        if entry.extras is None:
            shapes.append(("empty-list", "[]"))
        else:
            listed = ", ".join(map(json.dumps, entry.extras))
            shapes += [
                ("tuple", f"({listed},)"),
                ("extra-twice", f"[{listed}, {json.dumps(entry.extras[0])}]"),
                ("call", f"list([{listed}])"),
            ]
        for shape, value in shapes:
            yield Mutant(leaf, shape, replaced_span(project, leaf, entry.value_span, value))


GUARD = Guard("leaf-table-literal", subjects, check, mutants)
