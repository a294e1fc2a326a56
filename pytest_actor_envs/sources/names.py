"""What names in a module stand for, by its imports at any level."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pytest_actor_envs.sources.modules import Module, absolute, dotted_name


class Bindings:
    """The imports of one module, at its top level and in functions, as local name -> full dotted name.

    `nodes` are all nodes of its tree, since whoever resolves names looks at each of them.
    """

    def __init__(self, module: Module) -> None:
        self._full: dict[str, str] = {}
        self.nodes = tuple(ast.walk(module.tree))
        for node in self.nodes:
            if isinstance(node, ast.Import):
                self._full.update({alias.asname: alias.name for alias in node.names if alias.asname})
            elif isinstance(node, ast.ImportFrom):
                source = absolute(node, module.name, module.path)
                self._full.update({alias.asname or alias.name: f"{source}.{alias.name}" for alias in node.names})

    def full_name(self, node: ast.expr) -> str | None:
        """The dotted name that an expression stands for: with its module where it is imported, else as written."""
        name = dotted_name(node)
        if name is None:
            return None
        head, dot, rest = name.partition(".")
        return f"{self._full.get(head, head)}{dot}{rest}"

    def is_named(self, node: ast.expr, wanted: Sequence[str]) -> bool:
        """Whether an expression is one of `wanted`: dotted ones in full, plain ones by their last part."""
        full = self.full_name(node)
        return full is not None and any(
            full == name or ("." not in name and full.endswith(f".{name}")) for name in wanted
        )
