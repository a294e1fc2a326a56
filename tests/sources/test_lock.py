"""Closures of uv.lock, compared with what the real uv exports for the same extras."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pytest_actor_envs.sources.lock import Closures, holds, platforms, read_lock
from pytest_actor_envs.sources.pyproject import normalized

PYPROJECT = """\
[project]
name = "sample.project"
version = "1"
requires-python = ">=3.11"
dependencies = ["six"]

[project.optional-dependencies]
old = ["packaging<24", "colorama; sys_platform == 'win32'"]
new = ["packaging>=24", "tomli; python_version < '3.12'"]
both_words = ["sample.project[new]", "pytest>=8"]

[dependency-groups]
dev = ["iniconfig"]
other = ["pluggy"]

[tool.uv]
default-groups = ["dev"]
environments = ["sys_platform == 'linux'"]
conflicts = [[{ extra = "old" }, { extra = "new" }], [{ extra = "old" }, { extra = "both_words" }]]
"""

SETS = [[], ["old"], ["new"], ["both-words", "new"]]


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("locked")
    (folder / "pyproject.toml").write_text(PYPROJECT)
    subprocess.run([*uv(), "lock"], cwd=folder, check=True, capture_output=True)
    return folder


def uv() -> list[str]:
    return [sys.executable, "-m", "uv"]


@pytest.mark.parametrize("python", [(3, 11), (3, 13)])
@pytest.mark.parametrize("extras", SETS, ids=lambda extras: "+".join(extras) or "base")
def test_a_closure_is_what_uv_exports(locked: Path, extras: list[str], python: tuple[int, int]) -> None:
    environments = platforms(["sys_platform == 'linux'"], python)
    lock = read_lock((locked / "uv.lock").read_bytes(), "sample.project")
    closures = Closures(lambda: lock, environments, ["dev"])
    flags = [word for extra in extras for word in ("--extra", extra)]
    command = [*uv(), "export", "--frozen", "--no-hashes", "--no-header", "--no-annotate", "--no-emit-project", *flags]
    exported = subprocess.run(command, cwd=locked, check=True, capture_output=True, text=True).stdout
    expected = set()
    for line in exported.splitlines():
        requirement = Requirement(line)
        if all(requirement.marker is None or requirement.marker.evaluate({**each}) for each in environments):
            expected.add(normalized(requirement.name))
    assert "six" in expected
    assert closures.of(frozenset(extras)) == expected


def test_a_marker_with_several_active_extras() -> None:
    linux = platforms([], (3, 12))[0]
    both = "extra == 'a' and extra == 'b'"
    assert holds(both, linux, frozenset({"a", "b"}))
    assert not holds(both, linux, frozenset({"a"}))
    assert holds("extra != 'a' and python_version == '3.12'", linux)
    assert not holds("extra != 'a'", linux, frozenset({"a"}))
    assert not holds("sys_platform == 'win32' or extra == \"b\"", linux)


def test_platforms_are_those_of_the_environments_and_linux_without_any() -> None:
    machines = [
        (each["sys_platform"], each["platform_machine"]) for each in platforms(["sys_platform == 'linux'"], (3, 12))
    ]
    assert machines == [("linux", "x86_64"), ("linux", "aarch64")]
    assert [each["platform_machine"] for each in platforms([], (3, 12))] == ["x86_64"]
    assert platforms(["python_version < '3.9'"], (3, 12))[0]["python_version"] == "3.12"
