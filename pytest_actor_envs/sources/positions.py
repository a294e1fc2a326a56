"""Where the nodes of a syntax tree stand: `ast` counts columns in bytes, people and editors in characters."""

from __future__ import annotations

import ast
import codecs

from pytest_actor_envs.model import Location


def location_of(path: str, content: bytes, node: ast.stmt | ast.expr | ast.alias) -> Location:
    """The place of a node of the file `path`, which holds `content`."""
    line = content.removeprefix(codecs.BOM_UTF8).splitlines()[node.lineno - 1]
    return Location(path, node.lineno, len(line[: node.col_offset].decode(errors="replace")) + 1)
