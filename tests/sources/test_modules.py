"""Which file is a module, where a name is defined, and what names stand for."""

from __future__ import annotations

import ast

import pytest

from pytest_actor_envs.sources.fact_store import FactStore
from pytest_actor_envs.sources.modules import (
    Module,
    Modules,
    absolute,
    dotted_name,
    imported_names,
    statements,
    syntax_error_place,
)
from pytest_actor_envs.sources.names import Bindings
from pytest_actor_envs.sources.parsed_files import ParsedFiles
from pytest_actor_envs.sources.tree import Tree

FILES = {
    "pkg/__init__.py": "from .one import A as Renamed\nfrom .one import *\nfrom .gone import *\n",
    "pkg/one.py": "class A: pass\nclass _Hidden: pass\nB = A\nC: type = B\nD: type\nE = E2 = A\nclass A: pass\n",
    "pkg/two.py": "from pkg import A, Renamed\nfrom .three import Loop\nclass Two: pass\n",
    "pkg/three.py": "from .two import Loop\nX = Y\nY = X\nclass Two: pass\n",
    "pkg/inner/__init__.py": "from ..one import A\nfrom . import deep\n",
    "pkg/inner/deep.py": (
        "if x:\n    class If: pass\nelse:\n    class Else: pass\n"
        "try:\n    class Try: pass\nexcept E:\n    class Except: pass\nfinally:\n    class Finally: pass\n"
        "with x:\n    class With: pass\nfor x in y:\n    class For: pass\nwhile x:\n    class While: pass\n"
        "match x:\n    case 1:\n        class Match: pass\n"
        "def f():\n    class In: pass\nclass Out:\n    class Inner: pass\n"
    ),
    "pkg/broken.py": "class Two(\n",
    "pkg/data.txt": "",
    "other/a.py": "",
}


def modules() -> Modules:
    return Modules(Tree(None, FILES), ("pkg",), ParsedFiles(FactStore()), ("remote",))


def test_a_module_is_a_package_or_a_file() -> None:
    found = modules()
    assert found.path_of("pkg") == "pkg/__init__.py"
    assert found.path_of("pkg.one") == "pkg/one.py"
    assert found.path_of("pkg.none") is None
    assert found.find("pkg.none") is None
    assert list(found.names()) == [
        "pkg",
        "pkg.broken",
        "pkg.inner",
        "pkg.inner.deep",
        "pkg.one",
        "pkg.three",
        "pkg.two",
    ]


@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [
        ("pkg.one", "A", ("pkg.one", "A", 7)),
        ("pkg", "A", ("pkg.one", "A", 7)),
        ("pkg", "Renamed", ("pkg.one", "A", 7)),
        ("pkg.two", "Renamed", ("pkg.one", "A", 7)),
        ("pkg", "B", ("pkg.one", "B", 3)),
        ("pkg.one", "C", ("pkg.one", "C", 4)),
        ("pkg.one", "E2", ("pkg.one", "E2", 6)),
        ("pkg.inner", "A", ("pkg.one", "A", 7)),
        ("pkg.one", "_Hidden", ("pkg.one", "_Hidden", 2)),
        ("pkg", "_Hidden", None),
        ("pkg.one", "D", None),
        ("pkg.two", "Loop", None),
        ("pkg.two", "B", None),
        ("pkg.none", "A", None),
        ("pkg", "None_", None),
        *(
            ("pkg.inner.deep", name, ("pkg.inner.deep", name, line))
            for name, line in {
                "If": 2,
                "Else": 4,
                "Try": 6,
                "Except": 8,
                "Finally": 10,
                "With": 12,
                "For": 14,
                "While": 16,
                "Match": 19,
            }.items()
        ),
        ("pkg.inner.deep", "In", None),
        ("pkg.inner.deep", "Inner", None),
    ],
)
def test_where_a_name_is_defined(module: str, name: str, expected: tuple[str, str, int] | None) -> None:
    found = modules().definition(module, name)
    shown = None if found is None else (found.module, found.name, found.location.line)
    assert shown == expected
    assert found is None or found.location.path == modules().path_of(found.module)


@pytest.mark.parametrize(("name", "expected"), [("B", "A"), ("C", "A"), ("E2", "A"), ("A", "A")])
def test_another_name_of_a_class_stands_for_it(name: str, expected: str) -> None:
    found = modules()
    definition = found.definition("pkg.one", name)
    assert definition is not None
    assert found.unaliased(definition).name == expected


def test_names_that_stand_for_each_other_end() -> None:
    found = modules()
    definition = found.definition("pkg.three", "X")
    assert definition is not None
    assert found.unaliased(definition).name in {"X", "Y"}


def test_names_at_the_top_and_where_a_class_is_defined() -> None:
    found = modules()
    assert found.top_level_names("pkg.two") == ["A", "Loop", "Renamed", "Two"]
    assert found.top_level_names("pkg.none") == []
    assert found.modules_defining("Two") == ["pkg.three", "pkg.two"]
    assert found.modules_defining("A") == ["pkg.one"]
    assert found.modules_defining("Nowhere") == []


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [(3, 4, (3, 4)), (None, None, (1, 1)), (0, 0, (1, 1)), (2, None, (2, 1)), (None, 5, (1, 5))],
)
def test_the_place_of_a_syntax_error(line: int | None, column: int | None, expected: tuple[int, int]) -> None:
    place = syntax_error_place(SyntaxError("x", ("f", line, column, "text")), "a.py")
    assert (place.path, place.line, place.column) == ("a.py", *expected)


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("from a.b import c", "p/q/r.py", "a.b"),
        ("from . import c", "p/q/r.py", "p.q"),
        ("from .a import c", "p/q/r.py", "p.q.a"),
        ("from ..a import c", "p/q/r.py", "p.a"),
        ("from .. import c", "p/q/r.py", "p"),
        ("from . import c", "p/q/r/__init__.py", "p.q.r"),
        ("from ..a import c", "p/q/r/__init__.py", "p.q.a"),
    ],
)
def test_what_an_import_is_from(text: str, path: str, expected: str) -> None:
    [node] = ast.parse(text).body
    assert isinstance(node, ast.ImportFrom)
    assert absolute(node, "p.q.r", path) == expected


TEXT = """\
import a.b, c.d as e
from .one import f, g as h
def inner():
    from two import i
    import j as k
"""


@pytest.mark.parametrize(
    ("written", "full", "at_top"),
    [
        ("a.b.x", "a.b.x", "a.b.x"),
        ("e.x", "c.d.x", "c.d.x"),
        ("f", "p.one.f", "p.one.f"),
        ("h.x.y", "p.one.g.x.y", "p.one.g.x.y"),
        ("g", "g", "g"),
        ("i", "two.i", "i"),
        ("k.x", "j.x", "k.x"),
        ("f()", None, None),
        ("f().x", None, None),
    ],
)
def test_what_a_name_stands_for(written: str, full: str | None, at_top: str | None) -> None:
    module = Module("p.q", "p/q.py", ast.parse(TEXT), TEXT.encode())
    node = ast.parse(written, mode="eval").body
    assert Bindings(module).full_name(node) == full
    name = dotted_name(node)
    assert (None if name is None else module.full_name(name)) == at_top
    assert imported_names(module.tree, "p.q", "p/q.py") == {"e": "c.d", "f": "p.one.f", "h": "p.one.g"}


@pytest.mark.parametrize(
    ("written", "wanted", "expected"),
    [
        ("f", ("f",), True),
        ("f", ("p.one.f",), True),
        ("f", ("other", "p.one.f"), True),
        ("f", ("one.f",), False),
        ("x.f", ("f",), True),
        ("xf", ("f",), False),
        ("h", ("g",), True),
        ("h", ("h",), False),
        ("f()", ("f",), False),
        ("f", (), False),
    ],
)
def test_whether_an_expression_is_named(written: str, wanted: tuple[str, ...], expected: bool) -> None:
    module = Module("p.q", "p/q.py", ast.parse(TEXT), TEXT.encode())
    assert Bindings(module).is_named(ast.parse(written, mode="eval").body, wanted) is expected


def test_all_values_that_the_top_level_assigns() -> None:
    text = "a = 1\nif x:\n    a = b = 2\na: int = 3\nc.d = 4\ndef f():\n    a = 5\n"
    module = Module("p", "p.py", ast.parse(text), text.encode())
    found = {name: [ast.unparse(value) for value in values] for name, values in module.assigned.items()}
    assert found == {"a": ["1", "2"], "b": ["2"]}


def test_the_statements_that_run_at_import_are_in_order() -> None:
    body = ast.parse(FILES["pkg/inner/deep.py"]).body
    assert [(type(node).__name__, getattr(node, "name", None)) for node in statements(body)] == [
        ("If", None), ("ClassDef", "If"), ("ClassDef", "Else"),
        ("Try", None), ("ClassDef", "Try"), ("ClassDef", "Except"), ("ClassDef", "Finally"),
        ("With", None), ("ClassDef", "With"), ("For", None), ("ClassDef", "For"),
        ("While", None), ("ClassDef", "While"), ("Match", None), ("ClassDef", "Match"),
        ("FunctionDef", "f"), ("ClassDef", "Out"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "stays"),
    [("x = 'pkg.a'", True), ('x = "pkg.a"', True), ("x = remote", True), ("import x", True), ("x = 'kpg.a'", False)],
)
def test_functions_that_name_a_module_are_looked_into(body: str, stays: bool) -> None:
    text = f"def f():\n    {body}\n"
    found = Modules(Tree(None, {"pkg/a.py": text}), ("pkg",), ParsedFiles(FactStore()), ("remote",))
    module = found.find("pkg.a")
    assert module is not None
    assert (ast.dump(module.tree) == ast.dump(ast.parse(text))) is stays
    assert ast.dump(found.parsed("pkg/a.py")) == ast.dump(ast.parse(text))


def test_a_file_that_does_not_parse_is_named_by_the_error() -> None:
    for read in (lambda: modules().parsed("pkg/broken.py"), lambda: modules().find("pkg.broken")):
        with pytest.raises(SyntaxError) as raised:
            read()
        assert raised.value.filename == "pkg/broken.py"
