"""The table is one dict display: string keys, each once; values `None` or a list of strings, none twice.

Why it matters: the image build, the documentation and these guards read the table by parsing or in a layer where
nothing else exists. A tuple passes every set operation and fails in a concatenation; a key that is written twice
silently loses the first entry; an empty list says "an environment of its own" for an actor that needs none.

How to fix it: write each entry out as `"package.module.Class": ["extra", ...]`, or `None` for the driver's
interpreter, and change the table nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import appended, replaced_span
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
        value = project.tree.read_text(leaf)[slice(*entry.value_span)]
        yield Mutant(
            leaf, "key-twice", replaced_span(project, leaf, (entry.key_span[0],) * 2, f'"{entry.name}": {value}, ')
        )
        if entry.extras is None:
            yield Mutant(leaf, "empty-list", replaced_span(project, leaf, entry.value_span, "[]"))
        else:
            listed = ", ".join(f'"{extra}"' for extra in entry.extras)
            yield Mutant(leaf, "tuple", replaced_span(project, leaf, entry.value_span, f"({listed},)"))
            twice = f'["{entry.extras[0]}", {listed}]'
            yield Mutant(leaf, "extra-twice", replaced_span(project, leaf, entry.value_span, twice))
            yield Mutant(leaf, "call", replaced_span(project, leaf, entry.value_span, f"list([{listed}])"))


GUARD = Guard("leaf-table-literal", subjects, check, mutants)
