"""What is read from texts of uv.lock, and what sets of extras install by them; the real uv's locks are in test_lock.py."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from pytest_actor_envs.sources.lock import (
    Closures,
    Edge,
    Lock,
    LockedPackage,
    LockedRequirement,
    LockRecord,
    holds,
    known_platforms,
    platforms,
    read_lock,
)

LINUX, ARM, MAC, WINDOWS = known_platforms((3, 12))


def package(name: str, version: str = "", *requirements: Edge) -> LockedPackage:
    return LockedPackage(name, version, requirements, {}, {})


def test_all_that_a_lock_says_of_packages_and_of_the_project() -> None:
    text = """\
version = 1

[[package]]
name = "bare"

[[package]]
name = "whole"
version = "2"
dependencies = [{ name = "bare" }, { name = "bare", version = "1", extra = ["One_Two"], marker = "os_name == 'nt'" }]

[package.optional-dependencies]
Quick_Way = [{ name = "whole", marker = "python_version < '3.12'" }]

[package.dev-dependencies]
Lint_1 = [{ name = "whole", version = "2" }]

[package.metadata]
provides-extras = ["Quick_Way"]
requires-dist = [
    { name = "bare", extras = ["One_Two"], specifier = ">=1", marker = "extra == 'quick-way'" },
    { name = "bare" },
    { name = "a", url = "x" },
    { name = "b", git = "x" },
    { name = "c", path = "x" },
    { name = "d", editable = "x" },
    { name = "e", directory = "x" },
    { name = "f", virtual = "x" },
]
"""
    whole = LockedPackage(
        "whole",
        "2",
        (Edge("bare", "", (), ""), Edge("bare", "1", ("one-two",), "os_name == 'nt'")),
        {"quick-way": (Edge("whole", "", (), "python_version < '3.12'"),)},
        {"Lint_1": (Edge("whole", "2", (), ""),)},
    )
    requirements = (
        LockedRequirement("bare", frozenset({"one-two"}), ">=1", "extra == 'quick-way'", False),
        LockedRequirement("bare", frozenset(), "", "", False),
        *(LockedRequirement(name, frozenset(), "", "", True) for name in "abcdef"),
    )
    lock = read_lock(text.encode(), "Whole")
    record = LockRecord(frozenset({"quick-way"}), requirements)
    assert lock == Lock({"bare": (package("bare"),), "whole": (whole,)}, whole, record)
    assert LockRecord.of_row(record.row) == record
    assert record.row[0] == ["quick-way"] and record.row[1][0] == [
        "bare",
        ["one-two"],
        ">=1",
        "extra == 'quick-way'",
        False,
    ]


def test_a_lock_without_packages_has_no_project() -> None:
    assert read_lock(b"", "sample") == Lock({}, None, None)


@pytest.mark.parametrize(
    ("packages", "version"),
    [
        (['name = "sample"\nversion = "1"'], "1"),
        (['name = "sample"\nversion = "1"', 'name = "sample"\nversion = "2"'], "1"),
        (['name = "sample"\nversion = "1"', 'name = "other"\nversion = "2"\nsource = { editable = "." }'], "2"),
        (['name = "other"\nversion = "2"\nsource = { virtual = "." }', 'name = "sample"\nversion = "1"'], "2"),
        (['name = "other"\nversion = "2"\nsource = { directory = "." }'], "2"),
        (['name = "other"\nversion = "2"\nsource = { editable = "elsewhere" }'], None),
        (['name = "other"\nversion = "2"'], None),
    ],
)
def test_the_project_is_what_lies_beside_the_lock_or_has_its_name(packages: list[str], version: str | None) -> None:
    lock = read_lock("\n".join(f"[[package]]\n{lines}" for lines in packages).encode(), "Sample")
    assert (lock.project and lock.project.version) == version
    assert lock.record == (None if version is None else LockRecord(frozenset(), ()))


def test_a_package_may_be_locked_in_several_versions() -> None:
    lock = read_lock(b'[[package]]\nname = "a"\nversion = "1"\n[[package]]\nname = "a"\nversion = "2"\n', "sample")
    assert lock == Lock({"a": (package("a", "1"), package("a", "2"))}, None, None)


def test_markers_are_asked_about_whole_environments() -> None:
    environment = {
        "sys_platform": "linux",
        "platform_system": "Linux",
        "os_name": "posix",
        "platform_machine": "x86_64",
        "python_version": "3.12",
        "python_full_version": "3.12.9",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "implementation_version": "3.12.9",
        "platform_release": "",
        "platform_version": "",
    }
    assert platforms([], (3, 12)) == [environment]
    assert platforms(["sys_platform == 'linux'"], (3, 12)) == [
        environment,
        {**environment, "platform_machine": "aarch64"},
    ]
    assert platforms(["sys_platform == 'win32'", "sys_platform == 'darwin'"], (3, 12)) == [MAC, WINDOWS]


@pytest.mark.parametrize(
    ("marker", "active", "expected"),
    [
        ("", [], True),
        ("this is no marker", [], True),
        ("extra == 'a'", ["a"], True),
        ("extra == 'a'", ["b"], False),
        ('extra == "a"', ["a"], True),
        ('extra != "a"', ["a"], False),
        ("extra == ''", ["a"], False),
        ("extra=='a' and os_name == 'posix'", ["a"], True),
        ("extra=='a' and os_name == 'nt'", ["a"], False),
        ("os_name == 'nt'", [], False),
    ],
)
def test_whether_a_marker_holds(marker: str, active: list[str], expected: bool) -> None:
    assert holds(marker, LINUX, frozenset(active)) is expected


LOCK = b"""\
[[package]]
name = "sample-project"
version = "1"
source = { editable = "." }
dependencies = [
    { name = "six" },
    { name = "six", version = "9" },
    { name = "gone" },
    { name = "torch", version = "1", marker = "extra == 'extra-14-sample-project-cpu'" },
    { name = "torch", version = "2", marker = 'extra != "extra-14-sample-project-cpu"' },
    { name = "with-group", marker = "extra == 'group-14-sample-project-dev'" },
    { name = "with-project", marker = "extra == 'project-14-sample-project'" },
    { name = "not-everywhere", marker = "platform_machine == 'x86_64'" },
    { name = "never", marker = "extra == 'extra-14-sample-project-other'" },
]
optional-dependencies = { cpu = [
    { name = "library", extra = ["Fast_Way", "missing"] },
    { name = "plain", marker = "extra == 'cpu' and sys_platform == 'linux'" },
], Gpu_1 = [{ name = "card" }] }
dev-dependencies = { dev = [{ name = "tool" }], docs = [{ name = "page" }] }
""" + b"".join(
    b'[[package]]\nname = "%s"\nversion = "%s"\ndependencies = [%s]\n%s\n' % item
    for item in [
        (b"six", b"1", b"", b""),
        (b"torch", b"1", b'{ name = "one" }', b""),
        (b"torch", b"2", b'{ name = "two" }', b""),
        (b"one", b"1", b"", b""),
        (b"two", b"1", b"", b""),
        (b"with-group", b"1", b"", b""),
        (b"with-project", b"1", b"", b""),
        (b"not-everywhere", b"1", b"", b""),
        (b"never", b"1", b"", b""),
        (
            b"library",
            b"1",
            b'{ name = "shared" }',
            b'optional-dependencies = { fast-way = [{ name = "quick" }], slow-way = [{ name = "slow" }] }',
        ),
        (b"shared", b"1", b'{ name = "library" }', b""),
        (b"quick", b"1", b"", b""),
        (b"slow", b"1", b"", b""),
        (b"plain", b"1", b"", b""),
        (b"card", b"1", b"", b""),
        (b"tool", b"1", b"", b""),
        (b"page", b"1", b"", b""),
    ]
)
BASE = {"six", "torch", "with-project"}
CPU = {"library", "shared", "quick", "plain", "one"}


@pytest.mark.parametrize(
    ("extras", "groups", "expected"),
    [
        ([], [], BASE | {"two"}),
        (["cpu"], [], BASE | CPU),
        (["cpu", "gpu-1"], [], BASE | CPU | {"card"}),
        (["undeclared"], ["gone"], BASE | {"two"}),
        ([], ["dev"], BASE | {"two", "tool", "with-group"}),
        ([], ["docs", "dev"], BASE | {"two", "page", "tool", "with-group"}),
    ],
)
def test_what_extras_and_groups_install_on_every_platform(
    extras: list[str], groups: list[str], expected: set[str]
) -> None:
    lock = read_lock(LOCK, "sample.project")
    assert Closures(lambda: lock, [LINUX, ARM], groups).of(frozenset(extras)) == expected


def test_one_question_after_another_is_answered_for_itself() -> None:
    lock = read_lock(LOCK, "sample.project")
    closures = Closures(lambda: lock, [LINUX], [])
    everywhere = BASE | {"not-everywhere"}
    for extras, more in [([], {"two"}), (["cpu"], CPU), (["gpu-1"], {"two", "card"}), ([], {"two"}), (["cpu"], CPU)]:
        assert closures.of(frozenset(extras)) == everywhere | more


def test_a_lock_without_the_project_installs_nothing() -> None:
    assert Closures(lambda: Lock({}, None, None), [LINUX], []).of(frozenset({"a"})) == frozenset()


def test_what_was_answered_in_the_same_circumstances_is_believed() -> None:
    lock = read_lock(LOCK, "sample.project")
    asked: list[str] = []

    def remember(question: str, answer: Callable[[], str]) -> str:
        asked.append(question)
        return answer() if "cpu" in question else "x y"

    def ask(environments: list[dict[str, str]], groups: list[str], *extras: str) -> tuple[frozenset[str], str]:
        closures = Closures(lambda: lock, environments, groups, remember)
        first = closures.of(frozenset(extras))
        (question,) = asked
        assert closures.of(frozenset(extras)) is first
        assert asked.pop() == question and not asked
        return first, question

    names, question = ask([LINUX], ["dev"], "b", "a")
    assert names == {"x", "y"}
    assert re.fullmatch(r"closure [0-9a-f]{16} a b", question)
    assert ask([dict(reversed(LINUX.items()))], ["dev"], "a", "b")[1] == question
    others = {ask(*circumstances, "a", "b")[1] for circumstances in [([ARM], ["dev"]), ([LINUX], [])]}
    assert len(others | {question}) == 3
    assert ask([LINUX, MAC], [], "cpu")[0] == (BASE | CPU) - {"plain"}
