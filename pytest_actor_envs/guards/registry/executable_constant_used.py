"""Every command-line constant that names extras serves an actor, every list of extras has its constant, none is defined twice.

Why it matters: a constant that serves nobody is the trace of an entry that was not changed along with the code. Of two
definitions the second wins, and the first one, which is read, does not count.

How to fix it: give the entry the constant's extras, or remove the constant; add a constant for a list that has none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_actor_envs.guards.edits import appended, replaced_node
from pytest_actor_envs.guards.observation import registry_observation
from pytest_actor_envs.guards.registry.command_lines import split_command
from pytest_actor_envs.model import Blocked, Finding, Guard, Location, Mutant
from pytest_actor_envs.observed import Raised
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.positions import location_of

FREE = ("SYSTEM", "BASE")
GIVE_OR_REMOVE = "give them to the entry that the constant was made for, or remove the constant"


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of the class of command lines, with the places of its definitions."""

    name: str
    statement: ast.stmt
    location: Location
    again: tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class ExtrasList:
    """The ordered extras of some entries, and where the first of those entries has them."""

    extras: tuple[str, ...]
    location: Location

    @property
    def name(self) -> str:
        return f"extras {' '.join(self.extras)}"


def subjects(project: Project) -> Iterable[Constant | ExtrasList]:
    lists: dict[tuple[str, ...], ExtrasList] = {}
    for entry in project.entries:
        extras = project.extras_of(entry)
        if extras:
            lists.setdefault(extras, ExtrasList(extras, entry.value_location))
    return [*_constants(project), *lists.values()]


def _constants(project: Project) -> list[Constant]:
    path = project.config.executables
    if path is None:
        return []
    try:
        tree = project.modules.parsed(path)
    except SyntaxError:
        return []
    found: dict[str, list[ast.stmt]] = {}
    for node in tree.body:
        for name, statement in _definitions(node, project.config.executables_name):
            found.setdefault(name, []).append(statement)
    content = project.tree.read_bytes(path)
    constants = []
    for name, statements in found.items():
        place, *again = (location_of(path, content, statement) for statement in statements)
        constants.append(Constant(name, statements[0], place, tuple(again)))
    return constants


def _definitions(node: ast.stmt, holder: str) -> Iterator[tuple[str, ast.stmt]]:
    """(constant, statement) of what a statement of the module defines: in the class, or on it from outside."""
    if isinstance(node, ast.ClassDef) and node.name == holder:
        for statement in node.body:
            for target in _targets(statement):
                if isinstance(target, ast.Name) and not target.id.startswith("_"):
                    yield target.id, statement
    for target in _targets(node):
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == holder:
            yield target.attr, node


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) and node.value else []


def check(project: Project, subject: Constant | ExtrasList) -> Iterator[Finding]:
    project.blocked_by("extra-declared")
    again = subject.again if isinstance(subject, Constant) else ()
    for place in again:
        message = f"{subject.name} is defined a second time; the definition at line {subject.location.line} is lost"
        yield Finding(place, message, ("keep one of them",))
    observed = registry_observation(project)
    if isinstance(observed, Raised):
        if again:
            return
        raise Blocked("registry-mirrors-table")
    if isinstance(subject, Constant):
        yield from _unused(project, subject, observed["constants"].get(subject.name))
    elif subject.extras not in map(_extras, observed["constants"].values()):
        message = f"no constant of {project.config.executables_name} has the extras {', '.join(subject.extras)}"
        advice = f"add one to {project.config.executables}: {_suggested(subject.extras)} = ..."
        yield Finding(subject.location, message, (advice,))


def _unused(project: Project, constant: Constant, command: str | None) -> Iterator[Finding]:
    if command is None or constant.name in FREE:
        return
    extras = _extras(command)
    if extras and extras not in {entry.extras for entry in project.entries}:
        message = f"no actor has the extras of {constant.name}: {', '.join(extras)}"
        yield Finding(constant.location, message, (GIVE_OR_REMOVE,))


def _extras(command: str) -> tuple[str, ...]:
    try:
        return split_command(command)[0]
    except ValueError:
        return ()


def _suggested(extras: tuple[str, ...]) -> str:
    return "_".join(extras).upper().replace("-", "_").replace(".", "_")


WITHOUT_EXTRA = ("constant-without-extra", r"_re.sub(r'--extra[ =]\S+', '', {old}, count=1)")
CHANGED = ("constant-changed", "'uv run python'")


def mutants(project: Project) -> Iterator[Mutant]:
    path, holder = project.config.executables, project.config.executables_name
    if path is None:
        return
    observed = registry_observation(project)
    constants = {} if isinstance(observed, Raised) else observed["constants"]
    for subject in subjects(project):
        if isinstance(subject, ExtrasList):
            serving = [f"{holder}.{name}" for name, text in constants.items() if _extras(text) == subject.extras]
            for shape, command in (WITHOUT_EXTRA, CHANGED):
                code = "\n".join(["import re as _re", *(f"{old} = {command.format(old=old)}" for old in serving)])
                yield Mutant(subject.name, shape, appended(project, path, code))
            continue
        again = ast.unparse(subject.statement)
        column = " " * subject.statement.col_offset
        twice = replaced_node(project, path, subject.statement, f"{again}\n{column}{again}")
        yield Mutant(subject.name, "defined-twice", twice)
        outside = f"{holder}.{subject.name} = {holder}.{subject.name}"
        yield Mutant(subject.name, "defined-outside", appended(project, path, outside))


GUARD = Guard("executable-constant-used", subjects, check, mutants)
