"""The imports of a script that runs alone, each with the Pythons for which it counts."""

from __future__ import annotations

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.fact_store import FactStore
from pytest_actor_envs.sources.parsed_files import ParsedFiles
from pytest_actor_envs.sources.standalone_imports import (
    StandaloneImport,
    UnsupportedSyntax,
    Version,
    standalone_imports,
)

OLDEST, NEWEST = (3, 8), (3, 14)
HEAD = "import sys, typing, builtins, importlib as il\nfrom sys import version_info as v\nfrom typing import TYPE_CHECKING\n"
HEAD_IMPORTS = ["sys", "typing", "builtins", "importlib", "sys", "typing"]


def read(text: str, oldest: Version = OLDEST) -> list[StandaloneImport]:
    return standalone_imports(ParsedFiles(FactStore()), "leaf.py", text, oldest, NEWEST)


def below_head(text: str) -> list[StandaloneImport]:
    found = read(HEAD + text)
    assert [each.module for each in found[: len(HEAD_IMPORTS)]] == HEAD_IMPORTS
    return found[len(HEAD_IMPORTS) :]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a.b, c as d\n", [("a.b", 4, 8), ("c", 4, 13)]),
        ("from a.b import c, d\n", [("a.b", 4, 1)]),
        ("from . import a\nfrom ..b import c\n", [(".", 4, 1), ("..b", 5, 1)]),
        ("def f():\n    class A:\n        import a\n", [("a", 6, 16)]),
        ("x = 'é'; import a\n", [("a", 4, 17)]),
        ("def f():\n    if x:\n        pass\n    import a\n", [("a", 7, 12)]),
        ("try:\n    import a\nexcept E:\n    import b\n", [("a", 5, 12), ("b", 7, 12)]),
        ("__import__('a.b')\n", [("a.b", 4, 1)]),
        ("builtins.__import__('a')\n", [("a", 4, 1)]),
        ("il.import_module('a')\n", [("a", 4, 1)]),
        ("il.__import__(package=None, name='a')\n", [("a", 4, 1)]),
        ("importlib.import_module('a', name='b')\n", [("a", 4, 1)]),
        ("def f(n): return il.import_module(n)\n", [(None, 4, 18)]),
        ("il.import_module(3)\n", [(None, 4, 1)]),
        ("il.import_module()\n", [(None, 4, 1)]),
        ("il.import_module(other='a')\n", [(None, 4, 1)]),
        ("if il.import_module('a'):\n    __import__('b')\nelif __import__('c'): pass\n", [
            ("b", 5, 5), ("c", 6, 6), ("a", 4, 4),
        ]),
        ("import_module('a')\nil.other('a')\nf()('a')\nx.__import__('a')\n", []),
        ("from importlib import import_module as load\nload('a')\n", [("importlib", 4, 1), ("a", 5, 1)]),
    ],
)  # fmt: skip
def test_each_import_and_its_place(text: str, expected: list[tuple[str | None, int, int]]) -> None:
    assert below_head(text) == [
        StandaloneImport(module, Location("leaf.py", line, column), OLDEST, NEWEST) for module, line, column in expected
    ]


@pytest.mark.parametrize(
    ("test", "then", "otherwise"),
    [
        ("sys.version_info >= (3, 11)", ((3, 11), NEWEST), (OLDEST, (3, 10))),
        ("v >= (3, 11)", ((3, 11), NEWEST), (OLDEST, (3, 10))),
        ("sys.version_info >= (3, 11, 2)", ((3, 11), NEWEST), (OLDEST, (3, 10))),
        ("sys.version_info > (3, 11)", ((3, 11), NEWEST), (OLDEST, (3, 10))),
        ("sys.version_info < (3, 9)", (OLDEST, (3, 8)), ((3, 9), NEWEST)),
        ("not sys.version_info < (3, 9)", ((3, 9), NEWEST), (OLDEST, (3, 8))),
        ("sys.version_info >= (3, 8)", (OLDEST, NEWEST), None),
        ("sys.version_info >= (3, 7)", (OLDEST, NEWEST), None),
        ("sys.version_info < (3, 14)", (OLDEST, (3, 13)), (NEWEST, NEWEST)),
        ("sys.version_info < (3, 15)", (OLDEST, NEWEST), None),
        ("sys.version_info >= (3, 20)", None, (OLDEST, NEWEST)),
        ("TYPE_CHECKING", None, (OLDEST, NEWEST)),
        ("typing.TYPE_CHECKING", None, (OLDEST, NEWEST)),
        ("not TYPE_CHECKING", (OLDEST, NEWEST), None),
        ("sys.version_info > (3, 11, 2)", (OLDEST, NEWEST), (OLDEST, NEWEST)),
        ("sys.version_info == (3, 11)", (OLDEST, NEWEST), (OLDEST, NEWEST)),
        ("sys.version_info >= (3,)", (OLDEST, NEWEST), (OLDEST, NEWEST)),
        ("sys.version_info >= (3, 'a')", (OLDEST, NEWEST), (OLDEST, NEWEST)),
        ("sys.version_info >= [3, 11]", (OLDEST, NEWEST), (OLDEST, NEWEST)),
        ("sys.version_info >= WANTED", (OLDEST, NEWEST), (OLDEST, NEWEST)),
        ("sys.other >= (3, 11)", (OLDEST, NEWEST), (OLDEST, NEWEST)),
        ("(3, 9) <= sys.version_info", (OLDEST, NEWEST), (OLDEST, NEWEST)),
        ("sys.version_info >= (3, 9) >= x", (OLDEST, NEWEST), (OLDEST, NEWEST)),
        ("-sys.version_info", (OLDEST, NEWEST), (OLDEST, NEWEST)),
        ("-TYPE_CHECKING", (OLDEST, NEWEST), (OLDEST, NEWEST)),
        ("other", (OLDEST, NEWEST), (OLDEST, NEWEST)),
    ],
)
def test_the_versions_for_which_an_import_counts(
    test: str, then: tuple[Version, Version] | None, otherwise: tuple[Version, Version] | None
) -> None:
    expected = [(name, *versions) for name, versions in (("a", then), ("b", otherwise)) if versions]
    found = below_head(f"if {test}:\n    import a\nelse:\n    import b\n")
    assert [(each.module, each.oldest, each.newest) for each in found] == expected


def test_versions_within_versions() -> None:
    text = (
        "if sys.version_info >= (3, 10):\n    if v < (3, 12):\n        import a\n    else:\n        import b\n"
        "    def f():\n        if v < (3, 9):\n            import never\n"
        "elif v >= (3, 9):\n    import c\nelse:\n    import d\n"
    )
    assert [(each.module, each.oldest, each.newest) for each in below_head(text)] == [
        ("a", (3, 10), (3, 11)),
        ("b", (3, 12), NEWEST),
        ("c", (3, 9), (3, 9)),
        ("d", OLDEST, (3, 8)),
    ]


DECORATORS = "decorators other than a dotted name or its call need Python 3.9"
UNPACKING = "unpacking in a subscript needs Python 3.11"
MATCHING = "Pattern matching is only supported in Python 3.10 and greater"


@pytest.mark.parametrize(
    ("text", "oldest", "message", "line", "column"),
    [
        ("x = 1\n@a[0]\ndef f(): ...\n", (3, 8), DECORATORS, 3, 1),
        ("@a\n@a[0].b\nasync def f(): ...\n", (3, 8), DECORATORS, 3, 1),
        ("if x:\n    @a()()\n    class A: ...\n", (3, 8), DECORATORS, 3, 5),
        ("x = a[*b]\n", (3, 8), UNPACKING, 1, 5),
        ("def f():\n    return a[1, *b]\n", (3, 10), UNPACKING, 2, 12),
        ("x = 1\nif x:\n    match x:\n        case 1: pass\n", (3, 9), MATCHING, 3, 5),
        ("match x:\n    case 1: pass\nmatch y:\n    case 1: pass\n", (3, 8), MATCHING, 1, 1),
        (
            "x = 1\ntry:\n    pass\nexcept* E:\n    pass\n",
            (3, 10),
            "Exception groups are only supported in Python 3.11 and greater",
            2,
            1,
        ),
        (
            "\nif (a := b): pass\n",
            (3, 7),
            "Assignment expressions are only supported in Python 3.8 and greater",
            2,
            11,
        ),
        ("x = (\n", (3, 8), "'(' was never closed", 1, 5),
        ("a\0b", (3, 8), "source code string cannot contain null bytes", 1, 1),
    ],
)
def test_syntax_that_the_oldest_python_does_not_know(
    text: str, oldest: Version, message: str, line: int, column: int
) -> None:
    with pytest.raises(UnsupportedSyntax) as raised:
        read(text, oldest)
    assert (str(raised.value), raised.value.location) == (message, Location("leaf.py", line, column))


@pytest.mark.parametrize(
    ("text", "oldest"),
    [
        ("@a.b\n@c(1)\n@d.e(f)\ndef g(): ...\n", (3, 8)),
        ("@a[0]\nclass A: ...\n", (3, 9)),
        ("x = a[*b]\n", (3, 11)),
        ("x = a[1, 2]; y = (*b,); z = a[b]\n", (3, 8)),
        ("match x:\n    case 1: pass\n", (3, 10)),
    ],
)
def test_syntax_that_it_knows(text: str, oldest: Version) -> None:
    assert read(text, oldest) == []
