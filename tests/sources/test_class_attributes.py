"""The value of a class attribute, in the class or in what it builds on."""

from __future__ import annotations

import ast

import pytest

from pytest_actor_envs.sources.class_attributes import base_classes, class_attribute
from pytest_actor_envs.sources.fact_store import FactStore
from pytest_actor_envs.sources.modules import Modules
from pytest_actor_envs.sources.parsed_files import ParsedFiles
from pytest_actor_envs.sources.tree import Tree

HERE = """\
import ray
import pkg.base
import pkg.base as b
from pkg.base import Base, Plain as Renamed

class Own:
    x = 1
    x: int = 2
    y.x = 3
    def f(self):
        x = 4
class Twice(Base):
    other = x = 5
class Bare:
    x: int
class BareOverBase(Base):
    x: int
class Inherits(Base): pass
class ByModule(b.Base): pass
class ByFullName(pkg.base.Base): pass
class Second(Foreign, f(), Renamed, Base): pass
class Generic(Base[int]): pass
class Local(Own): pass
class Deep(Local): pass
class First(Renamed, Own): pass
class Loop(Pool): pass
class Pool(Loop): pass
class Impl:
    x = 6
Wrapped = ray.remote(Impl)
Annotated: object = ray.remote(num_cpus=1)(Impl)
Alias = Impl
Broken = ray.remote(Missing)
class OfBroken(pkg.broken.A): pass
"""
FILES = {
    "pkg/__init__.py": "",
    "pkg/here.py": HERE,
    "pkg/base.py": "class Base:\n    é = x = 'base'\n\nclass Plain:\n    y = 1\n",
    "pkg/broken.py": "class A(\n",
}


def modules() -> Modules:
    return Modules(Tree(None, FILES), ("pkg",), ParsedFiles(FactStore()), ("remote",))


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("Own", "pkg/here.py:8:5", "2"),
        ("Twice", "pkg/here.py:13:13", "5"),
        ("Inherits", "pkg/base.py:2:9", "'base'"),
        ("BareOverBase", "pkg/base.py:2:9", "'base'"),
        ("ByModule", "pkg/base.py:2:9", "'base'"),
        ("ByFullName", "pkg/base.py:2:9", "'base'"),
        ("Second", "pkg/base.py:2:9", "'base'"),
        ("Generic", "pkg/base.py:2:9", "'base'"),
        ("Local", "pkg/here.py:8:5", "2"),
        ("Deep", "pkg/here.py:8:5", "2"),
        ("First", "pkg/here.py:8:5", "2"),
        ("Wrapped", "pkg/here.py:29:5", "6"),
        ("Annotated", "pkg/here.py:29:5", "6"),
        ("Base", "pkg/base.py:2:9", "'base'"),
    ],
)
def test_where_an_attribute_is_and_what_it_is(name: str, place: str, value: str) -> None:
    found = class_attribute(modules(), "pkg.here", name, "x")
    assert found is not None
    location, node = found
    assert (f"{location.path}:{location.line}:{location.column}", ast.unparse(node)) == (place, value)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("pkg.here", "Bare"),
        ("pkg.here", "Renamed"),
        ("pkg.here", "Loop"),
        ("pkg.here", "Alias"),
        ("pkg.here", "Broken"),
        ("pkg.here", "Nowhere"),
        ("pkg.here", "OfBroken"),
        ("pkg.broken", "A"),
        ("pkg.none", "A"),
    ],
)
def test_there_is_none(module: str, name: str) -> None:
    assert class_attribute(modules(), module, name, "x") is None


@pytest.mark.parametrize(
    ("name", "bases"),
    [
        ("Second", ["pkg.base.Plain", "pkg.base.Base"]),
        ("Generic", ["pkg.base.Base"]),
        ("Local", ["pkg.here.Own"]),
        ("Wrapped", ["pkg.here.Impl"]),
        ("Alias", []),
        ("Own", []),
    ],
)
def test_the_classes_that_one_builds_on(name: str, bases: list[str]) -> None:
    found = modules()
    definition = found.definition("pkg.here", name)
    assert definition is not None
    assert [f"{base.module}.{base.name}" for base in base_classes(found, definition)] == bases
