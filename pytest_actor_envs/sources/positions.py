"""Where the nodes of a syntax tree stand: `ast` counts columns in bytes, people and editors in characters."""

from __future__ import annotations

import ast

from pytest_actor_envs.model import Location


def location_of(path: str, content: bytes, node: ast.stmt | ast.expr | ast.alias) -> Location:
    """The place of a node of the file `path`, whose text in UTF-8 is `content`."""
    line = content.split(b"\n")[node.lineno - 1]
    return Location(path, node.lineno, len(line[: node.col_offset].decode()) + 1)
