"""Importing the registry over a table with a misspelt extra raises, and names the extra.

Why it matters: this is the last look before a cluster. A test that calls the rejecting function itself still passes
when nobody calls that function any more.

How to fix it: compare the table with the declared extras when the registry module is imported, and raise an error
that names each undeclared extra.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from pytest_actor_envs.guards.edits import replaced_node
from pytest_actor_envs.guards.observation import raised_finding, registry_results
from pytest_actor_envs.model import Finding, Guard, Location, Mutant, MutantDoesNotApply, Place
from pytest_actor_envs.observed import Raised
from pytest_actor_envs.project import Project, dotted

MISSPELT = "no_such_extra_2"
CALL_IT = "call the function that rejects undeclared extras at the top level of the module"
NAME_IT = "name each undeclared extra in the message"
NOTHING, NAMELESS = "pass", 'raise ValueError("wrong")'


def subjects(project: Project) -> Iterable[Place]:
    path = project.config.registry
    return [] if path is None or not project.entries_with_environment else [project.place(path)]


def check(project: Project, registry: Place) -> Iterator[Finding]:
    registry_results(project)
    observed = observation(project, registry.name)
    if isinstance(observed, Raised):
        yield raised_finding(observed, registry.name, "importing the leaf")
        return
    changed = changes(project)
    for index, raised in enumerate(observed):
        if raised is None:
            message = f"importing the registry accepts an extra that pyproject.toml does not declare: '{MISSPELT}' of "
            yield Finding(Location(registry.name), message + changed[index][0], (CALL_IT,))
        elif MISSPELT not in raised["message"]:
            path, line = raised["frames"][-1]
            first = f"{raised['type']}: {raised['message']}".splitlines()[0]
            yield Finding(
                Location(path, line), f"the error for an undeclared extra does not name it: {first}", (NAME_IT,)
            )


def changes(project: Project) -> list[tuple[str, list[str]]]:
    """(entry, extras with one misspelt): the last extra of the first entry, and the first extra of the last entry."""
    listed = [(entry.name, list(project.extras_of(entry) or ())) for entry in project.entries_with_environment]
    (first, ends), (last, begins) = listed[0], listed[-1]
    return [(first, [*ends[:-1], MISSPELT]), (last, [MISSPELT, *begins[1:]])]


def observation(project: Project, path: str) -> Any:
    """What importing the registry raised over each of `changes`."""
    leaf, table = dotted(project.config.leaf), project.config.table
    arguments = {"registry": dotted(path), "leaf": leaf, "table": table, "changes": changes(project)}
    return project.observe("rejection", arguments)


def mutants(project: Project) -> Iterator[Mutant]:
    path = project.config.registry
    if path is None:
        return
    observed = observation(project, path)
    rejections = [] if isinstance(observed, Raised) else [raised for raised in observed if raised]
    if not rejections:
        raise MutantDoesNotApply(f"{path} rejects nothing")
    frames = rejections[0]["frames"]
    file, line = frames[-1]
    raises = statements_at(project, file, line, ast.Raise)
    if not raises:
        raise MutantDoesNotApply(f"{file}:{line} rejects undeclared extras without a raise statement")
    called = next(number for name, number in frames if name == path)
    for node in statements_at(project, path, called, ast.Expr):
        yield Mutant(path, "call-deleted", replaced_node(project, path, node, NOTHING))
    for node in raises:
        yield Mutant(path, "raise-deleted", replaced_node(project, file, node, NOTHING))
        yield Mutant(path, "extra-not-named", replaced_node(project, file, node, NAMELESS))


def statements_at(project: Project, path: str, line: int, kind: type[ast.stmt]) -> list[ast.stmt]:
    """The innermost statement of a kind that stands at a line of a file, or none."""
    tree = project.modules.parsed(path)
    nodes = [node for node in ast.walk(tree) if isinstance(node, kind)]
    return [node for node in nodes if node.lineno <= line <= node.end_lineno][-1:]  # type: ignore[operator]


GUARD = Guard("registry-rejects-undeclared-extra", subjects, check, mutants)
