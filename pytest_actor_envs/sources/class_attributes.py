"""The value of a class attribute by parsing, through base classes in whatever module defines them."""

from __future__ import annotations

import ast

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.modules import ClassDefinition, Modules, dotted_name


def class_attribute(modules: Modules, module: str, name: str, attribute: str) -> tuple[Location, ast.expr] | None:
    """Where `attribute` stands and what it is assigned in the class, or in the nearest first-party base class that does.

    An actor that is assigned (`X = ray.remote(XImpl)`) is looked up through the class that the call is given.
    """
    try:
        return _of(modules, modules.definition(module, name), attribute, frozenset())
    except SyntaxError:
        return None


def base_classes(modules: Modules, found: ClassDefinition) -> list[ClassDefinition]:
    """The project's own classes that a definition builds on, in order: its bases, or what `ray.remote(...)` is given."""
    module = modules.find(found.module)
    if module is None:
        return []
    if isinstance(found.node, ast.ClassDef):
        written = found.node.bases
    else:
        written = found.node.value.args if isinstance(found.node.value, ast.Call) else []
    definitions = []
    for node in written:
        dotted = dotted_name(node.value if isinstance(node, ast.Subscript) else node)
        if dotted is None:
            continue
        owner, _, base = module.full_name(dotted).rpartition(".")
        definition = modules.definition(owner or module.name, base)
        if definition is not None:
            definitions.append(definition)
    return definitions


def _of(
    modules: Modules, found: ClassDefinition | None, attribute: str, seen: frozenset[tuple[str, str]]
) -> tuple[Location, ast.expr] | None:
    if found is None or (found.module, found.name) in seen:
        return None
    if isinstance(found.node, ast.ClassDef):
        for node in reversed(found.node.body):
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AnnAssign)
                else []
            )
            for target in targets:
                if isinstance(target, ast.Name) and target.id == attribute:
                    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
                    module = modules.find(found.module)
                    if value is not None and module is not None:
                        return module.at(target), value
    for base in base_classes(modules, found):
        inherited = _of(modules, base, attribute, seen | {(found.module, found.name)})
        if inherited is not None:
            return inherited
    return None
