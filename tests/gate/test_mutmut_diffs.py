"""Where in its file a code mutant is, from what mutmut says of its function."""

from __future__ import annotations

import ast

import pytest

from pytest_actor_envs.gate.mutmut_diffs import owner_and_function, placed

SOURCE = '''\
"""Doc."""


def outside():
    x = 1
    return x


class Box:
    size = 3

    @staticmethod
    def outside(self):
        one = 1
        return one

    async def later(self):
        return 2


async def later():
    return 3
'''


@pytest.mark.parametrize(
    ("name", "owner", "function"),
    [
        ("pkg.mod.x_outside__mutmut_1", None, "outside"),
        ("pkg.mod.x__private__mutmut_12", None, "_private"),
        ("pkg.mod.xǁBoxǁoutside__mutmut_3", "Box", "outside"),
        ("pkg.mod.xǁ_BoxǁX__init____mutmut_3", "_Box", "X__init__"),
        ("pkg.mod.xǁBoxǁ__init____mutmut_3", "Box", "__init__"),
        ("pkg.mod.other", None, "other"),
    ],
)
def test_owner_and_function_of_a_name(name: str, owner: str | None, function: str) -> None:
    assert owner_and_function(name) == (owner, function)


@pytest.mark.parametrize(
    ("name", "hunk", "placed_hunk", "line", "function"),
    [
        # In each the second line of the function's own text, which mutmut counts from 1, is changed.
        ("m.x_outside__mutmut_1", "@@ -1,3 +1,3 @@", "@@ -4,3 +4,3 @@", 5, "outside"),
        ("m.xǁBoxǁoutside__mutmut_1", "@@ -1,4 +1,5 @@", "@@ -12,4 +12,5 @@", 13, "Box.outside"),
        ("m.xǁBoxǁlater__mutmut_1", "@@ -1,2 +1,2 @@", "@@ -17,2 +17,2 @@", 18, "Box.later"),
        ("m.x_later__mutmut_1", "@@ -3,2 +2,2 @@", "@@ -23,2 +22,2 @@", 24, "later"),
        ("m.x_gone__mutmut_1", "@@ -1,2 +1,2 @@", "@@ -1,2 +1,2 @@", 2, "gone"),
        ("m.xǁGoneǁgone__mutmut_1", "@@ -1,2 +1,2 @@", "@@ -1,2 +1,2 @@", 2, "Gone.gone"),
    ],
)
def test_a_diff_gets_the_lines_of_the_file(name: str, hunk: str, placed_hunk: str, line: int, function: str) -> None:
    diff = "\n".join(["--- a", "+++ b", hunk, " def f():", "-    x", "+    y", ""])
    expected = diff.replace(hunk, placed_hunk)
    assert placed(ast.parse(SOURCE), name, diff) == (expected, line, function)


def test_only_the_first_hunk_is_placed_and_an_empty_line_is_no_change() -> None:
    diff = "@@ -1,3 +1,3 @@\n def f():\n\n+    y\n@@ -9,3 +9,3 @@\n-x"
    assert placed(ast.parse(SOURCE), "m.x_outside__mutmut_1", diff) == (
        "@@ -4,3 +4,3 @@\n def f():\n\n+    y\n@@ -9,3 +9,3 @@\n-x",
        6,
        "outside",
    )


def test_a_diff_without_hunks_is_at_its_function() -> None:
    assert placed(ast.parse(SOURCE), "m.x_outside__mutmut_1", "") == ("", 4, "outside")
