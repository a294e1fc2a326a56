"""Which definitions are Ray actor classes, by parsing."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from pytest_actor_envs.sources.modules import (
    ClassDefinition,
    Module,
    Modules,
    dotted_name,
)

REMOTE = "ray.remote"


def is_ray_actor(modules: Modules, found: ClassDefinition) -> bool:
    """Whether the definition is a class under `ray.remote`, bare, called or aliased, or assigned from it."""
    seen: set[tuple[str, str]] = set()
    while (found.module, found.name) not in seen:
        seen.add((found.module, found.name))
        module = modules.find(found.module)
        if module is None:
            return False
        if _is_made_by_remote(module, found.node):
            return True
        if isinstance(found.node, ast.ClassDef) or not isinstance(found.node.value, ast.Name):
            return False
        alias = modules.definition(found.module, found.node.value.id)
        if alias is None:
            return False
        found = alias
    return False


def _is_made_by_remote(module: Module, node: ast.ClassDef | ast.Assign | ast.AnnAssign) -> bool:
    if isinstance(node, ast.ClassDef):
        return any(is_remote(module, decorator) for decorator in node.decorator_list)
    return isinstance(node.value, ast.Call) and bool(node.value.args) and is_remote(module, node.value.func)


def is_remote(module: Module, node: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
    """Whether an expression is `ray.remote`, or a call of it that gives a decorator, under whatever name."""
    if isinstance(node, ast.Call):
        return not node.args and is_remote(module, node.func, seen)
    name = dotted_name(node)
    if name is None or name in seen:
        return False
    if module.full_name(name) == REMOTE:
        return True
    return "." not in name and any(is_remote(module, value, seen | {name}) for value in module.assigned.get(name, ()))


def actor_candidates(module: Module) -> list[str]:
    """Top-level names of a module that may be Ray actor classes, by its text alone: `is_ray_actor` decides."""
    return sorted(
        name
        for name, bound in module.bindings.items()
        if not isinstance(bound, tuple)
        and (
            _is_made_by_remote(module, bound)
            or (not isinstance(bound, ast.ClassDef) and isinstance(bound.value, ast.Name))
        )
    )


def ray_actor_classes(module: Module, modules: Modules, candidates: Iterable[str]) -> Iterator[ClassDefinition]:
    """Those of a module's candidates that are Ray actor classes which it defines itself."""
    for name in candidates:
        found = modules.definition(module.name, name)
        if found is not None and found.module == module.name and found.name == name and is_ray_actor(modules, found):
            yield found
