"""What the top level of a module binds, and which class names the project's code knows, for judging documentation."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from pytest_actor_envs.sources.modules import Module, statements

TOP_CLASS = re.compile(r"^[ \t]*class[ \t]+(\w+)", re.MULTILINE)
TOP_ASSIGNMENT = re.compile(r"^([A-Z]\w*)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
IMPORTED = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)", re.MULTILINE)
WORD_IN_QUOTES = re.compile(r"""["'](\w+)["']""")
ATTRIBUTE = re.compile(r"(?<![\w.])([A-Za-z_]\w*)(?:\.\w+)*\.([A-Z]\w*)")


def bound_names(module: Module) -> frozenset[str] | None:
    """The names that a module's top level binds; `None` where only running it can tell."""
    names: set[str] = set()
    for node in statements(module.tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import):
            names.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For | ast.AsyncFor | ast.With):
            parts = (part for part in ast.walk(node) if isinstance(part, ast.Name))
            names.update(part.id for part in parts if isinstance(part.ctx, ast.Store))
    return None if names & {"*", "__getattr__"} else frozenset(names)


def defined_classes(text: str) -> frozenset[str]:
    """Names of the classes that a Python text defines at any level, and of what it assigns to a name like a class's."""
    return frozenset(TOP_CLASS.findall(text)) | frozenset(TOP_ASSIGNMENT.findall(text))


def foreign_names(text: str, packages: Sequence[str]) -> frozenset[str]:
    """Names that a Python text takes from elsewhere than `packages`: imported, read as an attribute, or a string's word."""
    names = set(WORD_IN_QUOTES.findall(text))
    for module, imported in IMPORTED.findall(text):
        if module.split(".")[0] not in packages:
            names.update(re.findall(r"\w+", imported))
    names.update(name for head, name in ATTRIBUTE.findall(text) if head not in packages)
    return frozenset(names)
