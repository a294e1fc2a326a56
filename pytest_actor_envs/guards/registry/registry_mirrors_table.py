"""The registry has exactly the table's actors, and nobody replaces an entry afterwards.

Why it matters: the registry is what the launcher asks. An actor that is missing in it raises at launch; one that it
has beside the table is invisible to the image build, so that its environment is never pre-built.

How to fix it: build the registry from the table alone, in one expression, and assign to it nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import appended
from pytest_actor_envs.guards.observation import function_location, raised_finding, registry_observation
from pytest_actor_envs.model import Finding, Guard, Mutant, Place
from pytest_actor_envs.project import Project, Raised


def subjects(project: Project) -> Iterable[Place]:
    path = project.config.registry
    return [] if path is None else [Place(path, function_location(project, path, project.config.registry_name))]


def check(project: Project, registry: Place) -> Iterator[Finding]:
    names = {entry.name for entry in project.entries}
    project.blocked_by("extra-declared")
    observed = registry_observation(project)
    if isinstance(observed, Raised):
        yield raised_finding(observed, registry.name, "importing the registry")
        return
    name = project.config.registry_name
    for missing in sorted(names - set(observed["registry"])):
        yield Finding(registry.location, f"{name} lacks {missing}, which the table has", ("build it from the table alone",))
    for extra in sorted(set(observed["registry"]) - names):
        yield Finding(
            registry.location,
            f"{name} has {extra}, which the table does not have",
            (f"add it to {project.config.leaf}, and build the registry from the table alone",),
        )


def mutants(project: Project) -> Iterator[Mutant]:
    path, name = project.config.registry, project.config.registry_name
    if path is None:
        return
    for entry in project.entries:
        yield Mutant(path, "entry-lost", appended(project, path, f'del {name}["{entry.name}"]'))
    yield Mutant(path, "entry-added", appended(project, path, f'{name}["added.by.Somebody"] = "python"'))
    yield Mutant(path, "emptied", appended(project, path, f"{name} = {{}}"))
    yield Mutant(path, "import-fails", appended(project, path, 'raise RuntimeError("not today")'))


GUARD = Guard("registry-mirrors-table", subjects, check, mutants)
