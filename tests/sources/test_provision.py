"""Which distributions environments have: by requirements, groups and the configuration, or by the lock."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.lock import Closures, Lock, platforms
from pytest_actor_envs.sources.provision import DirectProvision, LockedProvision, default_groups
from pytest_actor_envs.sources.pyproject import Pyproject

PYPROJECT = """\
[project]
name = "sample.project"
dependencies = ["Base_One", "sample-project[always]", "windows; sys_platform == 'win32'", "unix; os_name == 'posix'"]

[project.optional-dependencies]
always = ["ever"]
One = ["shared>=1", "for_one"]
two = ["sample-project[one]", "old; python_version < '3.12'", "new; python_version >= '3.12'"]
halves = ["part<2; platform_machine == 'x86_64'", "part>=2; platform_machine != 'x86_64'"]
half = ["piece; platform_machine == 'x86_64'"]

[dependency-groups]
dev = ["tool", { include-group = "lint" }, { other = "x" }, 7]
lint = ["checker", { include-group = "dev" }, { include-group = "types" }, { include-group = "gone" }]
types = ["typer"]
docs = ["page"]

[tool.uv]
environments = ["sys_platform == 'linux'"]
"""
BASE = frozenset({"base-one", "unix", "sample-project", "ever", "tool", "checker", "typer"})


def provision(text: str = PYPROJECT) -> DirectProvision:
    return DirectProvision(Pyproject(text.encode()), {"Half": ["Brought_one", "shared"]}, (3, 12))


@pytest.mark.parametrize(
    ("extras", "more"),
    [
        ((), set()),
        (("one",), {"shared", "for-one"}),
        (("two",), {"shared", "for-one", "new"}),
        (("halves",), {"part"}),
        (("half",), {"brought-one", "shared"}),
        (("undeclared",), set()),
    ],
)
def test_an_environment_has_base_and_what_its_extras_bring(extras: tuple[str, ...], more: set[str]) -> None:
    found = provision()
    assert found.distributions(frozenset(extras)) == BASE | more
    assert found.distributions(frozenset(extras)) == BASE | more


def test_what_is_required_anywhere_is_known_and_decided() -> None:
    found = provision()
    assert found.known == BASE | {"shared", "for-one", "new", "part", "brought-one", "page"}
    assert found.decides("page")
    assert not found.decides("never-named")


def test_the_bringers_of_a_distribution_are_sorted() -> None:
    found = provision()
    assert found.bringers(frozenset({"shared"})) == ["half", "one", "two"]
    assert found.bringers(frozenset({"part", "new"})) == ["halves", "two"]
    assert found.bringers(frozenset({"never-named"})) == []


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("", ["dev"]),
        ('default-groups = ["docs", "types"]\n', ["docs", "types"]),
        ('default-groups = "all"\n', ["dev", "lint", "types", "docs"]),
        ("default-groups = []\n", []),
    ],
)
def test_the_groups_that_are_installed_by_default(table: str, expected: list[str]) -> None:
    pyproject = Pyproject((PYPROJECT + table).encode())
    assert default_groups(pyproject) == expected
    assert ("page" in provision(PYPROJECT + table).distributions(frozenset())) == ("docs" in expected)


def test_a_project_without_groups_has_its_dependencies() -> None:
    found = provision('[project]\nname = "a"\ndependencies = ["b"]\n[tool.uv]\ndefault-groups = ["gone"]\n')
    assert found.distributions(frozenset()) == {"b"}
    assert default_groups(Pyproject(b'[tool.uv]\ndefault-groups = "all"\n')) == []


def test_with_a_lock_its_closures_decide() -> None:
    asked: list[frozenset[str]] = []

    class Recorded(Closures):
        def of(self, extras: frozenset[str]) -> frozenset[str]:
            asked.append(extras)
            return extras | {"locked"}

    closures = Recorded(lambda: Lock({}, None, None), platforms([], (3, 12)), [])
    found = LockedProvision(Pyproject(PYPROJECT.encode()), closures, iter(["six", "locked"]))
    assert found.known == {"six", "locked"}
    assert found.decides("six") is found.decides("never-named") is True
    for _ in range(2):
        assert found.distributions(frozenset({"two"})) == {"two", "one", "always", "locked"}
    assert asked == [{"two", "one", "always"}]
    assert found.bringers(frozenset({"one"})) == ["one", "two"]
