"""The command line of each actor is the one that its extras give, in the entry's order; `None` is the driver's own.

Why it matters: the command line is what Ray starts. One that lacks an extra, or has another actor's, builds an
environment in which the actor fails, or works by luck. A default executable in the class that says something else
misleads whoever launches the class without the registry.

How to fix it: build every command line from the entry's extras in one place, and give the class the constant that
stands for the same extras.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_actor_envs.guards.edits import appended, replaced_node
from pytest_actor_envs.guards.observation import function_location, registry_observation, registry_results
from pytest_actor_envs.guards.registry.class_executable import Unknown, class_executable
from pytest_actor_envs.guards.registry.command_lines import split_command
from pytest_actor_envs.model import Finding, Guard, Mutant, Undecided
from pytest_actor_envs.observed import Raised
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.class_attributes import class_attribute
from pytest_actor_envs.sources.table import Entry

Extras = tuple[str, ...] | None


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    assert project.config.registry is not None
    extras, observed = project.extras_of(entry), registry_results(project)
    command = observed["registry"].get(entry.name)
    wrong = None if command is None else wrong_command(command, extras, observed)
    if wrong:
        place = function_location(project, project.config.registry, project.config.registry_name)
        message = f"the command line of {entry.name} {wrong}: {command}"
        yield Finding(place, message, ("build it from the entry's extras, in their order",))
    attribute, holder = project.config.executable_attribute, project.config.executables_name
    default = class_executable(project, entry, observed["constants"])
    if default is None:
        return
    if isinstance(default.command, Unknown):
        if default.command is Unknown.CONSTANT:
            names = ", ".join(sorted(observed["constants"]))
            message = f"{attribute} is {default.written}, which does not exist"
            yield Finding(default.location, message, (f"constants: {names}",))
        elif not wrong:
            raise Undecided(f"{default.location}: {attribute} is `{default.written}`; write {holder}.NAME, or a string")
        return
    contradiction = wrong_command(default.command, extras, observed)
    if contradiction:
        right = [name for name, text in observed["constants"].items() if wrong_command(text, extras, observed) is None]
        advice = f"write {holder}.{right[0]}" if right else f"give the table's extras a constant in {holder}"
        message = f"{attribute} of {entry.class_name} contradicts the table: it {contradiction}"
        yield Finding(default.location, message, (advice,))


def wrong_command(command: str, extras: Extras, observed: Mapping[str, Any]) -> str | None:
    """What is wrong with a command line for these extras, `None` where nothing is."""
    if extras is None:
        return None if command == observed["system"] else "is not the driver's interpreter"
    try:
        flags, rest = split_command(command)
    except ValueError as error:
        return f"cannot be read by a shell ({error})"
    if flags != extras:
        return f"has {_listed(flags)} instead of {_listed(extras)}"
    base = observed["constants"].get("BASE")
    if base is not None and rest != split_command(base)[1]:
        return "differs from BASE by more than its extras"
    return None


def _listed(extras: tuple[str, ...]) -> str:
    return f"the extras {', '.join(extras)}" if extras else "no extras"


# What the registry gives for one entry instead of `{old}`, the command line that it has.
OF_THE_DRIVER = (("environment-for-none", '"uv run python"'), ("interpreter-with-flag", '{old} + " -O"'))
OF_AN_ENVIRONMENT = (
    ("extra-lost", '_re.sub(r"--extra[ =]\\S+", "", {old}, count=1)'),
    ("extra-more", '{old} + " --extra one_more"'),
    ("driver-instead", "_sys.executable"),
)
BESIDE_BASE = ("flag-more", '{old} + " --isolated"')
OF_TWO_EXTRAS = ("order-swapped", '_re.sub(r"(--extra[ =]\\S+ ?)+", "{swapped} ", {old}, count=1)')


def mutants(project: Project) -> Iterator[Mutant]:
    path, name = project.config.registry, project.config.registry_name
    if path is None:
        return
    observed = registry_observation(project)
    constants = {} if isinstance(observed, Raised) else observed["constants"]
    for entry in project.entries:
        extras = entry.extras or ()
        shapes = list(OF_AN_ENVIRONMENT if extras else OF_THE_DRIVER)
        if extras and "BASE" in constants:
            shapes.append(BESIDE_BASE)
        if extras[1:]:
            shapes.append(OF_TWO_EXTRAS)
        swapped = " ".join(f"--extra {extra}" for extra in extras[::-1])
        for shape, template in shapes:
            command = template.format(old=f"{name}[{entry.name!r}]", swapped=swapped)
            code = f"import re as _re, sys as _sys\n{name} = {{**{name}, {entry.name!r}: {command}}}"
            yield Mutant(entry.name, shape, appended(project, path, code))
        found = class_attribute(project.modules, entry.module, entry.class_name, project.config.executable_attribute)
        other = next(
            (text for _, text in sorted(constants.items()) if wrong_command(text, entry.extras, observed)), None
        )
        if found and other:
            yield Mutant(entry.name, "class-default", replaced_node(project, found[0].path, found[1], repr(other)))


GUARD = Guard("executable-matches-extras", subjects, check, mutants)
