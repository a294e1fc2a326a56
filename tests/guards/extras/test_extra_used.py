from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Guarded = Callable[..., Any]
GUARD = "extra-used"
LEAF = "pkg/actor_environments.py"
HEAD = """\
[project]
name = "pkg"
dependencies = ["pkg[base-extra]"]

[project.optional-dependencies]
alpha = ["pkg[pulled]"]
pulled = []
base_extra = []
Idle-One = []
other = []

[tool.pytest-actor-envs]
leaf = "pkg/actor_environments.py"
docs = []
"""
LISTED = '\n[tool.pytest-actor-envs.stand-alone-extras]\nidle_one = "for people"\nother = "other people"\n'
TABLE = '    "A": ["Alpha"],\n    "B": None,\n'


def project(guarded: Guarded, tail: str = LISTED, table: str = TABLE) -> Any:
    return guarded({"pyproject.toml": HEAD + tail, LEAF: f"ACTOR_ENVIRONMENTS = {{\n{table}}}\n"})


def unused(line: int, extra: str, header: str = "        [tool.pytest-actor-envs.stand-alone-extras]\n") -> str:
    return (
        f"pyproject.toml:{line}:1: no actor uses extra '{extra}'\n"
        "    give it to the entry that needs it, remove it, or say why it stands alone, "
        "in [tool.pytest-actor-envs.stand-alone-extras]:\n"
        f'{header}        {extra} = "why"'
    )


def test_an_extra_is_used_by_an_entry_pulled_in_required_by_base_or_listed(guarded: Guarded) -> None:
    good = project(guarded)
    assert set(good.outcomes(GUARD)) == {"alpha", "pulled", "base_extra", "Idle-One", "other"}
    assert good.report(GUARD) == []


def test_every_extra_that_nobody_uses_is_reported_at_its_declaration(guarded: Guarded) -> None:
    assert project(guarded, "", "").report(GUARD) == [
        unused(9, "Idle-One"),
        unused(6, "alpha"),
        unused(10, "other"),
        unused(7, "pulled"),
    ]


def test_each_suggestion_makes_it_green(guarded: Guarded) -> None:
    [line, _] = project(guarded, "").report(GUARD)
    pasted = "\n".join(part.strip() for part in line.split("\n")[2:])
    assert project(guarded, f'\n{pasted}\nother = "x"\n').report(GUARD) == []
    assert project(guarded, "", TABLE.replace("None", '["Idle-One", "other"]')).report(GUARD) == []


def test_a_table_that_is_there_is_not_declared_again(guarded: Guarded) -> None:
    listed = LISTED.replace('other = "other people"\n', "")
    [line] = project(guarded, listed).report(GUARD)
    assert line == unused(10, "other", header="")
    pasted = line.split("\n")[-1].strip()
    assert project(guarded, f"{listed}{pasted}\n").report(GUARD) == []


@pytest.mark.parametrize("spelt", ["alpha", "ALPHA", "pulled", "base.extra"])
def test_an_extra_that_is_listed_and_used(guarded: Guarded, spelt: str) -> None:
    declared = {"ALPHA": "alpha", "base.extra": "base_extra"}.get(spelt, spelt)
    key = f'"{spelt}"'
    assert project(guarded, f'{LISTED}{key} = "why"\n').report(GUARD) == [
        f"pyproject.toml:19:1: extra '{declared}' is listed as standing alone, but an actor uses it\n"
        "    remove it from the list"
    ]


@pytest.mark.parametrize("reason", ["", "  "])
def test_an_extra_that_is_listed_without_a_reason(guarded: Guarded, reason: str) -> None:
    assert project(guarded, LISTED.replace("for people", reason)).report(GUARD) == [
        "pyproject.toml:17:1: extra 'Idle-One' stands alone without a reason\n    write the reason"
    ]


def test_an_entry_that_is_no_literal_leaves_open_what_is_used(guarded: Guarded) -> None:
    reasons = project(guarded, LISTED, TABLE + '    "C": ("other",),\n').reasons(GUARD)
    assert reasons == dict.fromkeys(
        ("alpha", "pulled", "base_extra", "Idle-One", "other"), "blocked: leaf-table-literal"
    )


def test_its_mutants_change_the_list_and_the_table(guarded: Guarded) -> None:
    def listed(extra: str) -> str:
        return f'pyproject.toml:17: +"{extra}" = "why"'

    table = TABLE + '    "C": ["alpha", "x"],\n    "D": ["pulled"],\n'
    assert project(guarded, table=table).mutants(GUARD) == [
        ("alpha", "listed-and-used", listed("alpha")),
        (
            "alpha",
            "used-no-more",
            f'{LEAF}:2: -    "A": ["Alpha"],\n{LEAF}:2: +    "A": None,\n'
            f'{LEAF}:4: -    "C": ["alpha", "x"],\n{LEAF}:4: +    "C": ["x"],',
        ),
        ("pulled", "listed-and-used", listed("pulled")),
        ("base_extra", "listed-and-used", listed("base_extra")),
        (
            "Idle-One",
            "no-longer-listed",
            'pyproject.toml:17: -idle_one = "for people"',
        ),
        (
            "Idle-One",
            "used-and-listed",
            f'{LEAF}:2: -    "A": ["Alpha"],\n{LEAF}:2: +    "A": ["Alpha", "Idle-One"],',
        ),
        (
            "other",
            "no-longer-listed",
            'pyproject.toml:18: -other = "other people"',
        ),
        ("other", "used-and-listed", f'{LEAF}:2: -    "A": ["Alpha"],\n{LEAF}:2: +    "A": ["Alpha", "other"],'),
    ]


@pytest.mark.parametrize(
    ("tail", "listed", "removed"),
    [
        (
            'stand-alone-extras = { idle-one = "x, {y}", other = "z" }\n',
            '15: +stand-alone-extras = {"pulled" = "why",  idle-one = "x, {y}", other = "z" }',
            '15: +stand-alone-extras = { "other" = "z" }',
        ),
        (
            '  [tool.pytest-actor-envs.stand-alone-extras]\n  idle-one = "x"\n  other = "y"\n',
            '16: +"pulled" = "why"',
            '16: -  idle-one = "x"',
        ),
        (
            'stand-alone-extras.idle-one = "x"\nstand-alone-extras.other = "y"\n',
            '13: +stand-alone-extras."pulled" = "why"',
            '15: -stand-alone-extras.idle-one = "x"',
        ),
    ],
)
def test_its_mutants_follow_the_form_of_the_list(guarded: Guarded, tail: str, listed: str, removed: str) -> None:
    changes = {
        (subject, shape): change.split("\n")[-1] for subject, shape, change in project(guarded, tail).mutants(GUARD)
    }
    assert changes["pulled", "listed-and-used"] == f"pyproject.toml:{listed}"
    assert changes["Idle-One", "no-longer-listed"] == f"pyproject.toml:{removed}"


def test_its_mutants_keep_what_else_an_inline_list_has(guarded: Guarded) -> None:
    head = HEAD.replace("other = []\n", "other = []\nthird = []\n")
    tail = 'stand-alone-extras = { idle-one = "x", other = "y", third = "z" }\n'
    made = guarded({"pyproject.toml": head + tail, LEAF: f"ACTOR_ENVIRONMENTS = {{\n{TABLE}}}\n"}).mutants(GUARD)
    [change] = [change for subject, shape, change in made if (subject, shape) == ("other", "no-longer-listed")]
    assert change.split("\n")[-1] == ('pyproject.toml:16: +stand-alone-extras = { "idle-one" = "x", "third" = "z" }')


@pytest.mark.parametrize(
    ("tail", "listed"),
    [
        ("", '13: +stand-alone-extras."other" = "why"'),
        ("stand-alone-extras = {}\n", '15: +stand-alone-extras = {"other" = "why"}'),
    ],
)
def test_its_mutants_begin_a_list(guarded: Guarded, tail: str, listed: str) -> None:
    table = TABLE.replace("None", '["Idle-One", "other"]')
    changes = {
        (subject, shape): change.split("\n")[-1]
        for subject, shape, change in project(guarded, tail, table).mutants(GUARD)
    }
    assert changes["other", "listed-and-used"] == f"pyproject.toml:{listed}"
