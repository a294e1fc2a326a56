from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.model import MutantDoesNotApply

Guarded = Callable[..., Any]
GUARD = "extra-locked"
RELOCK = "\n    refresh the lock: uv lock"
PYPROJECT = """\
[project]
name = "My.pkg"
dependencies = ["ray"]

[project.optional-dependencies]
alpha = ["Six>=1", "my-pkg[b]", "pillow[x,Y_y]; sys_platform == 'linux'"]
B_b = ["tool @ git+file:///x", "foo==1; python_version < '3.12'"]
empty = []

[tool.pytest-actor-envs]
leaf = "leaf.py"
docs = []
"""
LOCK = """\
version = 1

[[package]]
name = "ray"
version = "1"
dependencies = [{ name = "decoy", marker = "extra == 'alpha'" }]

[[package]]
name = "six"
version = "1"

[[package]]
name = "my-pkg"
version = "1"
source = { editable = "." }
dependencies = [{ name = "ray" }]

[package.optional-dependencies]
alpha = [{ name = "six" }]

[package.metadata]
requires-dist = [
    { name = "foo", marker = "python_full_version < '3.12' and extra == 'b-b'", specifier = "==1" },
    { name = "my-pkg", extras = ["b"], marker = "extra == 'alpha'" },
    { name = "pillow", extras = ["x", "y-y"], marker = "sys_platform == 'linux' and extra == 'alpha'" },
    { name = "ray" },
    { name = "six", marker = "extra == 'alpha'", specifier = ">=1" },
    { name = "tool", marker = "extra == 'b-b'", git = "file:///x" },
]
provides-extras = ["alpha", "b-b", "empty"]
"""


def project(guarded: Guarded, pyproject: str = PYPROJECT, lock: str | None = LOCK, path: str = "uv.lock") -> Any:
    files = {"pyproject.toml": pyproject, "leaf.py": 'ACTOR_ENVIRONMENTS = {"leaf.A": None}\n'}
    return guarded(files if lock is None else {**files, path: lock})


def edited(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


def test_a_lock_that_is_pyprojects(guarded: Guarded) -> None:
    good = project(guarded)
    assert set(good.outcomes(GUARD)) == {"alpha", "B_b", "empty"}
    assert (good.report(GUARD), good.reasons(GUARD)) == ([], {})


def test_without_a_lock_the_guard_is_off(guarded: Guarded) -> None:
    assert GUARD not in project(guarded, lock=None).evaluation.guards


@pytest.mark.parametrize("added", ['new = ["six"]\n', "new = []\n"])
def test_an_extra_that_the_lock_does_not_know(guarded: Guarded, added: str) -> None:
    pyproject = edited(PYPROJECT, "empty = []\n", f"empty = []\n{added}")
    assert project(guarded, pyproject).report(GUARD) == [
        f"pyproject.toml:9:1: uv.lock does not know extra 'new'{RELOCK}\n    it knows: alpha, b-b, empty"
    ]
    refreshed = edited(LOCK, '"empty"]', '"empty", "new"]')
    if "six" in added:
        refreshed = edited(
            refreshed, '    { name = "tool"', '    { name = "six", marker = "extra == \'new\'" },\n    { name = "tool"'
        )
    assert project(guarded, pyproject, refreshed).report(GUARD) == []


def test_a_lock_that_knows_no_extra(guarded: Guarded) -> None:
    lock = edited(LOCK, 'provides-extras = ["alpha", "b-b", "empty"]', "")
    assert project(guarded, lock=lock).report(GUARD)[0].endswith("\n    it knows: none")


def has_not(shape: str, line: int = 6, extra: str = "alpha") -> str:
    return f"pyproject.toml:{line}:1: uv.lock does not have the requirement '{shape}' of extra '{extra}'{RELOCK}"


def has(shape: str, line: int = 6, extra: str = "alpha") -> str:
    return (
        f"pyproject.toml:{line}:1: uv.lock has the requirement '{shape}' for extra '{extra}', "
        f"pyproject.toml has not{RELOCK}"
    )


@pytest.mark.parametrize(
    ("old", "new", "findings"),
    [
        ('"Six>=1"', '"six>=2"', [has_not("six>=2"), has("six>=1; extra == 'alpha'")]),
        ('"Six>=1", ', "", [has("six>=1; extra == 'alpha'")]),
        ('"Six>=1"', '"Six>=1", "more"', [has_not("more")]),
        (
            "[x,Y_y]",
            "[x]",
            [
                has_not('pillow[x]; sys_platform == "linux"'),
                has("pillow[x,y-y]; sys_platform == 'linux' and extra == 'alpha'"),
            ],
        ),
        (
            "'linux'",
            "'darwin'",
            [
                has_not('pillow[x,y-y]; sys_platform == "darwin"'),
                has("pillow[x,y-y]; sys_platform == 'linux' and extra == 'alpha'"),
            ],
        ),
        (
            "< '3.12'",
            "< '3.13'",
            [
                has_not('foo==1; python_version < "3.13"', 7, "B_b"),
                has("foo==1; python_full_version < '3.12' and extra == 'b-b'", 7, "B_b"),
            ],
        ),
        ("file:///x", "file:///elsewhere", []),
        ("Six>=1", "SIX >= 1", []),
    ],
)
def test_a_requirement_that_was_changed(guarded: Guarded, old: str, new: str, findings: list[str]) -> None:
    assert project(guarded, edited(PYPROJECT, old, new)).report(GUARD) == findings


@pytest.mark.parametrize("lock", ["[[package]\n", "[[package]]\nversion = '1'\n"])
def test_a_lock_that_cannot_be_read_is_a_finding_for_each_extra(guarded: Guarded, lock: str) -> None:
    assert project(guarded, lock=lock).report(GUARD) == [f"uv.lock:1:1: the lock cannot be read{RELOCK}"] * 3


def test_a_lock_of_another_project(guarded: Guarded) -> None:
    other = edited(edited(LOCK, '"my-pkg"', '"other"'), "editable", "registry")
    assert project(guarded, lock=other).report(GUARD) == [f"uv.lock:1:1: the lock holds no package My.pkg{RELOCK}"] * 3
    nameless = edited(PYPROJECT, 'name = "My.pkg"\n', 'version = "1"\n')
    assert (
        project(guarded, nameless, other).report(GUARD)
        == [f"uv.lock:1:1: the lock holds no package of this folder{RELOCK}"] * 3
    )


def test_a_configured_lock_is_named(guarded: Guarded) -> None:
    pyproject = edited(PYPROJECT, "docs = []\n", 'docs = []\nlock = "locks/pylock.toml"\n')
    broken = project(guarded, edited(pyproject, "Six>=1", "six>=2"), LOCK, "locks/pylock.toml")
    assert [line.split(": ")[1].split(" ")[0] for line in broken.report(GUARD)] == ["locks/pylock.toml"] * 2


def test_what_the_lock_does_not_bring_is_reported_in_the_list(guarded: Guarded) -> None:
    brings = '\n[tool.pytest-actor-envs.brings]\nempty = ["x"]\nAlpha = ["SIX", "torch", "numpy"]\n'
    assert project(guarded, PYPROJECT + brings).report(GUARD) == [
        "pyproject.toml:16:1: extra 'alpha' does not bring torch, as the lock says\n    remove it from the list",
        "pyproject.toml:16:1: extra 'alpha' does not bring numpy, as the lock says\n    remove it from the list",
        "pyproject.toml:15:1: extra 'empty' does not bring x, as the lock says\n    remove it from the list",
    ]
    mended = edited(edited(brings, ', "torch", "numpy"', ""), 'empty = ["x"]\n', "")
    assert project(guarded, PYPROJECT + mended).report(GUARD) == []


def test_its_mutants_make_the_lock_forget(guarded: Guarded) -> None:
    def forgotten(name: str) -> str:
        known = 'provides-extras = ["alpha", "b-b", "empty"]'
        return f"uv.lock:30: -{known}\nuv.lock:30: +{edited(known, name, f'{name}-gone')}"

    windows = "and sys_platform == 'win32'"
    assert project(guarded).mutants(GUARD) == [
        ("alpha", "extra-unknown", forgotten("alpha")),
        (
            "alpha",
            "requirement-changed",
            'uv.lock:25: -    { name = "pillow", extras = ["x", "y-y"], marker = '
            "\"sys_platform == 'linux' and extra == 'alpha'\" },\n"
            'uv.lock:25: +    { name = "pillow", extras = ["x", "y-y"], marker = '
            f"\"sys_platform == 'linux' and extra == 'alpha' {windows}\" }},",
        ),
        ("B_b", "extra-unknown", forgotten("b-b")),
        (
            "B_b",
            "requirement-changed",
            "uv.lock:23: -    { name = \"foo\", marker = \"python_full_version < '3.12' and extra == 'b-b'\", "
            'specifier = "==1" },\n'
            "uv.lock:23: +    { name = \"foo\", marker = \"python_full_version < '3.12' and extra == 'b-b' "
            f'{windows}", specifier = "==1" }},',
        ),
        ("empty", "extra-unknown", forgotten("empty")),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("provides-extras", "provides", "uv.lock lists no extras"),
        ("== 'alpha'\"", "== 'x'\"", "uv.lock records no requirement of alpha"),
    ],
)
def test_its_mutants_say_what_they_do_not_find(guarded: Guarded, old: str, new: str, message: str) -> None:
    found = project(guarded, lock=edited(LOCK, old, new))
    with pytest.raises(MutantDoesNotApply, match=f"^{message}$"):
        list(found.evaluation.guards[GUARD].mutants(found.project))
