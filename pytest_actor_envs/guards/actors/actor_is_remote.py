"""What an actor's name resolves to is a Ray actor class: decorated with `ray.remote`, or assigned from it.

Why it matters: `.remote(...)` does not exist on a plain class. The table promises an environment for an actor; for a
class that is none, or for the plain class that an actor is made of, nobody ever asks.

How to fix it: decorate the class with `@ray.remote`, or name in the table the class that is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import replaced_node
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.ray_actors import is_ray_actor
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    project.blocked_by("actor-resolves", entry.name)
    found = project.modules.definition(entry.module, entry.class_name)
    if found is None or is_ray_actor(project.modules, found):
        return
    yield Finding(
        found.location,
        f"{entry.name} is not a Ray actor class",
        (f"decorate {found.name} with `@ray.remote`, or name the actor class in {entry.location}",),
    )


def mutants(project: Project) -> Iterator[Mutant]:
    for entry in project.entries:
        found = project.modules.definition(entry.module, entry.class_name)
        path = project.modules.path_of(found.module) if found else None
        if found is None or path is None:
            continue
        if isinstance(found.node, ast.ClassDef):
            first = found.node.decorator_list[0]
            yield Mutant(entry.name, "decorator-gone", replaced_node(project, path, first, "staticmethod"))
            yield Mutant(entry.name, "plain-class", replaced_node(project, path, found.node, _plain_class(found.node)))
        elif found.node.value is not None:
            value = found.node.value
            inner = ast.unparse(value.args[0]) if isinstance(value, ast.Call) and value.args else "object"
            yield Mutant(entry.name, "assigned-plain", replaced_node(project, path, found.node.value, inner))
            yield Mutant(entry.name, "assigned-none", replaced_node(project, path, found.node.value, "None"))


def _plain_class(node: ast.ClassDef) -> str:
    """Source that can stand where the `class` keyword of a decorated class stands: the class without decorators."""
    bases = ", ".join(ast.unparse(base) for base in (*node.bases, *node.keywords))
    return f"class _Decorated: pass\nclass {node.name}({bases}): pass"


GUARD = Guard("actor-is-remote", subjects, check, mutants)
