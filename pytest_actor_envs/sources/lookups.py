"""Where a module looks actors up by name, and where it changes the registry or the table, by parsing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.modules import Module, Modules, dotted_name
from pytest_actor_envs.sources.names import Bindings

CHANGING = frozenset({"update", "setdefault", "pop", "popitem", "clear", "__setitem__", "__delitem__", "__ior__"})


@dataclass(frozen=True, slots=True)
class Lookup:
    """One name that is looked up: the expression that says it."""

    node: ast.expr
    location: Location
    needs_literal: bool
    """Whether anything but a literal leaves open what is looked up; a launcher may be given the class itself."""


@dataclass(frozen=True, slots=True)
class RegistryUses:
    """What one module does with the registry: look names up, or change it; and where it changes the table."""

    lookups: tuple[Lookup, ...]
    changes: tuple[Location, ...]
    table_changes: tuple[Location, ...]


def registry_uses(
    module: Module, functions: Sequence[str], launchers: Sequence[str], registry: str, table: str
) -> RegistryUses:
    """The uses in one module.

    `functions` and `launchers` are names, dotted or not; `registry` and `table` are the mappings' names.
    """
    bindings = Bindings(module)
    lookups: list[Lookup] = []

    def is_registry(node: ast.expr) -> bool:
        return bindings.is_named(node, (registry,))

    for node in bindings.nodes:
        if isinstance(node, ast.Call):
            first = first_argument(node)
            if isinstance(node.func, ast.Attribute) and is_registry(node.func.value):
                if node.func.attr in {"get", "__getitem__", "__contains__"} and first is not None:
                    lookups.append(Lookup(first, module.at(first), True))
            elif first is not None and bindings.is_named(node.func, functions):
                lookups.append(Lookup(first, module.at(first), True))
            elif first is not None and bindings.is_named(node.func, launchers):
                lookups.append(Lookup(first, module.at(first), False))
        elif isinstance(node, ast.Subscript) and is_registry(node.value):
            if isinstance(node.ctx, ast.Load):
                lookups.append(Lookup(node.slice, module.at(node.slice), True))
        elif isinstance(node, ast.Compare):
            for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                if isinstance(operator, ast.In | ast.NotIn) and is_registry(right):
                    lookups.append(Lookup(left, module.at(left), True))
    changes, of_table = (tuple(_changes(module, bindings, name)) for name in (registry, table))
    return RegistryUses(tuple(lookups), changes, of_table)


def _changes(module: Module, bindings: Bindings, mapping: str) -> Iterator[Location]:
    """Where a mapping is changed, or another one put in its place."""

    def is_mapping(node: ast.expr) -> bool:
        return bindings.is_named(node, (mapping,))

    for node in bindings.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changed = node.func.attr in CHANGING and is_mapping(node.func.value)
        elif isinstance(node, ast.Subscript):
            changed = not isinstance(node.ctx, ast.Load) and is_mapping(node.value)
        elif isinstance(node, ast.AugAssign):
            changed = is_mapping(node.target)
        elif isinstance(node, ast.Attribute):
            changed = not isinstance(node.ctx, ast.Load) and is_mapping(node)
        else:
            continue
        if changed:
            yield module.at(node)


def uses_registry(
    module: Module, functions: Sequence[str], launchers: Sequence[str], registry: str, table: str
) -> bool:
    """Whether a module has any such use."""
    uses = registry_uses(module, functions, launchers, registry, table)
    return bool(uses.lookups or uses.changes or uses.table_changes)


def first_argument(call: ast.Call) -> ast.expr | None:
    """The first argument of a call, given by place or by name; `None` where it is unpacked or missing."""
    if call.args:
        return None if isinstance(call.args[0], ast.Starred) else call.args[0]
    return next((keyword.value for keyword in call.keywords if keyword.arg), None)


def literal_text(modules: Modules, module: Module, node: ast.expr) -> str | None:
    """The string that an expression is: a literal, or a constant of a module or class that is one."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    name = dotted_name(node)
    if name is None:
        return None
    owner, _, constant = name.rpartition(".")
    if owner:
        return next((text for text in _class_constants(module, owner, constant)), None)
    if isinstance(node, ast.Name) and not _is_module_constant(module, node):
        return None
    found = modules.definition(module.name, name)
    value = getattr(found.node, "value", None) if found is not None else None
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _is_module_constant(module: Module, node: ast.Name) -> bool:
    """Whether no function that the name stands in gives it a value of its own."""
    for function in ast.walk(module.tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inside = list(ast.walk(function))
            if any(child is node for child in inside) and any(
                (isinstance(child, ast.Name) and child.id == node.id and not isinstance(child.ctx, ast.Load))
                or (isinstance(child, ast.arg) and child.arg == node.id)
                for child in inside
            ):
                return False
    return True


def _class_constants(module: Module, owner: str, constant: str) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef) and owner in {"self", "cls", node.name}:
            for statement in node.body:
                targets = (
                    statement.targets
                    if isinstance(statement, ast.Assign)
                    else [statement.target]
                    if isinstance(statement, ast.AnnAssign)
                    else []
                )
                value = getattr(statement, "value", None)
                if any(isinstance(target, ast.Name) and target.id == constant for target in targets):
                    if isinstance(value, ast.Constant) and isinstance(value.value, str):
                        yield value.value
