"""Uses of the registry and the table in a module, each form in which they are written."""

from __future__ import annotations

import ast

import pytest

from pytest_actor_envs.sources.lookups import registry_uses, uses_registry
from pytest_actor_envs.sources.modules import Module

IMPORTS = "from .registry import REGISTRY as R, look_up\nimport pkg.table as t\nfrom pkg.table import TABLE\n"


def module(text: str) -> Module:
    content = (IMPORTS + text).encode()
    return Module("pkg.here", "pkg/here.py", ast.parse(content), content)


def uses(text: str) -> tuple[list[tuple[str, bool]], int, int]:
    arguments = (("look_up", "pkg.other.find"), ("launch",), "pkg.registry.REGISTRY", "TABLE")
    found = registry_uses(module(text), *arguments)
    assert uses_registry(module(text), *arguments) == bool(found.lookups or found.changes or found.table_changes)
    listed = [(ast.unparse(lookup.node), lookup.needs_literal) for lookup in found.lookups]
    assert all(lookup.location.path == "pkg/here.py" for lookup in found.lookups)
    return listed, len(found.changes), len(found.table_changes)


@pytest.mark.parametrize(
    ("text", "lookups"),
    [
        ("R['a']", [("'a'", True)]),
        ("R.get('a', None)", [("'a'", True)]),
        ("R.__getitem__('a')", [("'a'", True)]),
        ("R.__contains__('a')", [("'a'", True)]),
        ("R.get()", []),
        ("R.keys('a')", []),
        ("R.values()", []),
        ("'a' in R", [("'a'", True)]),
        ("'a' not in R", [("'a'", True)]),
        ("'a' == R", []),
        ("'z' < 'a' in R", [("'a'", True)]),
        ("'a' in R == b", [("'a'", True)]),
        ("look_up('a')", [("'a'", True)]),
        ("look_up(name='a')", [("'a'", True)]),
        ("look_up(**all, name='a')", [("'a'", True)]),
        ("look_up(*names)", []),
        ("look_up()", []),
        ("x.look_up('a')", [("'a'", True)]),
        ("launch(A)", [("A", False)]),
        ("launch()", []),
        ("pkg.other.find('a')", [("'a'", True)]),
        ("find('a')", []),
        ("other('a')", []),
        ("REGISTRY['a']", []),
        ("x['a']", []),
        ("f()('a')", []),
    ],
)
def test_a_lookup(text: str, lookups: list[tuple[str, bool]]) -> None:
    assert uses(text) == (lookups, 0, 0)


@pytest.mark.parametrize(
    ("text", "changes", "of_table"),
    [
        ("R['a'] = 1", 1, 0),
        ("del R['a']", 1, 0),
        ("R.update(a=1)", 1, 0),
        ("R.setdefault('a', 1)", 1, 0),
        ("R |= {}", 1, 0),
        ("TABLE |= {}", 0, 1),
        ("TABLE['a'] = None", 0, 1),
        ("TABLE.pop('a')", 0, 1),
        ("t.TABLE = {}", 0, 1),
        ("t.TABLE.clear()", 0, 1),
        ("TABLE['a']; t.TABLE; TABLE.get('a'); TABLE.items()", 0, 0),
        ("x.update(a=1); x['a'] = 1; x |= {}; t.other = 1", 0, 0),
    ],
)
def test_a_change(text: str, changes: int, of_table: int) -> None:
    assert uses(text) == ([], changes, of_table)


def test_both_are_found_wherever_they_stand() -> None:
    text = "def f():\n    R['a']\n    R['b'] = 1\n    return 1 in x, R['c']\n"
    assert uses(text) == ([("'a'", True), ("'c'", True)], 1, 0)
    found = registry_uses(module(text), (), (), "REGISTRY", "TABLE")
    assert [(lookup.location.line, lookup.location.column) for lookup in found.lookups] == [(5, 7), (7, 22)]
    assert [(change.line, change.column) for change in found.changes] == [(6, 5)]
