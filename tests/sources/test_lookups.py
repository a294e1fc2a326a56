"""Uses of the registry and the table in a module, each form in which they are written."""

from __future__ import annotations

import ast

import pytest

from pytest_actor_envs.sources.fact_store import FactStore
from pytest_actor_envs.sources.lookups import literal_text, registry_uses, uses_registry
from pytest_actor_envs.sources.modules import Module, Modules
from pytest_actor_envs.sources.parsed_files import ParsedFiles
from pytest_actor_envs.sources.tree import Tree

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


NAMES = """\
from pkg.other import FAR, Holder as Other
TOP = "top"
ANNOTATED: str = "annotated"
NUMBER = 1
CALLED = f()
TWICE = "one"
TWICE = "two"
class Holder:
    NAME = "in class"
    FIRST = SECOND = "both"
    TYPED: str = "typed"
    BARE: str
    COUNT = 2
    MADE = f()
    def f(self):
        self.NAME = "other"
    x.NAME = "not a name"
class Second:
    NAME = "in second"
    ONLY = "only"
def plain():
    return TOP
def own():
    TOP = "own"
    return TOP
def given(TOP):
    return TOP
def starred(*TOP):
    return [TOP]
def loops():
    for ANNOTATED in x:
        ANNOTATED
def unrelated():
    other = 1
    def inner(more):
        return TOP
kept = lambda NUMBER: TOP
taken = lambda TOP: TOP
"""


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("'here'", "here"),
        ("f'here'", None),
        ("3", None),
        ("None", None),
        ("TOP", "top"),
        ("ANNOTATED", "annotated"),
        ("TWICE", "two"),
        ("NUMBER", None),
        ("CALLED", None),
        ("Holder", None),
        ("nowhere", None),
        ("FAR", "far"),
        ("f()", None),
        ("f().NAME", None),
        ("Holder.NAME", "in class"),
        ("Holder.FIRST", "both"),
        ("Holder.SECOND", "both"),
        ("Holder.TYPED", "typed"),
        ("Holder.BARE", None),
        ("Holder.COUNT", None),
        ("Holder.MADE", None),
        ("Holder.ONLY", None),
        ("Second.NAME", "in second"),
        ("self.NAME", "in class"),
        ("cls.ONLY", "only"),
        ("other.NAME", None),
        ("pkg.Holder.NAME", None),
        ("Other.NAME", None),
    ],
)
def test_the_string_that_an_expression_is(written: str, expected: str | None) -> None:
    modules, here = in_project()
    assert literal_text(modules, here, ast.parse(written, mode="eval").body) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [(22, "top"), (25, None), (27, None), (29, None), (32, None), (36, "top"), (37, "top"), (38, None)],
)
def test_a_name_of_a_function_is_no_constant_of_the_module(line: int, expected: str | None) -> None:
    modules, here = in_project()
    [name] = [
        node
        for node in ast.walk(here.tree)
        if isinstance(node, ast.Name) and node.lineno == line and isinstance(node.ctx, ast.Load)
    ]
    assert literal_text(modules, here, name) == expected


def in_project() -> tuple[Modules, Module]:
    files = {"pkg/here.py": NAMES, "pkg/other.py": "FAR = 'far'\nclass Holder:\n    NAME = 'far'\n"}
    modules = Modules(Tree(None, files), ("pkg",), ParsedFiles(FactStore()))
    return modules, Module("pkg.here", "pkg/here.py", ast.parse(NAMES), NAMES.encode())
