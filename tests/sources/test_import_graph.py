"""Which modules import which, what that executes, and by which chain of imports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.fact_store import FactStore
from pytest_actor_envs.sources.import_graph import Foreign, ImportGraph, Links
from pytest_actor_envs.sources.parsed_files import ParsedFiles
from pytest_actor_envs.sources.tree import Tree

FILES = {
    "pkg/__init__.py": "",
    "pkg/a.py": "import pkg.sub.deep\nimport os, torch\ndef f():\n    from . import b\n    import late\n",
    "pkg/b.py": (
        "from .sub import deep, Name\nfrom pkg import *\nimport pkg.b, pkg.none\n"
        "try:\n    import optional, json\n    from . import c\nexcept ImportError:\n    pass\n"
    ),
    "pkg/c.py": "from third import x, y as z\nfrom fourth import *\nfrom fourth import w\n",
    "pkg/sub/__init__.py": "from .. import c\nfrom . import deep\ndef f():\n    import in_package\n",
    "pkg/sub/deep.py": "from ...a import x\nfrom .... import y\nfrom ..other import z\nfrom .. import single\n",
    "pkg/versions.py": (
        "import sys\nif sys.version_info >= (3, 12):\n    import newer\nelse:\n    import older\nimport distutils, imp\n"
    ),
    "pkg/broken.py": "import (\n",
    "pkg/uses_broken.py": "import pkg.broken\nimport pkg.a\n",
    "pkg/data.txt": "",
    "single.py": "import pkg.a\nimport single_needs\n",
    "elsewhere/a.py": "import pkg\n",
}


def graph(files: Mapping[str, str] = FILES, python: tuple[int, int] = (3, 11)) -> ImportGraph:
    return ImportGraph(Tree(None, files), ("pkg", "single", "pkg"), python, ParsedFiles(FactStore()).imports)


def edges(links: Links) -> list[tuple[str, int]]:
    return [(edge.target, edge.fact.line) for edge in links.edges]


def names(foreign: Iterable[Foreign]) -> list[str]:
    return [name for each in foreign for name in each.names]


def test_the_files_of_modules() -> None:
    assert graph().paths == {
        "pkg": "pkg/__init__.py",
        "pkg.a": "pkg/a.py",
        "pkg.b": "pkg/b.py",
        "pkg.broken": "pkg/broken.py",
        "pkg.c": "pkg/c.py",
        "pkg.sub": "pkg/sub/__init__.py",
        "pkg.sub.deep": "pkg/sub/deep.py",
        "pkg.uses_broken": "pkg/uses_broken.py",
        "pkg.versions": "pkg/versions.py",
        "single": "single.py",
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pkg.sub.deep", ("pkg", "pkg.sub", "pkg.sub.deep")),
        ("pkg.sub.Name", ("pkg", "pkg.sub")),
        ("pkg", ("pkg",)),
        ("single", ("single",)),
        ("other.pkg", ()),
        ("", ()),
    ],
)
def test_what_importing_a_name_executes(name: str, expected: tuple[str, ...]) -> None:
    assert graph().executed(name) == expected


@pytest.mark.parametrize(
    ("module", "expected", "foreign", "third_party", "at_top", "executed", "executed_at_top"),
    [
        (
            "pkg.a",
            [("pkg", 1), ("pkg.sub", 1), ("pkg.sub.deep", 1), ("pkg", 4), ("pkg.b", 4)],
            ["torch", "late"],
            ["torch", "late"],
            ["torch"],
            ("pkg", "pkg.sub", "pkg.sub.deep", "pkg.b"),
            ("pkg", "pkg.sub", "pkg.sub.deep"),
        ),
        (
            "pkg.b",
            [("pkg", 1), ("pkg.sub", 1), ("pkg.sub.deep", 1), ("pkg", 2), ("pkg", 3), ("pkg", 3), ("pkg", 6), ("pkg.c", 6)],
            ["optional", "json"],
            ["optional"],
            ["optional"],
            ("pkg", "pkg.sub", "pkg.sub.deep"),
            ("pkg", "pkg.sub", "pkg.sub.deep"),
        ),
        (
            "pkg.c",
            [],
            ["third.x", "third.y", "fourth", "fourth.w"],
            ["third.x", "third.y", "fourth", "fourth.w"],
            ["third.x", "third.y", "fourth", "fourth.w"],
            (),
            (),
        ),
        (
            "pkg.sub",
            [("pkg", 1), ("pkg.c", 1), ("pkg", 2), ("pkg.sub.deep", 2)],
            ["in_package"],
            ["in_package"],
            [],
            ("pkg", "pkg.c", "pkg.sub.deep"),
            ("pkg", "pkg.c", "pkg.sub.deep"),
        ),
        ("pkg.sub.deep", [("pkg", 3), ("pkg", 4)], ["a.x"], ["a.x"], ["a.x"], ("pkg",), ("pkg",)),
        (
            "single",
            [("pkg", 1), ("pkg.a", 1)],
            ["single_needs"],
            ["single_needs"],
            ["single_needs"],
            ("pkg", "pkg.a"),
            ("pkg", "pkg.a"),
        ),
    ],
)  # fmt: skip
def test_what_a_module_imports(
    module: str,
    expected: list[tuple[str, int]],
    foreign: list[str],
    third_party: list[str],
    at_top: list[str],
    executed: tuple[str, ...],
    executed_at_top: tuple[str, ...],
) -> None:
    links = graph().links(module)
    assert edges(links) == expected
    assert (names(links.foreign), names(links.third_party), names(links.third_party_at_top)) == (
        foreign,
        third_party,
        at_top,
    )
    assert (links.executed, links.executed_at_top, links.error) == (executed, executed_at_top, None)
    assert {each.module for each in links.foreign} <= {module}
    assert {each.path for each in links.foreign} <= {graph().paths[module]}


def test_the_place_of_an_import_of_something_else() -> None:
    assert [each.location for each in graph().links("pkg.a").foreign] == [
        Location("pkg/a.py", 2, 12),
        Location("pkg/a.py", 5, 12),
    ]


@pytest.mark.parametrize(
    ("python", "expected"), [((3, 11), ["older"]), ((3, 12), ["newer", "distutils", "imp"]), ((3, 8), ["older"])]
)
def test_the_version_of_python_decides(python: tuple[int, int], expected: list[str]) -> None:
    assert names(graph(python=python).links("pkg.versions").foreign) == expected


def test_a_module_that_does_not_parse() -> None:
    links = graph().links("pkg.broken")
    assert isinstance(links.error, SyntaxError)
    assert links == Links(error=links.error)


def test_what_modules_reach() -> None:
    found = graph().reach(("pkg.a", "pkg.none"), ("single", "pkg.sub.Name"))
    assert found.own == {"pkg.a"}
    assert found.start == ("pkg", "pkg.a", "single", "pkg.sub")
    assert found.modules == {"pkg", "pkg.a", "pkg.b", "pkg.c", "pkg.sub", "pkg.sub.deep", "single"}
    assert names(found.foreign) == [
        "torch", "late", "single_needs", "a.x", "optional", "third.x", "third.y", "fourth", "fourth.w",
    ]  # fmt: skip
    assert found.unreadable == ()


def test_functions_of_others_and_imports_that_are_tried_lead_nowhere() -> None:
    found = graph().reach(("pkg.sub",), ("pkg.a",))
    assert found.own == {"pkg.sub"}
    assert found.modules == {"pkg", "pkg.sub", "pkg.a", "pkg.c", "pkg.sub.deep"}
    assert names(found.foreign) == ["in_package", "torch", "third.x", "third.y", "fourth", "fourth.w", "a.x"]
    assert graph().reach(("pkg.b",)).modules == {"pkg", "pkg.b", "pkg.sub", "pkg.sub.deep", "pkg.c"}


def test_what_does_not_parse_is_told_and_passed_over() -> None:
    found = graph().reach(("pkg.uses_broken",))
    assert [path for path, _ in found.unreadable] == ["pkg/broken.py"]
    assert isinstance(found.unreadable[0][1], SyntaxError)
    assert {"pkg.broken", "pkg.a"} <= set(found.modules)


@pytest.mark.parametrize(
    ("own", "others", "module", "expected"),
    [
        (("pkg.a",), (), "pkg.c", [("pkg/a.py", 1), ("pkg/sub/__init__.py", 1)]),
        (("pkg.a",), (), "pkg.b", [("pkg/a.py", 4)]),
        (("pkg.a",), (), "pkg.a", []),
        (("pkg.a",), (), "pkg.none", []),
        (("single",), ("pkg.a",), "pkg.b", []),
        (("pkg.b",), (), "pkg.c", [("pkg/b.py", 1), ("pkg/sub/__init__.py", 1)]),
        (("single",), (), "pkg.sub.deep", [("single.py", 1), ("pkg/a.py", 1)]),
    ],
)
def test_the_chain_of_imports_that_leads_to_a_module(
    own: tuple[str, ...], others: tuple[str, ...], module: str, expected: list[tuple[str, int]]
) -> None:
    found = graph()
    chain = found.chain(found.reach(own, others), module)
    assert [(place.path, place.line) for place in chain] == expected


def test_a_chain_has_the_column_of_each_import() -> None:
    found = graph({"pkg/a.py": "x = 1; import pkg.b\n", "pkg/b.py": ""})
    assert found.chain(found.reach(("pkg.a",)), "pkg.b") == (Location("pkg/a.py", 1, 15),)


def test_the_text_of_a_module(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.py").write_bytes(b"# \xff\n")
    on_disk = ImportGraph(Tree(tmp_path), ("pkg",), (3, 11), ParsedFiles(FactStore()).imports)
    assert on_disk.text_of("pkg.a") == "# \N{REPLACEMENT CHARACTER}\n"
    assert graph().text_of("pkg.sub") == FILES["pkg/sub/__init__.py"]
