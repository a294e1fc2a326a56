"""Importing the registry over a table with a misspelt extra raises, and names the extra.

Why it matters: this is the last look before a cluster. A test that calls the rejecting function itself still passes
when nobody calls that function any more.

How to fix it: compare the table with the declared extras when the registry module is imported, and raise an error
that names each undeclared extra.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import replaced_node
from pytest_actor_envs.guards.observation import raised_finding
from pytest_actor_envs.model import Blocked, Finding, Guard, Location, Mutant, MutantDoesNotApply, Place
from pytest_actor_envs.project import Project, Raised, dotted

MISSPELT = "no_such_extra_2"


def subjects(project: Project) -> Iterable[Place]:
    return [] if project.config.registry is None else [project.place(project.config.registry)]


def check(project: Project, registry: Place) -> Iterator[Finding]:
    project.blocked_by("extra-declared")
    candidates = [entry for entry in project.entries_with_environment if entry.extras]
    if not candidates:
        raise Blocked("leaf-table-literal")
    entry = candidates[0]
    arguments = {
        "registry": dotted(registry.name),
        "leaf": dotted(project.config.leaf),
        "table": project.config.table,
        "entry": entry.name,
        "extras": [*(entry.extras or ())[:-1], MISSPELT],
    }
    observed = project.observe("rejection", arguments)
    if isinstance(observed, Raised):
        yield raised_finding(observed, registry.name, "importing the leaf")
    elif observed is None:
        yield Finding(
            Location(registry.name),
            "importing the registry accepts an extra that pyproject.toml does not declare",
            ("call the function that rejects undeclared extras at the top level of the module",),
        )
    elif MISSPELT not in observed["message"]:
        yield Finding(
            Location(registry.name),
            f"the error for an undeclared extra does not name it: {observed['type']}: {observed['message']}",
            ("name each undeclared extra in the message",),
        )


def mutants(project: Project) -> Iterator[Mutant]:
    path = project.config.registry
    if path is None:
        return
    tree = project.modules.parsed(path)
    calls = [node for node in tree.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    raising = _raising_functions(tree)
    called = [node for node in calls if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in raising]
    if not called:
        raise MutantDoesNotApply(f"{path} calls no function of its own that raises, at its top level")
    for node in called:
        yield Mutant(path, "call-deleted", replaced_node(project, path, node, "pass"))
        assert isinstance(node.value, ast.Call)
        function = raising[ast.unparse(node.value.func)]
        yield Mutant(path, "body-emptied", replaced_node(project, path, function.body[-1], "return None"))
        for raised in (item for item in ast.walk(function) if isinstance(item, ast.Raise)):
            yield Mutant(path, "extra-not-named", replaced_node(project, path, raised, 'raise ValueError("wrong")'))


def _raising_functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and any(isinstance(item, ast.Raise) for item in ast.walk(node))
    }


GUARD = Guard("registry-rejects-undeclared-extra", subjects, check, mutants)
