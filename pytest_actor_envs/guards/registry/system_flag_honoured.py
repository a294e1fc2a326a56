"""With the system flag set, every actor runs on the driver's interpreter.

Why it matters: the flag is for an installation that already holds everything. An entry that ignores it starts a
`uv run` there, which has no network, no lock, or no right to write.

How to fix it: decide in the one function that builds command lines, so that nothing is built around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import appended
from pytest_actor_envs.guards.observation import (
    function_location,
    raised_finding,
    registry_observation,
    registry_results,
)
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.observed import Raised
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    assert project.config.registry is not None
    flag = project.config.system_flag
    registry_results(project)
    observed = registry_observation(project, system_flag=True)
    if isinstance(observed, Raised):
        yield raised_finding(observed, project.config.registry, f"with {flag}=1, importing the registry")
        return
    command = observed["registry"].get(entry.name)
    if command is not None and command != observed["system"]:
        yield Finding(
            function_location(project, project.config.registry, project.config.registry_name),
            f"{entry.name} ignores {flag}=1: {command}",
            ("build the command line in the one function that honours the flag",),
        )


SHAPES = (
    ("built-around-the-flag", '{name}[{key!r}] = "uv run --locked python"'),
    ("other-interpreter", 'import os\nif os.environ.get({flag!r}) == "1":\n    {name}[{key!r}] = "python3"'),
)


def mutants(project: Project) -> Iterator[Mutant]:
    path, name, flag = project.config.registry, project.config.registry_name, project.config.system_flag
    if path is None:
        return
    for entry in project.entries:
        for shape, code in SHAPES:
            code = code.format(name=name, key=entry.name, flag=flag)
            yield Mutant(entry.name, shape, appended(project, path, code))


GUARD = Guard("system-flag-honoured", subjects, check, mutants)
