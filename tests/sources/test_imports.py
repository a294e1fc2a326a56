"""Calls that import, in each form in which they name a module."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.imports import import_facts


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ('from importlib import import_module as load\nload("a")\n', ["importlib", "a"]),
        ('from importlib import (\n    import_module  as\tload,\n)\nload("a.b")\n', ["importlib", "a.b"]),
        ('import importlib as i\ni.import_module(name="a", package=None)\n', ["importlib", "a"]),
        ('import importlib as i\ni.import_module(f"a" "b")\n', ["importlib", "ab"]),
        ('class A(__import__("a").B, meta=__import__("c").D):\n    pass\n', ["a", "c"]),
        ('def f(x=__import__("a")):\n    pass\n', ["a"]),
        ('__import__(f"{a}")\n__import__(b"a")\n__import__()\n__import__(".a")\nload("a")\n', []),
    ],
)
def test_a_call_that_imports(text: str, modules: list[str]) -> None:
    assert [fact.module for fact in import_facts(text.encode())] == modules
