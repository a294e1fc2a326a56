"""The imports of a file with their circumstances, also by calls, and what is said of a text that cannot be parsed."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import pytest

from pytest_actor_envs.sources.imports import ALWAYS, ImportFact, import_facts, parsed


def fact(
    module: str,
    line: int,
    column: int,
    names: Iterable[str] = (),
    level: int = 0,
    in_function: bool = False,
    attempts: Iterable[tuple[int, bool]] = (),
) -> ImportFact:
    return ImportFact(level, module, tuple(names), line, column, in_function, tuple(attempts), *ALWAYS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a.b, c as d\n", [fact("a.b", 1, 8), fact("c", 1, 13)]),
        ("from a import b, c as d\n", [fact("a", 1, 1, ["b", "c"])]),
        ("from . import a\nfrom ..b import *\n", [fact("", 1, 1, ["a"], 1), fact("b", 2, 1, ["*"], 2)]),
        ("# \N{SNOWMAN}\n'\N{SNOWMAN}'; import a\n", [fact("a", 2, 13)]),
        ("def f(x=__import__('a')):\n    import b\n", [fact("a", 1, 9), fact("b", 2, 12, in_function=True)]),
        (
            "@__import__('a')\nasync def f():\n    class A:\n        import b\nimport c\n",
            [fact("a", 1, 2), fact("b", 4, 16, in_function=True), fact("c", 5, 8)],
        ),
        (
            "@__import__('a').b\nclass A(__import__('b').B):\n    import c\n",
            [fact("a", 1, 2), fact("b", 2, 9), fact("c", 3, 12)],
        ),
        (
            "for x in __import__('a'):\n    import b\nelse:\n    import c\n",
            [fact("a", 1, 10), fact("b", 2, 12), fact("c", 4, 12)],
        ),
        (
            "while __import__('a'):\n    import b\nelse:\n    import c\n",
            [fact("a", 1, 7), fact("b", 2, 12), fact("c", 4, 12)],
        ),
        (
            "async def f():\n    async for x in __import__('a'):\n        import b\n"
            "    async with __import__('c') as d:\n        import e\n",
            [fact(name, line, column, in_function=True) for name, line, column in
             (("a", 2, 20), ("b", 3, 16), ("c", 4, 16), ("e", 5, 16))],
        ),
        ("if __import__('a'):\n    import b\nelse:\n    import c\n", [
            fact("a", 1, 4), fact("b", 2, 12), fact("c", 4, 12),
        ]),
        ("match x:\n    case 1:\n        import a\n    case _:\n        import b\n", [
            fact("a", 3, 16), fact("b", 5, 16),
        ]),
        ("x = [__import__('a'), y]\n", [fact("a", 1, 6)]),
        ("try:\n    import a\nexcept ValueError:\n    import b\n", [fact("a", 2, 12), fact("b", 4, 12)]),
        (
            "try:\n    import a\nexcept ValueError:\n    import b\nexcept ImportError:\n    import c\n"
            "except:\n    import d\nelse:\n    import e\nfinally:\n    import f\n",
            [
                fact("a", 2, 12, attempts=[(1, True)]), fact("b", 4, 12), fact("c", 6, 12, attempts=[(1, False)]),
                fact("d", 8, 12), fact("e", 10, 12, attempts=[(1, True)]), fact("f", 12, 12),
            ],
        ),
        *(
            (f"try:\n    import a\nexcept{kind}:\n    pass\n", [fact("a", 2, 12, attempts=attempts)])
            for kind, attempts in (
                ("", [(1, True)]), (" ImportError", [(1, True)]), (" ModuleNotFoundError", [(1, True)]),
                (" Exception", [(1, True)]), (" BaseException", [(1, True)]), (" (A, builtins.ImportError)", [(1, True)]),
                (" (A, B)", []), (" OSError", []), (" f()", []), ("* ImportError", [(1, True)]),
            )
        ),
        *(
            (f"try:\n    import a\nexcept ImportError:\n    x = 1\n    {last}\n", [fact("a", 2, 12, attempts=attempts)])
            for last, attempts in (
                ("raise", []), ("if x:\n        raise\n    else:\n        raise", []),
                ("if x:\n        raise\n    else:\n        pass", [(1, True)]),
                ("if x:\n        pass\n    else:\n        raise", [(1, True)]),
                ("if x:\n        raise", [(1, True)]), ("with x:\n        raise", []),
                ("with x:\n        pass", [(1, True)]), ("return_ = 1", [(1, True)]),
            )
        ),
        ("try:\n    import a\nexcept ImportError:\n    import b\n    raise\n", [fact("a", 2, 12), fact("b", 4, 12)]),
        (
            "try:\n    try:\n        import a\n    except ImportError:\n        import b\nexcept Exception:\n    import c\n",
            [
                fact("a", 3, 16, attempts=[(1, True), (2, True)]), fact("b", 5, 16, attempts=[(1, True), (2, False)]),
                fact("c", 7, 12, attempts=[(1, False)]),
            ],
        ),
        (
            "try:\n    pass\nexcept ImportError:\n    with x:\n        try:\n            import a\n"
            "        except ImportError:\n            pass\n",
            [fact("a", 6, 20, attempts=[(1, False), (5, True)])],
        ),
        *(
            (f"\nwith {manager}:\n    import a\n", [fact("a", 3, 12, attempts=attempts)])
            for manager, attempts in (
                ("suppress(ImportError)", [(2, True)]), ("contextlib.suppress(A, ImportError)", [(2, True)]),
                ("x, suppress((A, Exception)) as y", [(2, True)]), ("suppress(OSError)", []), ("suppress", []),
                ("other(ImportError)", []), ("suppress()", []),
            )
        ),
        (
            "try:\n    with suppress(ImportError):\n        import a\nexcept ImportError:\n    pass\n",
            [fact("a", 3, 16, attempts=[(1, True), (2, True)])],
        ),
    ],
)  # fmt: skip
def test_what_a_file_imports_and_in_which_circumstances(text: str, expected: list[ImportFact]) -> None:
    assert list(import_facts(text.encode())) == expected
    assert [each.is_hard for each in import_facts(text.encode())] == [not each.attempts for each in expected]


@pytest.mark.parametrize(
    ("content", "version", "message", "line", "column"),
    [
        (b"x = (\n", None, "'(' was never closed", 1, 5),
        ("x = 1\n'\N{SNOWMAN}' (\n".encode(), None, "'(' was never closed", 2, 5),
        (b"\xef\xbb\xbfx (\n", None, "'(' was never closed", 1, 3),
        (b"match x:\n    case 1: pass\n", (3, 9), "Pattern matching is only supported in Python 3.10 and greater", 2, 17),
        (
            "match x:\n    case '\N{SNOWMAN}': pass\n".encode(), (3, 9),
            "Pattern matching is only supported in Python 3.10 and greater", 2, 19,
        ),
        (b"x\0", None, "source code string cannot contain null bytes", 1, 1),
        (b"x = 1\n'\xff'\n", None, None, None, None),
    ],
)  # fmt: skip
def test_a_text_that_cannot_be_parsed(
    content: bytes, version: tuple[int, int] | None, message: str | None, line: int | None, column: int | None
) -> None:
    with pytest.raises(SyntaxError) as raised:
        parsed(content, "a.py", version)
    error = raised.value
    assert error.filename == "a.py"
    if message is not None:
        assert (error.msg, error.lineno, error.offset) == (message, line, column)


def test_a_text_that_can_be_parsed_by_a_version() -> None:
    with pytest.raises(SyntaxError) as raised:
        parsed(b"(")
    assert raised.value.filename == "<unknown>"
    content = b"match x:\n    case 1: pass\n"
    assert ast.dump(parsed(content, "a.py", (3, 10))) == ast.dump(ast.parse(content)) == ast.dump(parsed(content))


@pytest.mark.parametrize(("python", "counts"), [((3, 8), False), ((3, 9), True), ((3, 11), True), ((3, 12), False)])
def test_the_versions_for_which_an_import_counts_are_half_open(python: tuple[int, int], counts: bool) -> None:
    assert fact("a", 1, 1)._replace(since=(3, 9), before=(3, 12)).counts_for(python) is counts


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ('from importlib import import_module as load\nload("a")\n', ["importlib", "a"]),
        ('from importlib import (\n    import_module  as\tload,\n)\nload("a.b")\n', ["importlib", "a.b"]),
        ('import importlib as i\ni.import_module(name="a", package=None)\n', ["importlib", "a"]),
        ('import importlib as i\ni.import_module(f"a" "b")\n', ["importlib", "ab"]),
        ('class A(__import__("a").B, meta=__import__("c").D):\n    pass\n', ["a", "c"]),
        ('def f(x=__import__("a")):\n    pass\n', ["a"]),
        ('__import__(f"{a}")\n__import__(f"a{b}")\n__import__(b"a")\n__import__()\n__import__(".a")\nload("a")\n', []),
    ],
)
def test_a_call_that_imports(text: str, modules: list[str]) -> None:
    assert [fact.module for fact in import_facts(text.encode())] == modules


def versions(text: str) -> list[tuple[object, object]]:
    facts = [fact for fact in import_facts(f"import sys\n{text}".encode()) if fact.module == "a"]
    return [(fact.since, fact.before) for fact in facts]


ANY = versions("import a\n")[0]


@pytest.mark.parametrize(
    ("test", "since", "before"),
    [
        ("sys.version_info >= (3, 11)", (3, 11), ANY[1]),
        ("version_info >= (3, 11)", (3, 11), ANY[1]),
        ("sys.version_info >= (3, 11, 2)", (3, 11), ANY[1]),
        ("sys.version_info >= (4,)", (4, 0), ANY[1]),
        ("sys.version_info < (3, 11)", ANY[0], (3, 11)),
        ("not sys.version_info < (3, 11)", (3, 11), ANY[1]),
        ("sys.version_info >= (3, 9) and sys.version_info < (3, 12)", (3, 9), (3, 12)),
        ("sys.version_info >= (3, 9) and sys.version_info >= (3, 8)", (3, 9), ANY[1]),
        ("sys.version_info < (3, 9) and sys.version_info < (3, 10)", ANY[0], (3, 9)),
        ("sys.version_info >= (3, 9) or x", *ANY),
        ("sys.version_info == (3, 11)", *ANY),
        ("(3, 8) < sys.version_info >= (3, 11)", *ANY),
        ("sys.version_info >= (3, 9) >= x", *ANY),
        ("sys.version_info >= WANTED", *ANY),
        ("sys.version_info >= ()", *ANY),
        ("sys.version_info >= 3", *ANY),
        ("sys.version_info >= (3, 'a')", *ANY),
        ("sys.other >= (3, 11)", *ANY),
    ],
)
def test_an_import_under_a_test_of_the_version(test: str, since: object, before: object) -> None:
    assert versions(f"if {test}:\n    import a\n") == [(since, before)]


@pytest.mark.parametrize(
    "test",
    [
        "sys.version_info >= (3, 9) and sys.version_info < (3, 9)",
        "sys.version_info >= (3, 9) and sys.version_info < (3, 8) and x",
        "False and sys.version_info >= (3, 9)",
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
        "False",
        "x and 0",
        "not True and not not False",
    ],
)
def test_an_import_that_never_runs_is_none(test: str) -> None:
    assert versions(f"if {test}:\n    import a\n") == []


def test_the_other_branch_has_the_other_versions() -> None:
    text = "if sys.version_info >= (3, 11):\n    import a\nelse:\n    import a\n"
    assert versions(text) == [((3, 11), ANY[1]), (ANY[0], (3, 11))]
    assert versions("if TYPE_CHECKING:\n    pass\nelse:\n    import a\n") == [ANY]
