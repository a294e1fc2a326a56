"""Launches of actors by their class, each form in which they are written, and what names in them may be."""

from __future__ import annotations

import ast

import pytest

from pytest_actor_envs.sources.launches import Flow, launched_names, launches
from pytest_actor_envs.sources.modules import Module

IMPORTS = "import ray\nimport ray as r\nfrom pkg.actors import Actor, Plain as P\n"


def module(text: str) -> Module:
    content = (IMPORTS + text).encode()
    return Module("pkg.here", "pkg/here.py", ast.parse(content), content)


def found(text: str) -> list[tuple[str, str | None, list[str]]]:
    return [
        (
            each.actor,
            ast.unparse(each.runtime_env) if each.runtime_env else None,
            [ast.unparse(node) for node in each.unpacked],
        )
        for each in launches(module(text))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Actor.remote(1)", [("pkg.actors.Actor", None, [])]),
        ("P.remote()", [("pkg.actors.Plain", None, [])]),
        ("Here.remote()", [("pkg.here.Here", None, [])]),
        ("Actor.options(runtime_env=e, name='n').remote()", [("pkg.actors.Actor", "e", [])]),
        ("Actor.options(name='n', **more).options(**less).remote()", [("pkg.actors.Actor", None, ["less", "more"])]),
        ("ray.remote(P).options(runtime_env=e).remote()", [("pkg.actors.Plain", "e", [])]),
        ("ray.remote(P, runtime_env=e).remote()", [("pkg.actors.Plain", "e", [])]),
        ("ray.remote(runtime_env=e, **more)(P).remote()", [("pkg.actors.Plain", "e", ["more"])]),
        ("r.remote(P).remote()", [("pkg.actors.Plain", None, [])]),
        ("A = Actor.options(runtime_env=e)\nA.remote()", [("pkg.actors.Actor", "e", [])]),
        ("A = Actor.options(name='n')\nA.options(runtime_env=e).remote()", [("pkg.actors.Actor", "e", [])]),
        ("A = ray.remote(P).options(runtime_env=e)\nA.remote()", [("pkg.actors.Plain", "e", [])]),
        ("A = Actor.options(runtime_env=e)\nA = P.options()\nA.remote()", [("pkg.here.A", None, [])]),
        ("A = ray.remote(P)\nA.remote()", [("pkg.here.A", None, [])]),
        ("x.y.remote()", [("x.y", None, [])]),
        ("self.actor.remote()", []),
        ("ray.remote()", []),
        ("Actor.local()", []),
        ("remote(Actor)", []),
        ("ray.remote().remote()", []),
        ("other(P).remote()", []),
        ("other()(P).remote()", []),
        ("ray.remote(num_cpus=1)().remote()", []),
    ],
)
def test_a_launch(text: str, expected: list[tuple[str, str | None, list[str]]]) -> None:
    assert found(text) == expected
    assert launched_names(module(text)) == [actor for actor, _, _ in expected]


def test_names_are_sorted_and_each_once() -> None:
    assert launched_names(module("Z.remote()\nActor.remote()\nZ.remote()")) == ["pkg.actors.Actor", "pkg.here.Z"]


def test_the_scope_is_the_function_around_and_the_place_that_of_the_call() -> None:
    text = "B.remote()\nclass A:\n    async def f(self):\n        C.remote()\n        def g(): return D.remote()\n"
    listed = launches(module(text))
    assert [getattr(each.scope, "name", "module") for each in listed] == ["module", "f", "g"]
    assert [(each.location.line, each.location.column) for each in listed] == [(4, 1), (7, 9), (8, 25)]


FLOW = """\
top = {"k": 1}
def f(given):
    a = b = {"k": 2, other: 3}
    c: object = a
    d: int
    (e := c)
    a = dict(k=4, l=5)
    h["k"] = 6
    h["l"], i.j = 7, 8
    loop = loop
    x += 1
"""


@pytest.mark.parametrize(
    ("name", "values", "under_key"),
    [
        ("top", ["{'k': 1}"], ["1"]),
        ("a", ["{'k': 2, other: 3}", "dict(k=4, l=5)"], ["4", "2"]),
        ("b", ["{'k': 2, other: 3}"], ["2"]),
        ("e", ["{'k': 2, other: 3}", "dict(k=4, l=5)"], ["4", "2"]),
        ("d", ["d"], []),
        ("given", ["given"], []),
        ("h", ["{'k': 6}"], ["6"]),
        ("loop", ["loop"], []),
        ("x", ["x"], []),
        ("{'k': top, **b}", ["{'k': top, **b}"], ["top", "2", "1"]),
        ("g(k=9)", ["g(k=9)"], ["9"]),
    ],
)
def test_what_an_expression_may_be(name: str, values: list[str], under_key: list[str]) -> None:
    whole = module(FLOW)
    node = ast.parse(name, mode="eval").body
    within = Flow(whole, whole.tree.body[-1])
    assert [ast.unparse(value) for value in within.values(node)] == values
    assert sorted(ast.unparse(value) for value in within.under_key(node, "k")) == sorted(under_key)
