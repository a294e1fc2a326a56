"""Which mutants a change can affect, told of guards of a few lines."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from pytest_actor_envs.gate import scope
from pytest_actor_envs.gate.changes import Changes
from pytest_actor_envs.gate.claims import Claim, claims_of
from pytest_actor_envs.gate.mutmut_configuration import KILL_RECORDER
from pytest_actor_envs.gate.scope import _helps, _is_of_tests, affected_claims, affected_code
from pytest_actor_envs.gate.subject_mutants import Bench
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project, open_project, project_in_memory
from pytest_actor_envs.sources.table import Entry
from tests.gate.conftest import FILES, LEAF

PATHS = ("one.txt", "two.txt")
GUARD = """
from pytest_actor_envs.model import Finding, Guard, Mutant

def subjects(project):
    return [project.place("one.txt"), project.place("two.txt")]

def check(project, place):
    if "broken" in project.tree.read_text(place.name):
        yield Finding(place.location, "it is broken")

def mutants(project):
    for path in ("one.txt", "two.txt"):
        yield Mutant(path, "broken", {path: "broken"})
    # Of no subject that there is: at the place of one, and at none.
    yield Mutant("ghost", "at one", {"one.txt": "ghost"})
    yield Mutant("ghost", "nowhere", {"new.txt": "ghost"})

GUARD = Guard("of-files", subjects, check, mutants)
"""
OF_ONE = {"of-files/one.txt/broken", "of-files/ghost/at one", "of-files/ghost/nowhere"}
OF_TWO = {"of-files/two.txt/broken", "of-files/ghost/nowhere"}
OF_ENTRIES = {"of-leaf/pkg.workers.One/x", "of-leaf/pkg.others.Two/x"}
ALL = OF_ONE | OF_TWO | OF_ENTRIES


def entries(project: Project) -> Iterable[Entry]:
    return project.entries


def reads_leaf(project: Project, entry: Entry) -> Iterator[Finding]:
    if "broken" in project.tree.read_text("pkg/envs.py"):
        yield Finding(entry.location, "it is broken")


def leaf_mutants(project: Project) -> Iterator[Mutant]:
    for entry in project.entries:
        yield Mutant(entry.name, "x", {"pkg/envs.py": f"{project.tree.read_text('pkg/envs.py')}# broken\n"})


OF_LEAF = Guard("of-leaf", entries, reads_leaf, leaf_mutants)


@pytest.fixture
def guards(small: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Guard, ...]:
    """One guard that is made from a file of the project, and one from outside."""
    for path in PATHS:
        (small / path).write_text("intact")
    (small / "guard_of_files.py").write_text(GUARD)
    monkeypatch.syspath_prepend(str(small))
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, "guard_of_files", raising=False)
    of_files = importlib.import_module("guard_of_files").GUARD
    assert isinstance(of_files, Guard)
    return of_files, OF_LEAF


def bench_of(root: Path, guards: tuple[Guard, ...]) -> Bench:
    project = open_project(root)
    assert project is not None
    return Bench(project, guards)


def affected(
    root: Path, guards: tuple[Guard, ...], before: dict[str, str | None], killed: dict[str, set[str]] | None = None
) -> set[str]:
    bench = bench_of(root, guards)
    claims = claims_of(bench.project, bench.guards)
    assert {claim.identity for claim in claims} == ALL
    return {claim.identity for claim in affected_claims(bench, claims, Changes(before), killed or {})}


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ({}, set()),
        ({"one.txt": "other"}, OF_ONE),
        ({"two.txt": "other"}, OF_TWO),
        ({"one.txt": None}, OF_ONE),
        ({"one.txt": "other", "two.txt": None}, OF_ONE | OF_TWO),
        ({"notes.txt": "other", "more.txt": None}, set()),
        ({"pkg/envs.py": LEAF.replace("return 0", "return 3")}, OF_ENTRIES),
        ({"pkg/envs.py": LEAF.replace('    "pkg.others.Two": None,\n', "")}, {"of-leaf/pkg.others.Two/x"}),
        ({"pkg/envs.py": LEAF.replace('["a"]', '["b"]'), "one.txt": ""}, {"of-leaf/pkg.workers.One/x"} | OF_ONE),
        ({"pkg/envs.py": None}, OF_ENTRIES),
        ({"pyproject.toml": FILES["pyproject.toml"] + "# other\n"}, set()),
        ({"pyproject.toml": "[project]\nname = 'x'\n"}, ALL),
        ({"pyproject.toml": "[tool.pytest-actor-envs]\nnonsense = 1\n", "one.txt": "other"}, ALL),
    ],
)
def test_what_was_made_from_a_changed_file_or_is_of_a_new_entry_is_proven_again(
    small: Path, guards: tuple[Guard, ...], before: dict[str, str | None], expected: set[str]
) -> None:
    assert affected(small, guards, before) == expected


def test_the_order_of_claims_stays(small: Path, guards: tuple[Guard, ...]) -> None:
    bench = bench_of(small, guards)
    claims = claims_of(bench.project, bench.guards)
    assert affected_claims(bench, claims, Changes({"pyproject.toml": ""}), {}) == claims
    assert affected_claims(bench, claims[::-1], Changes({"one.txt": ""}), {}) == [claims[3], claims[2], claims[0]]


def test_a_changed_guard_is_asked_for_all_that_it_claims_and_all_that_it_killed(
    small: Path, guards: tuple[Guard, ...]
) -> None:
    killed = {"of-files": {"of-leaf/pkg.workers.One/x", "gone"}, "of-leaf": {"of-leaf/pkg.others.Two/x"}}
    mine = OF_ONE | OF_TWO
    assert affected(small, guards, {"guard_of_files.py": "other"}) == mine
    assert affected(small, guards, {"guard_of_files.py": "other"}, killed) == mine | {"of-leaf/pkg.workers.One/x"}
    assert affected(small, guards, {"one.txt": "other"}, killed) == OF_ONE


def test_a_project_in_memory_has_no_commit_so_everything_is_affected() -> None:
    project = project_in_memory({**FILES, **dict.fromkeys(PATHS, "intact")})
    bench = Bench(project, (OF_LEAF,))
    claims = claims_of(project, (OF_LEAF,))
    assert affected_claims(bench, claims, Changes({}), {}) == claims != []
    assert affected_code(bench, Changes({}), {}) is None


@pytest.mark.parametrize(
    ("changed", "is_core"),
    [
        ("plugin/core.py", True),
        ("plugin/inner/core.py", True),
        ("plugin/guards/other.py", True),
        ("plugin/guards/one.py", False),
        ("plugin/data.txt", False),
        ("plugins/core.py", False),
        ("core.py", False),
    ],
)
def test_a_change_of_the_plugin_itself_outside_single_guards_affects_everything(
    changed: str, is_core: bool, small: Path, guards: tuple[Guard, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, "PLUGIN_FOLDER", (small / "plugin").resolve())
    for name, file in (("one", "one.py"), ("two", None), ("other", "other.py")):
        module = types.ModuleType(f"pytest_actor_envs.guards.{name}")
        if name != "other":
            module.__dict__["GUARD"] = OF_LEAF
        module.__file__ = None if file is None else str(small / "plugin/guards" / file)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    (small / "pyproject.toml").write_text(FILES["pyproject.toml"] + MUTMUT)
    assert affected(small, guards, {changed: "other"}) == (ALL if is_core else set())
    code = affected_code(bench_of(small, guards), Changes({changed: "other"}), {})
    assert code == (None if is_core else [])


MUTMUT = f"""
[tool.mutmut]
source_paths = ["pkg"]
only_mutate = ["pkg/envs.py", "pkg/__init__.py", "pkg/workers.py"]
pytest_add_cli_args = ["-p", "{KILL_RECORDER}"]
pytest_add_cli_args_test_selection = ["pyproject.toml", "tests/inner", "--ignore=pkg/x.py"]
"""
KILLED = {
    "tests/inner/test_b.py::test_y": {"pkg.envs.x_g__mutmut_2", "pkg.envs.x_g__mutmut_1"},
    "tests/test_a.py::test_x": {"pkg.envs.x_main__mutmut_1"},
    "tests/test_a.py::TestX::test_x": {"pkg.envs.x_main__mutmut_2"},
    "pyproject.toml::of-files::one.txt": {"pkg.envs.x_main__mutmut_3"},
    "pyproject.toml::of-leaf::pkg.workers.One": {"pkg.envs.x_main__mutmut_4"},
    "of-files": {"of-files/one.txt/broken"},
    "of-leaf": {"of-leaf/pkg.workers.One/x"},
}
OF_B = ["pkg.envs.x_g__mutmut_1", "pkg.envs.x_g__mutmut_2"]
OF_A = ["pkg.envs.x_main__mutmut_1", "pkg.envs.x_main__mutmut_2"]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ({}, []),
        ({"pkg/envs.py": LEAF.replace("return 0", "return 3")}, ["pkg.envs.x*"]),
        ({"pkg/envs.py": LEAF.replace('["a"]', '["b"]')}, []),
        ({"pkg/envs.py": None}, ["pkg.envs.x*"]),
        ({"pkg/__init__.py": "", "pkg/workers.py": "", "pkg/others.py": ""}, ["pkg.workers.x*", "pkg.x*"]),
        ({"tests/test_a.py": ""}, OF_A),
        ({"tests/inner/test_b.py": None}, OF_B),
        ({"tests/inner/helper.py": ""}, OF_B),
        ({"tests/conftest.py": ""}, [*OF_B, *OF_A]),
        ({"tests/inner/helper.txt": ""}, []),
        ({"tests/test_c.py": ""}, []),
        ({"other/test_a.py": ""}, []),
        ({"guard_of_files.py": ""}, ["pkg.envs.x_main__mutmut_3"]),
        ({"guard_of_files.py": "", "pkg/workers.py": ""}, ["pkg.envs.x_main__mutmut_3", "pkg.workers.x*"]),
        ({"pyproject.toml": ""}, None),
        ({"pyproject.toml": "", "pkg/envs.py": ""}, None),
    ],
)
def test_code_mutants_of_changed_files_and_those_that_changed_tests_and_guards_killed(
    small: Path, guards: tuple[Guard, ...], before: dict[str, str | None], expected: list[str] | None
) -> None:
    (small / "pyproject.toml").write_text(FILES["pyproject.toml"] + MUTMUT)
    assert affected_code(bench_of(small, guards), Changes(before), KILLED) == expected


def test_a_changed_test_affects_all_code_mutants_where_nobody_knows_what_it_killed(
    small: Path, guards: tuple[Guard, ...]
) -> None:
    (small / "pyproject.toml").write_text(FILES["pyproject.toml"] + MUTMUT)
    bench = bench_of(small, guards)
    guards_only = {"of-files": {"of-files/one.txt/broken"}}
    assert affected_code(bench, Changes({"tests/test_a.py": ""}), guards_only) is None
    assert affected_code(bench, Changes({"pkg/workers.py": ""}), guards_only) == ["pkg.workers.x*"]
    assert affected_code(bench, Changes({"other/test_a.py": ""}), {}) == []


@pytest.mark.parametrize(
    ("changed", "test", "helps"),
    [
        ("tests/test_a.py", "tests/test_a.py", True),
        ("tests/test_a.py", "tests/test_b.py", False),
        ("tests/help.py", "tests/test_b.py", True),
        ("tests/help.py", "tests/inner/test_b.py", True),
        ("tests/inner/help.py", "tests/test_b.py", False),
        ("tests/help.py", "tests_more/test_b.py", False),
        ("help.py", "tests/test_b.py", False),
        ("help.py", "help.py", True),
    ],
)
def test_what_helps_a_test(changed: str, test: str, helps: bool) -> None:
    assert _helps(changed, test) is helps


@pytest.mark.parametrize(
    ("path", "selection", "is_of_tests"),
    [
        ("tests/a.py", ["tests/inner"], True),
        ("tests/a.txt", ["tests/inner"], False),
        ("tests/a.py", ["tests/inner/deep"], True),
        ("other/a.py", ["tests/inner", "--ignore=other/b.py"], False),
        ("other/a.py", ["tests/inner", "other/b.py"], True),
        ("other/a.py", [], True),
        ("other/a.py", ["tests", "--ignore=tests/b.py"], True),
        ("other/a.txt", [], False),
    ],
)
def test_what_is_of_the_folders_of_tests(path: str, selection: list[str], is_of_tests: bool) -> None:
    assert _is_of_tests(path, selection) is is_of_tests


def test_claims_are_told_by_the_guard_that_makes_them(small: Path, guards: tuple[Guard, ...]) -> None:
    bench = bench_of(small, guards)
    # The same subject of another guard is another case.
    other = Claim("of-leaf", Mutant("one.txt", "x", {"pkg/envs.py": "broken"}), "of-leaf/one.txt/x")
    assert affected_claims(bench, [other], Changes({"one.txt": "other"}), {}) == []
