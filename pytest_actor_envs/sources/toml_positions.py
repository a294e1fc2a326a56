"""Where the keys and values of a TOML file stand; `tomllib` gives values without positions."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

import tree_sitter
import tree_sitter_toml

from pytest_actor_envs.model import Location

Key = tuple[str | int, ...]


class TomlPositions:
    """Locations in one TOML text. A key is a tuple of table keys and array indices: `("tool", "x", 0, "guard")`."""

    def __init__(self, path: str, text: bytes) -> None:
        self._path = path
        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language()))
        self._places = dict(_walk(parser.parse(text).root_node))

    def at(self, key: Key) -> Location:
        """The place of `key`, or of its nearest ancestor that has one, else the first line of the file."""
        ancestors = (self._places.get(key[:length]) for length in range(len(key), 0, -1))
        line, column = next(filter(None, ancestors), (0, 0))
        return Location(self._path, line + 1, column + 1)


def _walk(document: tree_sitter.Node) -> Iterator[tuple[Key, tuple[int, int]]]:
    counts: dict[Key, int] = {}
    for node in document.named_children:
        if node.type == "pair":
            yield from _pair(node, ())
        elif node.type in {"table", "table_array_element"}:
            header = node.named_children[0]
            key = _key(header)
            yield key, (header.start_point.row, header.start_point.column)
            if node.type == "table_array_element":
                index = counts.get(key, 0)
                counts[key] = index + 1
                key = (*key, index)
                yield key, (header.start_point.row, header.start_point.column)
            for child in node.named_children[1:]:
                if child.type == "pair":
                    yield from _pair(child, key)


def _pair(node: tree_sitter.Node, prefix: Key) -> Iterator[tuple[Key, tuple[int, int]]]:
    name, value = node.named_children[0], node.named_children[-1]
    key = (*prefix, *_key(name))
    yield key, (name.start_point.row, name.start_point.column)
    yield from _value(value, key)


def _value(node: tree_sitter.Node, key: Key) -> Iterator[tuple[Key, tuple[int, int]]]:
    if node.type == "inline_table":
        for child in node.named_children:
            if child.type == "pair":
                yield from _pair(child, key)
    elif node.type == "array":
        elements = [child for child in node.named_children if child.type != "comment"]
        for index, child in enumerate(elements):
            yield (*key, index), (child.start_point.row, child.start_point.column)
            yield from _value(child, (*key, index))


def _key(node: tree_sitter.Node) -> Key:
    if node.type == "dotted_key":
        return tuple(part for child in node.named_children for part in _key(child))
    text = (node.text or b"").decode()
    if node.type == "quoted_key":
        return (next(iter(tomllib.loads(f"{text} = 0"))),)
    return (text,)
