"""Which definitions are Ray actor classes, by parsing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pytest_actor_envs.sources.modules import (
    ClassDefinition,
    Module,
    Modules,
    dotted_name,
    imported_name,
    statements,
)

REMOTE = "ray.remote"


def is_ray_actor(modules: Modules, found: ClassDefinition) -> bool:
    """Whether the definition is a class under `ray.remote`, bare, called or aliased, or assigned from it."""
    module = modules.find(found.module)
    if module is None:
        return False
    if isinstance(found.node, ast.ClassDef):
        return any(is_remote(module, decorator) for decorator in found.node.decorator_list)
    value = found.node.value
    if value is None:
        return False
    if isinstance(value, ast.Call) and value.args and is_remote(module, value.func):
        return True
    name = dotted_name(value)
    if name is None or not isinstance(value, ast.Name):
        return False
    alias = modules.definition(found.module, name)
    return alias is not None and alias != found and is_ray_actor(modules, alias)


def is_remote(module: Module, node: ast.expr) -> bool:
    """Whether an expression is `ray.remote`, or a call of it that gives a decorator, under whatever name."""
    if isinstance(node, ast.Call):
        return not node.args and is_remote(module, node.func)
    name = dotted_name(node)
    if name is None:
        return False
    full = imported_name(module.tree, name, module.name, module.path)
    if full == REMOTE:
        return True
    if "." in name:
        return False
    return any(
        isinstance(statement, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)
        and is_remote(module, statement.value)
        for statement in statements(module.tree.body)
    )


def ray_actor_classes(module: Module, modules: Modules) -> Iterator[ClassDefinition]:
    """The Ray actor classes that a module itself defines at its top level."""
    names = set()
    for node in statements(module.tree.body):
        if isinstance(node, ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    for name in sorted(names):
        found = modules.definition(module.name, name)
        if found is not None and found.module == module.name and found.name == name and is_ray_actor(modules, found):
            yield found
