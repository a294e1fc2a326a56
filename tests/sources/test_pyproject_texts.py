"""What is read of pyproject.toml: names, requirements, extras that pull in others, and conflicts."""

from __future__ import annotations

import tomllib

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.pyproject import Extra, Pyproject, normalized, requirements

TEXT = """\
[project]
name = "Sample.Project"
dependencies = ["Six>=1", "not a requirement!", "sample-project[Base_One,two]", "samples[three]"]

[project.optional-dependencies]
Base_One = ["torch", "  Sample_Project [four]>=1", 7, "@", "sample-project[five"]
wrong = "torch"

[tool.uv]
conflicts = [
    [{ extra = "Base_One" }, { extra = "wrong" }],
    [{ group = "dev" }, { extra = "wrong" }],
]
"""


def names(found: object) -> list[str]:
    assert isinstance(found, tuple)
    return [str(item) for item in found]


def test_all_that_is_declared() -> None:
    found = Pyproject(TEXT.encode())
    assert found.name == "Sample.Project"
    assert names(found.base_requirements) == ["Six>=1", "sample-project[Base_One,two]", "samples[three]"]
    assert found.base_extras == {"base-one", "two"}
    one = Extra(
        "Base_One",
        Location("pyproject.toml", 6, 1),
        ("torch", "  Sample_Project [four]>=1", 7, "@", "sample-project[five"),
    )
    wrong = Extra("wrong", Location("pyproject.toml", 7, 1), ())
    assert found.extras == (one, wrong)
    assert found.extras_by_name == {"base-one": one, "wrong": wrong}
    assert names(one.requirements) == ["torch", "Sample_Project[four]>=1"]
    assert one.names_pulled_in("sample.project") == {"four"}
    assert found.extra_conflicts == (
        (frozenset({"base-one", "wrong"}), Location("pyproject.toml", 11, 5)),
        (frozenset({"wrong"}), Location("pyproject.toml", 12, 5)),
    )


def test_a_file_without_a_project_declares_nothing() -> None:
    found = Pyproject(b"")
    assert (found.name, found.base_requirements, found.base_extras) == ("", (), frozenset())
    assert (found.extras, found.extras_by_name, found.extra_conflicts) == ((), {}, ())
    assert Pyproject(b'[project]\ndependencies = "six"\n').base_requirements == ()
    assert Pyproject(b'[project]\ndependencies = "six"\n').base_extras == frozenset()


def test_what_is_no_toml_or_no_utf_8_raises() -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        Pyproject(b"[")
    with pytest.raises(UnicodeDecodeError):
        Pyproject(b"# \xff")


def test_values_by_their_key() -> None:
    found = Pyproject(b"[a]\nb = { c = 1 }\n")
    assert found.get("a", "b", "c") == 1
    assert found.get("a") == {"b": {"c": 1}}
    assert found.get() == {"a": {"b": {"c": 1}}}
    assert found.get("a", "x") is None
    assert found.get("a", "b", "c", "d", default=2) == found.get("x", "b", default=2) == 2


@pytest.mark.parametrize(("name", "expected"), [("A_b.-C", "a-b-c"), ("six", "six"), ("a--b__c", "a-b-c")])
def test_names_are_compared_normalized(name: str, expected: str) -> None:
    assert normalized(name) == expected


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        (["six", "a b", 1, None, "seven<2"], ["six", "seven<2"]),
        (("six",), ["six"]),
        ("six", []),
        ({"six": 1}, []),
        (7, []),
        (None, []),
    ],
)
def test_requirements_are_those_that_can_be_read(listed: object, expected: list[str]) -> None:
    assert names(requirements(listed)) == expected


def test_extras_are_pulled_in_transitively_and_in_circles() -> None:
    leaves = [f"leaf{number}" for number in range(9)]
    table = {"one": ["two", *leaves[:5]], "two": ["one", "undeclared", *leaves[5:]], "leaf0": ["deep"], "deep": []}
    lines = [f"{name} = ['sample[{','.join(pulled)}]']" for name, pulled in table.items() if pulled]
    found = Pyproject(f"[project]\nname = 'sample'\n[project.optional-dependencies]\n{chr(10).join(lines)}".encode())
    everything = {"one", "two", "deep", "undeclared", *leaves}
    assert found.with_pulled_in(frozenset({"one"})) == everything
    assert found.with_pulled_in(frozenset({"one", "two", "other"})) == everything | {"other"}
    assert found.with_pulled_in(frozenset({"leaf0"})) == {"leaf0", "deep"}
    assert found.with_pulled_in(frozenset()) == frozenset()
