from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Small = Callable[..., Any]
GUARD = "extra-declared"
LEAF = "pkg/actor_environments.py"


def undeclared(place: str, extra: str, fix: str) -> str:
    return f"{LEAF}:{place}: A needs extra '{extra}', which pyproject.toml does not declare\n    {fix}"


@pytest.mark.parametrize(
    ("extras", "findings"),
    [
        ('["alpha", "beta"]', []),
        ("None", []),
        ('["alpho"]', [undeclared("2:11", "alpho", "did you mean 'alpha'?   declared: alpha, beta")]),
        ('["alpha2beta"]', [undeclared("2:11", "alpha2beta", "did you mean 'alpha'?   declared: alpha, beta")]),
        (
            '["alpha", "x", "bet"]',
            [
                undeclared("2:20", "x", "declared: alpha, beta"),
                undeclared("2:25", "bet", "did you mean 'beta'?   declared: alpha, beta"),
            ],
        ),
        (
            '["ALPHA"]',
            [
                f"{LEAF}:2:11: A spells extra 'alpha' as 'ALPHA'; filters compare names literally\n"
                "    write 'alpha', as pyproject.toml:6:1 does"
            ],
        ),
    ],
)
def test_every_extra_is_declared_and_spelt_as_there(small: Small, extras: str, findings: list[str]) -> None:
    assert small(f'    "A": {extras},\n').report(GUARD) == findings


def test_the_column_counts_characters_and_lines_may_end_as_on_windows(guarded: Callable[..., Any]) -> None:
    pyproject = (
        '[project]\nname = "x"\n[project.optional-dependencies]\nz_z = []\na-b = []\n'
        '[tool.pytest-actor-envs]\nleaf = "leaf.py"\ndocs = []\n'
    )
    leaf = 'ACTOR_ENVIRONMENTS = {\r\n    "ä.ö.A": ["z_z", "a_b"],\r\n}\r\n'
    broken = guarded({"pyproject.toml": pyproject, "leaf.py": leaf})
    assert broken.report(GUARD) == [
        "leaf.py:2:22: A spells extra 'a-b' as 'a_b'; filters compare names literally\n"
        "    write 'a-b', as pyproject.toml:5:1 does"
    ]
    unknown = guarded({"pyproject.toml": pyproject, "leaf.py": leaf.replace("a_b", "q")})
    assert unknown.report(GUARD)[0].endswith("\n    declared: a-b, z_z")


def test_following_either_suggestion_makes_it_green(small: Small) -> None:
    for wrong, right in (("alpho", "alpha"), ("ALPHA", "alpha")):
        [line] = small(f'    "A": ["{wrong}"],\n').report(GUARD)
        assert f"'{right}'" in line.split("\n")[1]
        assert small(f'    "A": ["{right}"],\n').report(GUARD) == []


def test_an_entry_that_is_no_literal_is_left_to_its_guard(small: Small) -> None:
    assert small('    "A": ("alpha",),\n').reasons(GUARD) == {"A": "blocked: leaf-table-literal"}


def test_its_mutants_misspell_each_extra_and_give_unknown_ones(small: Small) -> None:
    def change(line: int, name: str, before: str, after: str) -> str:
        return f'{LEAF}:{line}: -    "{name}": {before},\n{LEAF}:{line}: +    "{name}": {after},'

    both = '["alpha", "beta"]'
    assert small(f'    "A": {both},\n    "B": None,\n').mutants(GUARD) == [
        ("A", "extra-misspelt", change(2, "A", both, '["alpha_misspelt", "beta"]')),
        ("A", "extra-in-capitals", change(2, "A", both, '["ALPHA", "beta"]')),
        ("A", "extra-misspelt", change(2, "A", both, '["alpha", "beta_misspelt"]')),
        ("A", "extra-in-capitals", change(2, "A", both, '["alpha", "BETA"]')),
        ("B", "unknown-extra", change(3, "B", "None", '["no_such_extra"]')),
        ("B", "nameless-extra", change(3, "B", "None", '[""]')),
    ]
