"""The registry has exactly the table's actors, and nobody replaces an entry afterwards.

Why it matters: the registry is what the launcher asks. An actor that is missing in it raises at launch; one that it
has beside the table is invisible to the image build, so that its environment is never pre-built.

How to fix it: build the registry from the table alone, in one expression, and assign to it nowhere else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import appended
from pytest_actor_envs.guards.observation import function_location, raised_finding, registry_observation
from pytest_actor_envs.model import Finding, Guard, Mutant, Place
from pytest_actor_envs.observed import Raised
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.positions import location_of

ADVICE = "build the registry from the table alone, in one expression"


def subjects(project: Project) -> Iterable[Place]:
    path = project.config.registry
    return [] if path is None else [Place(path, function_location(project, path, project.config.registry_name))]


def check(project: Project, registry: Place) -> Iterator[Finding]:
    names = {entry.name for entry in project.entries}
    project.blocked_by("extra-declared")
    name = project.config.registry_name
    observed = registry_observation(project)
    if isinstance(observed, Raised):
        yield raised_finding(observed, registry.name, "importing the registry")
        return
    for missing in sorted(names - set(observed["registry"])):
        yield Finding(registry.location, f"{name} lacks {missing}, which the table has", (ADVICE,))
    for extra in sorted(set(observed["registry"]) - names):
        advice = f"add it to {project.config.leaf}; {ADVICE}"
        yield Finding(registry.location, f"{name} has {extra}, which the table does not have", (advice,))
    for statement in project.modules.parsed(registry.name).body:
        for node, key in project.files.of_statement(replacements, statement, name):
            place = location_of(registry.name, project.tree.read_bytes(registry.name), node)
            yield Finding(place, f"changes the entry {key} of {name} after it was built", (ADVICE,))


def replacements(statement: ast.stmt, name: str) -> list[tuple[ast.expr, str]]:
    """Where one entry, named by a literal, is set or removed: the node and the key."""
    return list(_replacements(statement, name))


def _replacements(statement: ast.stmt, name: str) -> Iterator[tuple[ast.expr, str]]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            holder, keys = node.value, [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            holder, keys = node.func.value, _keys(node.func.attr, node.args)
        else:
            continue
        if isinstance(holder, ast.Name) and holder.id == name:
            literals = [key.value for key in keys if isinstance(key, ast.Constant)]
            yield from ((node, key) for key in literals if isinstance(key, str))


BY_KEY = frozenset({"pop", "setdefault", "__setitem__", "__delitem__"})
BY_DICT = frozenset({"update", "__ior__"})


def _keys(method: str, arguments: list[ast.expr]) -> list[ast.expr]:
    if method in BY_KEY:
        return arguments[:1]
    if method in BY_DICT:
        return [key for node in arguments if isinstance(node, ast.Dict) for key in node.keys if key is not None]
    return []


OF_AN_ENTRY = (
    ("entry-lost", "{name} = dict({name})\ndel {name}[{key!r}]"),
    ("entry-replaced", '{name}[{key!r}] = {name}[{key!r}] + ""'),
)
OF_THE_REGISTRY = (
    ("entry-added", '{name} = {{**{name}, "added.by.Somebody": "python"}}'),
    ("emptied", "{name} = {{}}"),
    ("import-fails", 'raise RuntimeError("not today")'),
)


def mutants(project: Project) -> Iterator[Mutant]:
    path, name = project.config.registry, project.config.registry_name
    if path is None:
        return
    codes = [(shape, code.format(name=name)) for shape, code in OF_THE_REGISTRY]
    for entry in project.entries:
        codes.extend((shape, code.format(name=name, key=entry.name)) for shape, code in OF_AN_ENTRY)
    for shape, code in codes:
        yield Mutant(path, shape, appended(project, path, code))


GUARD = Guard("registry-mirrors-table", subjects, check, mutants)
