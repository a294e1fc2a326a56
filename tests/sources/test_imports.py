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
