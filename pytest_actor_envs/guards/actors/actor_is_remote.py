"""What an actor's name resolves to is a Ray actor class: decorated with `ray.remote`, or assigned from it.

Why it matters: `.remote(...)` does not exist on a plain class. The table promises an environment for an actor; for a
class that is none, or for the plain class that an actor is made of, nobody ever asks.

How to fix it: decorate the class with `@ray.remote`, or name in the table the class that is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.actors.resolution import definition_of
from pytest_actor_envs.guards.edits import appended, replaced_node
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.ray_actors import is_ray_actor, is_remote
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    project.blocked_by("actor-resolves", entry.name)
    found = project.modules.definition(entry.module, entry.class_name)
    if found is not None and not is_ray_actor(project.modules, found):
        yield Finding(
            found.location,
            f"{entry.name} is not a Ray actor class",
            (f"decorate {found.name} with `@ray.remote`, or name the actor class in {entry.location}",),
        )


def mutants(project: Project) -> Iterator[Mutant]:
    for entry in project.entries:
        found = definition_of(project, entry.name)
        if found is None:
            continue
        path = found.location.path
        yield Mutant(entry.name, "bound-again", appended(project, path, f"{found.name} = object"))
        if isinstance(found.node, ast.ClassDef):
            module = project.modules.find(found.module)
            assert module is not None
            for decorator in found.node.decorator_list:
                if is_remote(module, decorator):
                    yield Mutant(entry.name, "decorator-gone", replaced_node(project, path, decorator, "staticmethod"))
        elif isinstance(found.node.value, ast.Call):
            for plain in found.node.value.args:
                files = replaced_node(project, path, found.node.value, ast.unparse(plain))
                yield Mutant(entry.name, "assigned-plain", files)


GUARD = Guard("actor-is-remote", subjects, check, mutants)
