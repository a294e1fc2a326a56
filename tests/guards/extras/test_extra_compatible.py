from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Guarded = Callable[..., Any]
GUARD = "extra-compatible"
LEAF = "pkg/actor_environments.py"
PYPROJECT = """\
[project]
name = "pkg"
dependencies = []

[project.optional-dependencies]
Alpha = []
b_b = []
gamma = []
puller = ["pkg[Alpha]", "six"]
far = ["pkg[puller]"]

[tool.uv]
conflicts = [
    [{ extra = "alpha" }, { extra = "b-b" }],
    [{ extra = "Alpha" }, { extra = "gamma" }, { group = "dev" }, { extra = "delta" }],
]

[tool.pytest-actor-envs]
leaf = "pkg/actor_environments.py"
docs = []
"""


def project(guarded: Guarded, table: str, pyproject: str = PYPROJECT) -> Any:
    return guarded({"pyproject.toml": pyproject, LEAF: f"ACTOR_ENVIRONMENTS = {{\n{table}}}\n"})


def conflict(place: str, extras: str, via: str = "", line: int = 14) -> str:
    return (
        f"{LEAF}:{place}: A needs {extras}, which conflict{via}\n"
        f"    drop one of them, or take them out of the set at pyproject.toml:{line}:5"
    )


@pytest.mark.parametrize(
    ("extras", "findings"),
    [
        ('["Alpha", "b_b"]', [conflict("2:20", "alpha and b-b")]),
        (
            '["B.B", "gamma", "ALPHA"]',
            [conflict("2:27", "alpha and b-b"), conflict("2:27", "alpha and gamma", line=15)],
        ),
        ('["puller", "b_b", "six"]', [conflict("2:21", "alpha and b-b", " (alpha pulled in by another)")]),
        ('["b_b", "far"]', [conflict("2:11", "alpha and b-b", " (alpha pulled in by another)")]),
        ('["b_b", "gamma"]', []),
        ('["far", "puller", "Alpha"]', []),
        ("None", []),
    ],
)
def test_conflicting_extras_are_reported_at_the_last_one_that_is_written(
    guarded: Guarded, extras: str, findings: list[str]
) -> None:
    assert project(guarded, f'    "A": {extras},\n').report(GUARD) == findings


def test_what_base_dependencies_pull_in_conflicts_with_the_driver_too(guarded: Guarded) -> None:
    both = PYPROJECT.replace("dependencies = []", 'dependencies = ["pkg[puller,b-b]", "other[gamma]"]')
    assert project(guarded, '    "A": None,\n', both).report(GUARD) == [
        conflict("2:5", "alpha and b-b", " (alpha, b-b pulled in by another)")
    ]


def test_both_suggestions_make_it_green(guarded: Guarded) -> None:
    table = '    "A": ["Alpha", "b_b"],\n'
    assert project(guarded, table.replace('"Alpha", ', "")).report(GUARD) == []
    free = PYPROJECT.replace('    [{ extra = "alpha" }, { extra = "b-b" }],\n', "")
    assert project(guarded, table, free).report(GUARD) == []


def test_an_entry_that_is_no_literal_is_left_to_its_guard(guarded: Guarded) -> None:
    assert project(guarded, '    "A": ("Alpha",),\n').reasons(GUARD) == {"A": "blocked: leaf-table-literal"}


def test_its_mutants_add_what_conflicts(guarded: Guarded) -> None:
    table = '    "A": ["b_b"],\n    "B": None,\n    "C": ["six"],\n    "D": ["alpha"],\n'

    def change(line: int, name: str, before: str, after: str) -> str:
        return f'{LEAF}:{line}: -    "{name}": {before},\n{LEAF}:{line}: +    "{name}": {after},'

    assert project(guarded, table).mutants(GUARD) == [
        ("A", "conflicting-added", change(2, "A", '["b_b"]', '["b_b", "Alpha"]')),
        ("A", "conflicting-pair", change(2, "A", '["b_b"]', '["b_b", "Alpha", "delta"]')),
        ("B", "conflicting-pair", change(3, "B", "None", '["Alpha", "b_b"]')),
        ("B", "conflicting-pair", change(3, "B", "None", '["Alpha", "delta"]')),
        ("C", "conflicting-pair", change(4, "C", '["six"]', '["six", "Alpha", "b_b"]')),
        ("C", "conflicting-pair", change(4, "C", '["six"]', '["six", "Alpha", "delta"]')),
        ("D", "conflicting-added", change(5, "D", '["alpha"]', '["alpha", "b_b"]')),
        ("D", "conflicting-added", change(5, "D", '["alpha"]', '["alpha", "delta"]')),
    ]


def test_a_set_of_extras_that_are_not_declared_is_written_as_it_stands(guarded: Guarded) -> None:
    pyproject = PYPROJECT.replace(
        '{ extra = "alpha" }, { extra = "b-b" }', '{ extra = "Not_There" }, { extra = "far" }'
    )
    [(_, _, first), _] = project(guarded, '    "A": None,\n', pyproject).mutants(GUARD)
    assert first.endswith('"A": ["far", "not-there"],')


@pytest.mark.parametrize(
    ("tail", "change"),
    [
        ("", ["16: +[tool.uv]", "17: +conflicts = [[{}]]"]),
        ("\n[tool.uv]\ndefault-groups = []\n", ["17: +conflicts = [[{}]]"]),
        ("\n[tool.uv]\nconflicts = []\n", ["17: -conflicts = []", "17: +conflicts = [[{}], ]"]),
        (
            "\n[tool.uv]\nconflicts = [[{ group = 'a' }, { group = 'b' }]]\n",
            [
                "17: -conflicts = [[{{ group = 'a' }}, {{ group = 'b' }}]]",
                "17: +conflicts = [[{}], [{{ group = 'a' }}, {{ group = 'b' }}]]",
            ],
        ),
    ],
)
def test_its_mutants_declare_a_conflict_where_there_is_none(guarded: Guarded, tail: str, change: list[str]) -> None:
    start, end = PYPROJECT.index("[tool.uv]"), PYPROJECT.index("[tool.pytest")
    pair = '{ extra = "this" }, { extra = "that" }'
    without = PYPROJECT[:start] + PYPROJECT[end:] + tail
    declared = "\n".join(f"pyproject.toml:{line.format(pair)}" for line in change)
    assert project(guarded, '    "A": ["far"],\n    "B": None,\n', without).mutants(GUARD) == [
        (
            name,
            "conflict-declared",
            f'{LEAF}:{line}: -    "{name}": {before},\n{LEAF}:{line}: +    "{name}": {after},\n{declared}',
        )
        for line, name, before, after in (
            (2, "A", '["far"]', '["far", "this", "that"]'),
            (3, "B", "None", '["this", "that"]'),
        )
    ]
