"""Places of keys and values in TOML, of tables in arrays as well."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.toml_positions import Key, TomlPositions

TEXT = b"""\
top = 1
second = {}  # none
[tool.a]
plain = "x"
dotted.key = 2
"quoted key" = [ "one", # comment
  { in = 3, also.in = [4] } ]

  [[tool.list]]
  name = "first"
[[tool.other]]
[[tool.list]]
name = "second"
"""


@pytest.mark.parametrize(
    ("key", "place"),
    [
        (("top",), "1:1"),
        (("tool", "a"), "3:2"),
        (("tool", "a", "plain"), "4:1"),
        (("tool", "a", "dotted", "key"), "5:1"),
        (("tool", "a", "quoted key"), "6:1"),
        (("tool", "a", "quoted key", 0), "6:18"),
        (("tool", "a", "quoted key", 1), "7:3"),
        (("tool", "a", "quoted key", 1, "in"), "7:5"),
        (("tool", "a", "quoted key", 1, "also", "in", 0), "7:24"),
        (("tool", "list"), "12:3"),
        (("tool", "list", 0), "9:5"),
        (("tool", "list", 0, "name"), "10:3"),
        (("tool", "other", 0), "11:3"),
        (("tool", "list", 1), "12:3"),
        (("tool", "list", 1, "name"), "13:1"),
        (("tool", "list", 2, "name"), "12:3"),
        (("tool", "a", "plain", "deeper"), "4:1"),
        (("second",), "2:1"),
        (("second", 0, "a"), "2:1"),
        (("gone",), "1:1"),
        ((), "1:1"),
    ],
)
def test_the_place_of_a_key_or_of_what_holds_it(key: Key, place: str) -> None:
    assert str(TomlPositions("f.toml", TEXT).at(key)) == f"f.toml:{place}"
