"""The command line of each actor is the one that its extras give, in the entry's order; `None` is the driver's own.

Why it matters: the command line is what Ray starts. One that lacks an extra, or has another actor's, builds an
environment in which the actor fails, or works by luck. A default executable in the class that says something else
misleads whoever launches the class without the registry.

How to fix it: build every command line from the entry's extras in one place, and give the class the constant that
stands for the same extras.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_actor_envs.guards.edits import appended, replaced_node
from pytest_actor_envs.guards.observation import function_location, raised_finding, registry_observation
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project, Raised
from pytest_actor_envs.sources.class_attributes import class_attribute
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    assert project.config.registry is not None
    project.blocked_by("extra-declared")
    extras = project.extras_of(entry)
    observed = registry_observation(project)
    if isinstance(observed, Raised):
        yield raised_finding(observed, project.config.registry, "importing the registry")
        return
    command = observed["registry"].get(entry.name)
    place = function_location(project, project.config.registry, project.config.registry_name)
    if command is not None:
        wrong = wrong_command(command, extras, observed)
        if wrong:
            yield Finding(place, f"the command line of {entry.name} {wrong}: {command}", ("build it from the entry's extras",))
    yield from _class_default(project, entry, extras, observed)


def wrong_command(command: str, extras: tuple[str, ...] | None, observed: Mapping[str, Any]) -> str | None:
    """What is wrong with a command line for these extras, `None` where nothing is."""
    if extras is None:
        return None if command == observed["system"] else "is not the driver's interpreter"
    words = shlex.split(command)
    flags = tuple(words[index + 1] for index, word in enumerate(words[:-1]) if word == "--extra")
    if flags != extras:
        return f"has the extras {', '.join(flags) or 'none'} instead of {', '.join(extras)}"
    base = observed["constants"].get("BASE")
    rest = [word for index, word in enumerate(words) if word != "--extra" and words[index - 1 : index] != ["--extra"]]
    if base is not None and rest != shlex.split(base):
        return "differs from BASE by more than its extras"
    return None


def _class_default(
    project: Project, entry: Entry, extras: tuple[str, ...] | None, observed: Mapping[str, Any]
) -> Iterator[Finding]:
    attribute = project.config.executable_attribute
    found = class_attribute(project.modules, entry.module, entry.class_name, attribute)
    if found is None:
        return
    location, value = found
    command: str | None = None
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        command = value.value
    elif isinstance(value, ast.Attribute):
        command = observed["constants"].get(value.attr)
        if command is None:
            yield Finding(location, f"{attribute} names {ast.unparse(value)}, which does not exist", (_constants(observed),))
            return
    if command is None:
        return
    wrong = wrong_command(command, extras, observed)
    if wrong:
        right = [name for name, text in observed["constants"].items() if wrong_command(text, extras, observed) is None]
        advice = f"write {project.config.executables_name}.{right[0]}" if right else "give the table's extras a constant"
        yield Finding(location, f"{attribute} of {entry.class_name} contradicts the table: it {wrong}", (advice,))


def _constants(observed: Mapping[str, Any]) -> str:
    return f"constants: {', '.join(sorted(observed['constants']))}"


def mutants(project: Project) -> Iterator[Mutant]:
    path, name = project.config.registry, project.config.registry_name
    if path is None:
        return
    observed = registry_observation(project)
    constants = {} if isinstance(observed, Raised) else observed["constants"]
    for entry in project.entries:
        key = f'{name}["{entry.name}"]'
        extras = entry.extras
        if extras is None:
            yield Mutant(entry.name, "environment-for-none", appended(project, path, f'{key} = "uv run python"'))
        else:
            yield Mutant(entry.name, "extra-lost", appended(project, path, f'{key} = {key}.replace("--extra {extras[0]}", "", 1)'))
            yield Mutant(entry.name, "driver-instead", appended(project, path, f"import sys\n{key} = sys.executable"))
            yield Mutant(entry.name, "flag-more", appended(project, path, f'{key} = {key} + " --isolated"'))
            if len(extras) > 1:
                flags = [" ".join(f"--extra {extra}" for extra in listed) for listed in (extras, extras[::-1])]
                yield Mutant(entry.name, "order-swapped", appended(project, path, f'{key} = {key}.replace("{flags[0]}", "{flags[1]}")'))
        found = class_attribute(project.modules, entry.module, entry.class_name, project.config.executable_attribute)
        if found is not None and isinstance(found[1], ast.Attribute):
            other = next((c for c, text in sorted(constants.items()) if wrong_command(text, extras, observed)), None)
            if other is not None:
                value = f"{ast.unparse(found[1].value)}.{other}"
                yield Mutant(entry.name, "class-default", replaced_node(project, found[0].path, found[1], value))


GUARD = Guard("executable-matches-extras", subjects, check, mutants)
