"""Places of keys and values in TOML, of tables in arrays as well."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.toml_positions import Key, TomlPositions

TEXT = b"""\
top = 1
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
        (("tool", "a"), "2:2"),
        (("tool", "a", "plain"), "3:1"),
        (("tool", "a", "dotted", "key"), "4:1"),
        (("tool", "a", "quoted key"), "5:1"),
        (("tool", "a", "quoted key", 0), "5:18"),
        (("tool", "a", "quoted key", 1), "6:3"),
        (("tool", "a", "quoted key", 1, "in"), "6:5"),
        (("tool", "a", "quoted key", 1, "also", "in", 0), "6:24"),
        (("tool", "list"), "11:3"),
        (("tool", "list", 0), "8:5"),
        (("tool", "list", 0, "name"), "9:3"),
        (("tool", "other", 0), "10:3"),
        (("tool", "list", 1), "11:3"),
        (("tool", "list", 1, "name"), "12:1"),
        (("tool", "list", 2, "name"), "11:3"),
        (("tool", "a", "plain", "deeper"), "3:1"),
        (("gone",), "1:1"),
        ((), "1:1"),
    ],
)
def test_the_place_of_a_key_or_of_what_holds_it(key: Key, place: str) -> None:
    assert str(TomlPositions("f.toml", TEXT).at(key)) == f"f.toml:{place}"
