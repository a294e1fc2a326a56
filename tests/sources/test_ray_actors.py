"""Which definitions are Ray actor classes, in each form in which one is made."""

from __future__ import annotations

import ast

import pytest

from pytest_actor_envs.sources.fact_store import FactStore
from pytest_actor_envs.sources.modules import Module, Modules
from pytest_actor_envs.sources.parsed_files import ParsedFiles
from pytest_actor_envs.sources.ray_actors import actor_names, is_ray_actor, is_remote
from pytest_actor_envs.sources.tree import Tree

TEXT = """\
import ray
import ray as r
from ray import remote, remote as far, get
from pkg.other import Elsewhere, Plain as Here, actor

@ray.remote
class Bare: pass
@ray.remote(num_cpus=1)
class Called: pass
@other
@r.remote
class Second: pass
@far
class Renamed: pass
@remote()
class Imported: pass
class Plain: pass
@ray.get
class Got: pass
@ray.remote(Plain)
class Given: pass
@other()()
class Odd: pass

kept = ray.remote
again = kept
few = ray.remote(num_cpus=0)
loop = loop
called_loop = called_loop()
back = forth
forth = back

@kept
class Kept: pass
@again(num_cpus=1)
class Again: pass
@few
class Few: pass
@loop
class Loop: pass
@back
class Back: pass
@x.kept
class OfAnother: pass
@actor
class Foreign: pass

Wrapped = ray.remote(Plain)
Annotated: object = ray.remote(num_cpus=1)(Plain)
Unwrapped = ray.remote(num_cpus=1)
NoCall = ray.remote
Other = get(Plain)
Alias = Bare
AliasOfWrapped = Wrapped
AliasOfPlain = Plain
"""
OTHER = "import ray\nactor = ray.remote\n@actor\nclass Elsewhere: pass\nclass Plain: pass\n"
ACTORS = {
    "Bare", "Called", "Second", "Renamed", "Imported", "Kept", "Again", "Few", "Wrapped", "Annotated",
}  # fmt: skip
THROUGH_NAMES = {"Alias", "AliasOfWrapped", "Elsewhere"}
NONE = {
    "Plain", "Got", "Given", "Odd", "Loop", "Back", "OfAnother", "Foreign", "Unwrapped", "NoCall", "Other",
    "AliasOfPlain", "Here",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(ACTORS | THROUGH_NAMES | NONE))
def test_whether_a_name_is_an_actor(name: str) -> None:
    modules = Modules(Tree(None, {"pkg/here.py": TEXT, "pkg/other.py": OTHER}), ("pkg",), ParsedFiles(FactStore()))
    definition = modules.definition("pkg.here", name)
    assert definition is not None
    assert is_ray_actor(modules, definition) is (name in ACTORS | THROUGH_NAMES)


def test_the_actors_that_a_module_defines() -> None:
    module = Module("pkg.here", "pkg/here.py", ast.parse(TEXT), TEXT.encode())
    assert actor_names(module) == sorted(ACTORS)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("ray.remote", True),
        ("r.remote", True),
        ("far", True),
        ("kept", True),
        ("few", True),
        ("ray.remote()", True),
        ("ray.remote(x=1)", True),
        ("ray.remote(X)", False),
        ("get", False),
        ("ray.remote.x", False),
        ("x.kept", False),
        ("loop", False),
        ("called_loop", False),
        ("unknown", False),
        ("kept[0]", False),
    ],
)
def test_whether_an_expression_makes_actors(written: str, expected: bool) -> None:
    module = Module("pkg.here", "pkg/here.py", ast.parse(TEXT), TEXT.encode())
    assert is_remote(module, ast.parse(written, mode="eval").body) is expected
