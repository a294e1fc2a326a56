"""Where a module launches Ray actors by their class, and with which runtime environment, by parsing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.modules import Module
from pytest_actor_envs.sources.names import Bindings

FOLDER_VARIABLES = ("VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT")


@dataclass(frozen=True, slots=True)
class Launch:
    """One `.remote(...)` on a class, or on a plain class wrapped on the spot. `actor` is the class's full dotted name.

    `runtime_env` is what the options give as such, `None` where they give none; `unpacked` are mappings that give
    options. `scope` is the function around the launch, or the module.
    """

    actor: str
    location: Location
    runtime_env: ast.expr | None
    unpacked: tuple[ast.expr, ...]
    scope: ast.AST


def launches(module: Module) -> tuple[Launch, ...]:
    """The launches of one module, whatever their classes are."""
    return tuple(_launches(module))


def launched_names(module: Module) -> list[str]:
    """The full dotted names of what a module launches."""
    return sorted({launch.actor for launch in launches(module)})


def _launches(module: Module) -> Iterator[Launch]:
    bindings = Bindings(module)
    for scope, node in _with_scopes(module.tree, module.tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "remote"):
            continue
        target, options = _unwrapped(node.func.value, bindings)
        held = Flow(module, scope).values(target) if isinstance(target, ast.Name) else []
        if len(held) == 1 and _gives_options(held[0]):
            target, before = _unwrapped(held[0], bindings)
            options.extend(before)
        name = bindings.full_name(target)
        if name is None or name.partition(".")[0] in {"self", "ray"}:
            continue
        actor = name if "." in name else f"{module.name}.{name}"
        given = next((option.value for option in options if option.arg == "runtime_env"), None)
        yield Launch(
            actor, module.at(node), given, tuple(option.value for option in options if option.arg is None), scope
        )


def _with_scopes(scope: ast.AST, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        yield scope, child
        inner = child if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else scope
        yield from _with_scopes(inner, child)


def _unwrapped(node: ast.expr, bindings: Bindings) -> tuple[ast.expr, list[ast.keyword]]:
    """What `.options(...)`, `ray.remote(X)` and `ray.remote(...)(X)` are given, and all of their options."""
    options: list[ast.keyword] = []
    while isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "options":
            options.extend(node.keywords)
            node = node.func.value
        elif bindings.full_name(node.func) == "ray.remote" and node.args:
            options.extend(node.keywords)
            node = node.args[0]
        elif isinstance(node.func, ast.Call) and bindings.full_name(node.func.func) == "ray.remote" and node.args:
            options.extend(node.func.keywords)
            node = node.args[0]
        else:
            break
    return node, options


def _gives_options(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "options"


class Flow:
    """What expressions in one scope of a module may be, by the assignments to names in it and in the module."""

    def __init__(self, module: Module, scope: ast.AST) -> None:
        self._values: dict[str, list[ast.expr]] = {}
        # What stands at the top of the module is met twice where that is the scope.
        for node in dict.fromkeys([*ast.walk(scope), *module.tree.body]):
            value = getattr(node, "value", None)
            if not isinstance(value, ast.expr):
                continue
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AnnAssign | ast.NamedExpr)
                else []
            )
            for target in targets:
                if isinstance(target, ast.Name):
                    self._values.setdefault(target.id, []).append(value)
                elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                    item = ast.copy_location(ast.Dict([target.slice], [value]), value)
                    self._values.setdefault(target.value.id, []).append(item)

    def values(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> list[ast.expr]:
        """The expressions that `node` may be: itself, or what is assigned to it where it is a name."""
        if not isinstance(node, ast.Name) or node.id in seen or node.id not in self._values:
            return [node]
        return [found for value in self._values[node.id] for found in self.values(value, seen | {node.id})]

    def everything_in(self, node: ast.expr) -> Iterator[ast.expr]:
        """All expressions that `node` is made of, through names."""
        seen: set[str] = set()
        waiting: list[ast.expr] = [node]
        while waiting:
            for child in ast.walk(waiting.pop()):
                if isinstance(child, ast.expr):
                    yield child
                if isinstance(child, ast.Name) and child.id not in seen:
                    seen.add(child.id)
                    waiting.extend(self._values.get(child.id, ()))

    def under_key(self, node: ast.expr, key: str) -> list[ast.expr]:
        """The values that mappings reached by `node` have under `key`: in a display, or as an argument of a call."""
        found: list[ast.expr] = []
        for value in self.everything_in(node):
            if isinstance(value, ast.Dict):
                found.extend(
                    item
                    for name, item in zip(value.keys, value.values, strict=True)
                    if isinstance(name, ast.Constant) and name.value == key
                )
            elif isinstance(value, ast.Call):
                found.extend(keyword.value for keyword in value.keywords if keyword.arg == key)
        return found
