"""Names that a module binds, and those that a text defines or takes from elsewhere."""

from __future__ import annotations

import ast

import pytest

from pytest_actor_envs.sources.bound_names import bound_names, defined_classes, foreign_names
from pytest_actor_envs.sources.modules import Module


def bound(text: str) -> frozenset[str] | None:
    return bound_names(Module("pkg.here", "pkg/here.py", ast.parse(text), text.encode()))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def a(x):\n    y = 1\n", {"a"}),
        ("async def a():\n    def b(): pass\n", {"a"}),
        ("class A:\n    x = 1\n", {"A"}),
        ("import a.b.c, d as e, f\n", {"a", "e", "f"}),
        ("from a import b, c as d\n", {"b", "d"}),
        ("a = b = c\n", {"a", "b"}),
        ("a, (b, *c) = d\n", {"a", "b", "c"}),
        ("a: int = 1\nb: int\n", {"a", "b"}),
        ("a += b\n", {"a"}),
        ("a.b = c[d] = e\n", set()),
        ("for a, b in c:\n    d = 1\nelse:\n    import e\n", {"a", "b", "d", "e"}),
        ("with a as b, c as (d, e):\n    f = 1\n", {"b", "d", "e", "f"}),
        ("try:\n    import a\nexcept ImportError:\n    a = None\n    b = 1\n", {"a", "b"}),
        ("if x:\n    a = 1\n", {"a"}),
        ("print(a)\n", set()),
        ("a = 1\nfrom b import *\n", None),
        ("a = 1\ndef __getattr__(name): ...\n", None),
        ("class A:\n    def __getattr__(self, name): ...\n", {"A"}),
    ],
)
def test_what_the_top_level_binds(text: str, names: set[str] | None) -> None:
    assert bound(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("class A:\n    class B(A): pass\n", {"A", "B"}),
        ("def f():\n\tclass  C: pass\n", {"C"}),
        ("A = 1\nB: type = 2\nC:int=3\nlower = 4\nD == 5\n  E = 6\nF.x = 7\n", {"A", "B", "C"}),
        ("# class A\nsubclass B\n", set()),
    ],
)
def test_the_classes_that_a_text_defines(text: str, names: set[str]) -> None:
    assert defined_classes(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("from a.b import C, d as E\n", {"C", "d", "as", "E"}),
        ("from a import (\n    B,\n    C,\n)\n", {"B", "C"}),
        ("    from a import B  # C\n", {"B"}),
        ("from pkg.b import C\nfrom pkg import D\n", set()),
        ("from pkg_more import C\n", {"C"}),
        ("from .here import C\n", {"C"}),
        ("x = a.B, a.b.C, pkg.D, pkg.e.F, a.b\n", {"B", "C"}),
        ("x = 'Word' + \"other\" + 'two words'\n", {"Word", "other"}),
        ("x = 1\n", set()),
    ],
)
def test_the_names_that_a_text_takes_from_elsewhere(text: str, names: set[str]) -> None:
    assert foreign_names(text, ("pkg", "more")) == names
