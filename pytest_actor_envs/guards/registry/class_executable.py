"""The default command line that an actor's class declares, resolved by parsing to a constant's observed value."""

from __future__ import annotations

import ast
import enum
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_actor_envs.model import Location
from pytest_actor_envs.project import Project, dotted
from pytest_actor_envs.sources.class_attributes import class_attribute
from pytest_actor_envs.sources.modules import dotted_name
from pytest_actor_envs.sources.table import Entry


class Unknown(enum.Enum):
    """Why a command line is not known."""

    CONSTANT = "it names a constant that the executables do not have"
    EXPRESSION = "parsing cannot tell what it is"


@dataclass(frozen=True, slots=True)
class ClassExecutable:
    """The attribute's value as it is written, where it stands, and the command line that it comes to."""

    location: Location
    written: str
    command: str | Unknown


def class_executable(project: Project, entry: Entry, constants: Mapping[str, str]) -> ClassExecutable | None:
    """The default of an entry's class or its bases; `None` where there is none, or it is `None`."""
    found = class_attribute(project.modules, entry.module, entry.class_name, project.config.executable_attribute)
    if found is None:
        return None
    location, value = found
    if isinstance(value, ast.Constant) and value.value is None:
        return None
    return ClassExecutable(location, ast.unparse(value), _command(project, location.path, value, constants))


def _command(project: Project, path: str, value: ast.expr, constants: Mapping[str, str]) -> str | Unknown:
    module = project.modules.find(dotted(path))
    assert module is not None
    if isinstance(value, ast.Name):
        bound = module.bindings.get(value.id)
        if isinstance(bound, ast.Assign | ast.AnnAssign) and bound.value is not None:
            value = bound.value
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    name = dotted_name(value)
    if name is None:
        return Unknown.EXPRESSION
    holder, _, constant = module.full_name(name).rpartition(".")
    if holder.rpartition(".")[2] != project.config.executables_name:
        return Unknown.EXPRESSION
    return constants.get(constant, Unknown.CONSTANT)
