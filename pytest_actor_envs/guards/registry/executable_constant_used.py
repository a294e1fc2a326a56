"""Every command-line constant that names extras serves an actor, every list of extras has its constant, none is defined twice.

Why it matters: a constant that serves nobody is the trace of an entry that was not changed along with the code. Of two
definitions the second wins, and the first one, which is read, does not count.

How to fix it: give the entry the constant's extras, or remove the constant; add a constant for a list that has none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pytest_actor_envs.guards.edits import appended, replaced_node
from pytest_actor_envs.guards.observation import registry_observation
from pytest_actor_envs.guards.registry.command_lines import split_command
from pytest_actor_envs.model import Blocked, Finding, Guard, Location, Mutant
from pytest_actor_envs.project import Project, Raised

FREE = ("SYSTEM", "BASE")


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of the class of command lines, with the places of its definitions."""

    name: str
    definitions: tuple[ast.stmt, ...]
    path: str

    @property
    def location(self) -> Location:
        return Location(self.path, self.definitions[0].lineno, self.definitions[0].col_offset + 1)


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
    return [Constant(name, tuple(statements), path) for name, statements in found.items()]


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
    if isinstance(subject, Constant):
        for again in subject.definitions[1:]:
            yield Finding(
                Location(subject.path, again.lineno, again.col_offset + 1),
                f"{subject.name} is defined a second time; the definition at line {subject.definitions[0].lineno} is lost",
                ("keep one of them",),
            )
    observed = registry_observation(project)
    if isinstance(observed, Raised):
        if isinstance(subject, Constant) and subject.definitions[1:]:
            return
        raise Blocked("registry-mirrors-table")
    if isinstance(subject, ExtrasList):
        if not any(_extras(text) == subject.extras for text in observed["constants"].values()):
            yield Finding(
                subject.location,
                f"no constant of {project.config.executables_name} has the extras {', '.join(subject.extras)}",
                (f"add one to {project.config.executables}: {_suggested(subject.extras)} = ...",),
            )
        return
    yield from _unused(project, subject, observed)


def _unused(project: Project, constant: Constant, observed: Any) -> Iterator[Finding]:
    text = observed["constants"].get(constant.name)
    extras = _extras(text) if text is not None and constant.name not in FREE else ()
    lists = {project.extras_of(entry) for entry in project.entries}
    if extras and extras not in lists:
        yield Finding(
            constant.location,
            f"no actor has the extras of {constant.name}: {', '.join(extras)}",
            ("give them to the entry that the constant was made for, or remove the constant",),
        )


def _extras(command: str) -> tuple[str, ...]:
    try:
        return split_command(command)[0]
    except ValueError:
        return ()


def _suggested(extras: tuple[str, ...]) -> str:
    return "_".join(extras).upper().replace("-", "_").replace(".", "_")


def mutants(project: Project) -> Iterator[Mutant]:
    path, holder = project.config.executables, project.config.executables_name
    if path is None:
        return
    observed = registry_observation(project)
    constants = {} if isinstance(observed, Raised) else observed["constants"]
    for subject in subjects(project):
        if isinstance(subject, ExtrasList):
            serving = [name for name, text in constants.items() if _extras(text) == subject.extras]
            code = "\n".join(
                f"{holder}.{name} = {holder}.{name}.replace('--extra {subject.extras[0]}', '')" for name in serving
            )
            yield Mutant(subject.name, "constant-without-extra", appended(project, path, code))
            code = "\n".join(f"{holder}.{name} = 'uv run python'" for name in serving)
            yield Mutant(subject.name, "constant-changed", appended(project, path, code))
            continue
        statement = subject.definitions[0]
        again = ast.unparse(statement)
        column = " " * statement.col_offset
        yield Mutant(
            subject.name, "defined-twice", replaced_node(project, path, statement, f"{again}\n{column}{again}")
        )
        yield Mutant(
            subject.name,
            "defined-outside",
            appended(project, path, f"{holder}.{subject.name} = {holder}.{subject.name}"),
        )


GUARD = Guard("executable-constant-used", subjects, check, mutants)
