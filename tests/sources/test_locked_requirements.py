"""An extra's requirements by pyproject.toml and by the lock, in the form in which they are compared."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.lock import LockedRequirement, LockRecord
from pytest_actor_envs.sources.locked_requirements import ExtraRequirement, parsed, recorded, without_equals, written
from pytest_actor_envs.sources.pyproject import Pyproject

EVERYWHERE = (True,) * 32
ON_LINUX = (True, True, False, False) * 8
BEFORE_3_9 = (True,) * 4 + (False,) * 28

EXTRA = Pyproject(b"""\
[project]
name = "Sample.Project"

[project.optional-dependencies]
Quick_Way = [
    "Six_One[B_x,a]>=1,<2; sys_platform == 'linux'",
    "sample-project[other]",
    "old; python_version < '3.9'",
    "here; extra == 'quick-way'",
    "at @ file:///nowhere",
]
""").extras[0]
ROWS = [
    ["six-one", ["a", "b-x"], "<2,>=1", 'sys_platform == "linux"', False],
    ["sample-project", ["other"], "", "", False],
    ["old", [], "", 'python_version < "3.9"', False],
    ["here", [], "", 'extra == "quick-way"', False],
    ["at", [], "", "", True],
]


def required(
    name: str,
    extras: str = "",
    specifier: str = "",
    marker: str = "",
    has_source: bool = False,
    platforms: tuple[bool, ...] = EVERYWHERE,
) -> ExtraRequirement:
    return ExtraRequirement(name, frozenset(extras.split()), specifier, marker, has_source, platforms)


def test_what_pyproject_requires_for_an_extra() -> None:
    assert parsed(EXTRA) == ROWS
    assert written(ROWS, EXTRA, "Sample.Project") == [
        required("six-one", "a b-x", "<2,>=1", 'sys_platform == "linux"', platforms=ON_LINUX),
        required("old", marker='python_version < "3.9"', platforms=BEFORE_3_9),
        required("here", marker='extra == "quick-way"'),
        required("at", has_source=True),
    ]


def test_what_the_lock_recorded_for_an_extra() -> None:
    both = "sys_platform == 'linux' and extra == 'quick-way'"
    record = LockRecord(
        frozenset({"quick-way", "other"}),
        (
            LockedRequirement("six-one", frozenset({"a"}), "<2", both, False),
            LockedRequirement("at", frozenset(), "", "extra == 'quick-way'", True),
            LockedRequirement("sample-project", frozenset({"other"}), "", "extra == 'quick-way'", False),
            LockedRequirement("base", frozenset(), "", "", False),
            LockedRequirement("others", frozenset(), "", "extra == 'other'", False),
        ),
    )
    assert recorded(record, EXTRA, "Sample.Project") == [
        required("six-one", "a", "<2", both, platforms=ON_LINUX),
        required("at", marker="extra == 'quick-way'", has_source=True),
    ]


@pytest.mark.parametrize(
    ("other", "equal"),
    [
        (required("six", "a", "<2,>=1"), True),
        (required("six", "a", ">=1, <2"), True),
        (required("six", "a", ">=1"), False),
        (required("six", "a", "", has_source=True), True),
        (required("seven", "a", "<2,>=1"), False),
        (required("six", "b", "<2,>=1"), False),
        (required("six", "a", "<2,>=1", platforms=ON_LINUX), False),
        (required("six", "a", "<2,>=1", marker="os_name != ''"), True),
    ],
)
def test_which_requirements_are_the_same(other: ExtraRequirement, equal: bool) -> None:
    six = required("six", "a", "<2,>=1")
    assert six.equals(other) is other.equals(six) is equal
    assert without_equals([six, other], [other]) == ([] if equal else [six])


@pytest.mark.parametrize(
    ("requirement", "text"),
    [
        (required("six"), "six"),
        (required("six", "b a", "<2", "os_name == 'nt'"), "six[a,b]<2; os_name == 'nt'"),
    ],
)
def test_a_requirement_reads_as_one(requirement: ExtraRequirement, text: str) -> None:
    assert str(requirement) == text
