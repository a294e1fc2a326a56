"""Where nodes of a syntax tree stand, counted in characters."""

from __future__ import annotations

import ast
import codecs

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.positions import location_of


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("a\né = b\n", {"a": (1, 1), "b": (2, 5)}),
        ("c = ('ü',\n  d)\n", {"c": (1, 1), "d": (2, 3)}),
        ("x, 'éü', y", {"x": (1, 1), "y": (1, 10)}),
    ],
)
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_a_node_stands_at_a_line_and_a_column_of_characters(
    text: str, places: dict[str, tuple[int, int]], mark: bytes
) -> None:
    content = mark + text.encode()
    names = [node for node in ast.walk(ast.parse(content)) if isinstance(node, ast.Name) and node.id in places]
    assert {node.id: location_of("f.py", content, node) for node in names} == {
        name: Location("f.py", *place) for name, place in places.items()
    }
