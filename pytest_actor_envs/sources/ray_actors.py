"""Which definitions are Ray actor classes, by parsing."""

from __future__ import annotations

import ast

from pytest_actor_envs.sources.modules import (
    ClassDefinition,
    Module,
    Modules,
    dotted_name,
)

REMOTE = "ray.remote"


def is_ray_actor(modules: Modules, found: ClassDefinition) -> bool:
    """Whether the definition is a class under `ray.remote`, bare, called or aliased, or assigned from it."""
    found = modules.unaliased(found)
    module = modules.find(found.module)
    return module is not None and _is_made_by_remote(module, found.node)


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


def actor_names(module: Module) -> list[str]:
    """Top-level names of the Ray actor classes that a module defines, by its text alone; other names of one are none."""
    return sorted(
        name
        for name, bound in module.bindings.items()
        if not isinstance(bound, tuple) and _is_made_by_remote(module, bound)
    )
