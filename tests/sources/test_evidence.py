"""What entries import, what provides that, and which extras it explains, over a small project."""

from __future__ import annotations

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.distributions import Distributions
from pytest_actor_envs.sources.evidence import Evidence, OwnModules
from pytest_actor_envs.sources.fact_store import FactStore
from pytest_actor_envs.sources.import_graph import ImportGraph
from pytest_actor_envs.sources.modules import Modules
from pytest_actor_envs.sources.parsed_files import ParsedFiles
from pytest_actor_envs.sources.provision import DirectProvision
from pytest_actor_envs.sources.pyproject import Pyproject
from pytest_actor_envs.sources.table import Entry
from pytest_actor_envs.sources.tree import Tree

PYPROJECT = """\
[project]
name = "sample"
dependencies = ["base"]

[project.optional-dependencies]
one = ["first", "shared"]
Two_More = ["second", "shared"]
three = ["third"]
"""
FILES = {
    "pkg/__init__.py": "from .actors import Actor as Renamed\n",
    "pkg/actors.py": (
        "import ray, base, os\nfrom .impl import Impl\nimport pkg.helper\n"
        "NAMED = ['pkg.by_name.Class', 'pkg.actors.Actor', 'pkg.none', 'no pkg.helper', 'pkg.helper!', 'other.x']\n"
        "class Actor(Impl):\n    def f(self):\n        import first\n"
        "Wrapped = ray.remote(Impl)\n"
    ),
    "pkg/impl.py": ("from pkg.deeper import Deeper\nclass Impl(Deeper):\n    def f(self):\n        import second\n"),
    "pkg/deeper.py": "from .impl import Impl\nclass Deeper(Impl): pass\nimport json\n",
    "pkg/helper.py": "def f():\n    import third\ntry:\n    import third.tried\nexcept ImportError:\n    pass\n",
    "pkg/by_name.py": "import third.named, unknown\n",
    "pkg/plain.py": "import shared\nNAMED = 'plain'\nclass Plain: pass\n",
    "pkg/broken.py": "class Broken(\n",
    "pkg/of_broken.py": "from .broken import Base\nclass OfBroken(Base): pass\n",
}


def entry(name: str) -> Entry:
    here = Location("leaf.py")
    return Entry(name, here, here, None, True, (), (0, 0), (0, 0))


def evidence() -> Evidence:
    tree, files = Tree(None, FILES), ParsedFiles(FactStore())
    provision = DirectProvision(Pyproject(PYPROJECT.encode()), {}, (3, 12))
    return Evidence(
        ImportGraph(tree, ("pkg", "a|b"), (3, 12), files.imports),
        Modules(tree, ("pkg", "a|b"), files, ("remote",)),
        Distributions({"third": "third"}, provision.known),
        provision,
        (3, 12),
    )


ACTOR = OwnModules(("pkg.actors", "pkg.impl", "pkg.deeper"), "pkg.actors", ("pkg.by_name", "pkg"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pkg.actors.Actor", ACTOR),
        ("pkg.Renamed", OwnModules(ACTOR.own, "pkg", ACTOR.literals)),
        ("pkg.actors.Wrapped", ACTOR),
        ("pkg.impl.Impl", OwnModules(("pkg.impl", "pkg.deeper"), "pkg.impl", ())),
        ("pkg.plain.Plain", OwnModules(("pkg.plain",), "pkg.plain", ())),
        ("pkg.plain.None", None),
        ("pkg.none.Plain", None),
        ("pkg.broken.Broken", None),
        ("pkg.of_broken.OfBroken", None),
    ],
)
def test_the_modules_that_an_actor_is_made_of(name: str, expected: OwnModules | None) -> None:
    assert evidence().own_modules(entry(name)) == expected


def test_what_an_actor_reaches() -> None:
    found, actor = evidence(), entry("pkg.actors.Actor")
    reach = found.reach(ACTOR)
    assert reach.modules == {"pkg", "pkg.actors", "pkg.impl", "pkg.deeper", "pkg.helper"}
    assert reach.own == {"pkg.actors", "pkg.impl", "pkg.deeper"}
    assert reach.start == ("pkg", "pkg.actors", "pkg.impl", "pkg.deeper")
    assert found.reach_with_literals(ACTOR).modules == {*reach.modules, "pkg.by_name"}
    plain = OwnModules(("pkg.plain",), "pkg.by_name", ())
    assert found.reach_with_literals(plain) is found.reach(plain)
    assert found.reach(plain).modules == {*reach.modules, "pkg.plain", "pkg.by_name"}
    named = OwnModules(("pkg.plain",), "pkg.plain", ("pkg.none", "pkg.by_name"))
    assert found.reach_with_literals(named).modules == found.reach(plain).modules
    assert found.reach(named).modules == {*reach.modules, "pkg.plain"}
    assert [found.reaches(actor, module) for module in ("pkg.helper", "pkg.by_name", "pkg.plain")] == [
        True,
        False,
        False,
    ]
    assert not found.reaches(entry("pkg.none.Plain"), "pkg.helper")


def test_what_provides_what_an_actor_imports() -> None:
    found = evidence()
    listed = list(found.third_party(found.reach_with_literals(ACTOR)))
    assert [(name, sorted(names)) for _, name, names in listed if name != "ray"] == [
        ("base", ["base"]),
        ("first", ["first"]),
        ("second", ["second"]),
        ("third.named", ["third"]),
        ("unknown", []),
        ("third.tried", ["third"]),
    ]
    assert [foreign.names for foreign, *_ in listed if foreign.module == "pkg.helper"] == [("third.tried",)]


def test_whether_an_actor_executes_an_import() -> None:
    found = evidence()
    imports = {
        foreign.names[0]: foreign
        for module in ("pkg.actors", "pkg.impl", "pkg.helper", "pkg.by_name")
        for foreign in found.graph.links(module).foreign
    }
    listed = ["base", "first", "second", "third", "third.tried", "third.named"]
    asked = {name: [found.imports_at(entry(name), imports[each]) for each in listed] for name in
             ("pkg.actors.Actor", "pkg.impl.Impl", "pkg.plain.None")}  # fmt: skip
    assert asked == {
        "pkg.actors.Actor": [True, True, True, False, True, False],
        "pkg.impl.Impl": [True, False, True, False, True, False],
        "pkg.plain.None": [False] * 6,
    }


def test_whether_an_import_is_of_the_standard_library() -> None:
    found = evidence()
    [tried] = [each for each in found.graph.links("pkg.helper").foreign if not each.fact.is_hard]
    assert not found.is_standard(tried)
    assert found.is_standard(tried._replace(names=("json.decoder",)))
    assert not found.is_standard(tried._replace(names=("distutils",)))


@pytest.mark.parametrize(
    ("extras", "expected"),
    [
        (None, {"base"}),
        ((), {"base"}),
        (("one",), {"base", "first", "shared"}),
        (("two-more", "three"), {"base", "second", "shared", "third"}),
        (("TWO.more",), {"base", "second", "shared"}),
    ],
)
def test_what_an_environment_has(extras: tuple[str, ...] | None, expected: set[str]) -> None:
    assert evidence().environment(extras) == expected


@pytest.mark.parametrize(
    ("own", "extras", "expected"),
    [
        (ACTOR, ("one", "Two_More", "three"), {"one": "first", "Two_More": "second", "three": "third.named"}),
        (ACTOR, ("one",), {"one": "first"}),
        (ACTOR, (), {}),
        (OwnModules(("pkg.plain",), "pkg.plain", ()), ("one",), {"one": "shared"}),
        (OwnModules(("pkg.plain",), "pkg.plain", ()), ("one", "Two_More"), {}),
        (OwnModules(("pkg.helper",), "pkg.helper", ()), ("three", "one"), {"three": "third"}),
        (OwnModules(("pkg.impl",), "pkg.helper", ()), ("three", "Two_More"), {"Two_More": "second"}),
    ],
)
def test_the_extras_that_imports_explain(own: OwnModules, extras: tuple[str, ...], expected: dict[str, str]) -> None:
    explained = evidence().explained_by_imports(own, extras)
    assert {extra: foreign.names[0] for extra, foreign in explained.items()} == expected
    assert list(explained) == [extra for extra in extras if extra in expected]
