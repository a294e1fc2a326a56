"""`--since`: which mutants a change can affect, and what is believed of earlier runs."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_actor_envs.gate.changes import changes_since
from pytest_actor_envs.gate.claims import Claim, claims_of
from pytest_actor_envs.gate.guard_sources import own_sources
from pytest_actor_envs.gate.run import GateOptions, run_gate
from pytest_actor_envs.gate.scope import affected_claims, affected_code
from pytest_actor_envs.gate.store import RESULTS_FILE, load, state_of
from pytest_actor_envs.gate.subject_mutants import Bench
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.model import Guard
from pytest_actor_envs.project import Project, open_project

Git = Callable[..., str]


@pytest.fixture
def git(small: Path) -> Git:
    def run(*arguments: str) -> str:
        names = ["-c", "user.name=someone", "-c", "user.email=someone@example.invalid"]
        done = subprocess.run(["git", *names, *arguments], cwd=small, capture_output=True, text=True, check=True)
        return done.stdout

    (small / ".gitignore").write_text(".pytest_cache/\n")
    run("init", "--quiet")
    run("add", "--all")
    run("commit", "--quiet", "--message", "first")
    return run


def opened(root: Path) -> Project:
    project = open_project(root)
    assert project is not None
    return project


def affected(root: Path, killed: dict[str, set[str]] | None = None) -> list[Claim]:
    bench = Bench(opened(root), load_guards())
    claims = claims_of(bench.project, bench.guards)
    return affected_claims(bench, claims, changes_since(root, "HEAD"), killed or {})


def test_no_change_affects_nothing(git: Git, small: Path) -> None:
    assert affected(small) == []


def test_an_added_actor_is_proven_with_its_own_subjects_only(git: Git, small: Path) -> None:
    leaf = small / "pkg/envs.py"
    leaf.write_text(leaf.read_text().replace('    "pkg.others', '    "pkg.new.Three": None,\n    "pkg.others'))
    (small / "pkg/new.py").write_text("import ray\n\n\n@ray.remote\nclass Three:\n    pass\n")
    claims = affected(small)
    subjects = {claim.mutant.subject for claim in claims}
    assert "pkg.new.Three" in subjects
    assert not subjects & {"pkg.workers.One", "pkg.others.Two", "a", "pkg/envs.py", "deps"}
    assert all("hree" in subject or "gone" in subject for subject in subjects), subjects
    assert {"actor-resolves", "actor-is-remote", "import-provided", "actor-registered"} <= {
        claim.guard for claim in claims
    }


def test_a_changed_module_affects_what_was_read_of_it(git: Git, small: Path) -> None:
    workers = small / "pkg/workers.py"
    workers.write_text(workers.read_text() + "\n\nX = 1\n")
    found = {(claim.guard, claim.mutant.subject) for claim in affected(small)}
    assert ("actor-resolves", "pkg.workers.One") in found
    assert ("actor-resolves", "pkg.others.Two") not in found
    assert not {"leaf-stdlib-only", "extra-declared", "leaf-table-literal"} & {guard for guard, _ in found}


def test_a_change_of_the_leaf_outside_its_table_affects_what_was_read_of_it(git: Git, small: Path) -> None:
    leaf = small / "pkg/envs.py"
    leaf.write_text(leaf.read_text().replace("    return 0\n", "    return 0  # done\n"))
    assert {"leaf-stdlib-only", "script-mirrors-registry"} <= {claim.guard for claim in affected(small)}


def test_a_page_affects_nothing_of_a_project_whose_pages_are_not_judged(git: Git, small: Path) -> None:
    (small / "notes.md").write_text("words\n")
    assert affected(small) == []


def test_where_nothing_was_guarded_everything_is_affected(git: Git, small: Path) -> None:
    pyproject = small / "pyproject.toml"
    text = pyproject.read_text()
    pyproject.write_text('[project]\nname = "small"\n')
    git("commit", "--all", "--quiet", "--message", "without guards")
    pyproject.write_text(text)
    bench = Bench(opened(small), load_guards())
    assert affected(small) == claims_of(bench.project, bench.guards)


def test_results_are_believed_in_the_very_state_only(git: Git, small: Path) -> None:
    workers = small / "pkg/workers.py"
    workers.write_text(workers.read_text() + "\n\nX = 1\n")
    options = GateOptions(layers=(1,), guards=("actor-is-remote",), since="HEAD")

    def ran() -> int:
        counts = [0]
        result = run_gate(opened(small), options, lambda what, done, total: counts.append(total))
        assert result.exit_code == 0
        return max(counts)

    first = ran()
    assert first > 0
    assert ran() == 0
    known = load(small)
    assert len(known.known(state_of(opened(small), load_guards()))) == first
    workers.write_text(workers.read_text() + "\n\nY = 1\n")
    assert known.known(state_of(opened(small), load_guards())) == {}
    assert ran() == first
    (small / RESULTS_FILE).write_text('[{"state": 1}]')
    assert load(small).reports == {}
    assert ran() == first


MUTMUT = """
[tool.mutmut]
source_paths = ["pkg"]
only_mutate = ["pkg/envs.py", "pkg/workers.py"]
pytest_add_cli_args = ["-p", "pytest_actor_envs.gate.kill_recorder"]
pytest_add_cli_args_test_selection = ["pyproject.toml", "tests/inner", "--ignore=pkg/x.py"]
"""


def test_code_mutants_are_affected_by_their_file_and_by_the_tests_that_killed_them(git: Git, small: Path) -> None:
    (small / "pyproject.toml").write_text((small / "pyproject.toml").read_text() + MUTMUT)
    (small / "tests/inner").mkdir(parents=True)
    (small / "other").mkdir()
    for name in ("tests/test_a.py", "tests/inner/test_b.py", "tests/inner/samples.py", "other/no_test.py"):
        (small / name).write_text("")
    git("add", "--all")
    git("commit", "--quiet", "--message", "second")
    killed = {"tests/test_a.py::test_x": {"pkg.envs.x_main__mutmut_1"}, "tests/inner/test_b.py::test_y": {"pkg.envs.z"}}

    def names(changed: str, known: dict[str, set[str]]) -> list[str] | None:
        (small / changed).write_text((small / changed).read_text() + "\n# changed\n")
        bench = Bench(opened(small), load_guards())
        found = affected_code(bench, changes_since(small, "HEAD"), known)
        git("checkout", "--quiet", ".")
        return found

    assert names("pkg/envs.py", killed) == ["pkg.envs.x*"]
    assert names("tests/test_a.py", killed) == ["pkg.envs.x_main__mutmut_1"]
    assert names("tests/inner/samples.py", killed) == ["pkg.envs.z"]
    assert names("tests/test_a.py", {}) is None
    assert names("pyproject.toml", killed) is None
    assert names("other/no_test.py", {}) == []
    leaf = small / "pkg/envs.py"
    leaf.write_text(leaf.read_text().replace("{\n", '{\n    "pkg.added.Added": None,\n', 1))
    (small / "pkg/added.py").write_text("import ray\n\n\n@ray.remote\nclass Added: pass\n")
    assert affected_code(Bench(opened(small), load_guards()), changes_since(small, "HEAD"), {}) == []


OUTSIDE = {
    "outside_guards/__init__.py": "",
    "outside_guards/marked.py": """
import ast, json, packaging.version, pytest_actor_envs.project
from os import path
from beside import LIMIT
from . import words
from pytest_actor_envs.model import Finding, Guard, Mutant

def subjects(project):
    return [project.place("pkg/workers.py")]

def check(project, place):
    if words.MARK in project.tree.read_text(place.name):
        yield Finding(place.location, "it is marked")

def mutants(project):
    text = project.tree.read_text("pkg/workers.py")
    yield Mutant("pkg/workers.py", "marked", {"pkg/workers.py": words.MARK + text})
    yield Mutant("pkg/workers.py", "marked", {"pkg/workers.py": text + words.MARK})

GUARD = Guard("outside-marked", subjects, check, mutants)
""",
    "outside_guards/words.py": "import outside_guards.more.deep as deep\nMARK = deep.MARK\n",
    "outside_guards/more/__init__.py": "from outside_guards import words\n",
    "outside_guards/more/deep.py": "MARK = '# marked'\n",
    "outside_guards/other.py": "",
    "beside.py": "LIMIT = 1\n",
}
OWN = set(OUTSIDE) - {"outside_guards/other.py"}


@pytest.fixture
def outside(small: Path, monkeypatch: pytest.MonkeyPatch) -> Guard:
    """A guard in files of the project, that import each other, the plugin, what is installed, and the standard library."""
    for path, text in OUTSIDE.items():
        (small / path).parent.mkdir(parents=True, exist_ok=True)
        (small / path).write_text(text)
    monkeypatch.syspath_prepend(str(small))
    for name in [name for name in sys.modules if name.partition(".")[0] in {"outside_guards", "beside"}]:
        monkeypatch.delitem(sys.modules, name)
    guard = importlib.import_module("outside_guards.marked").GUARD
    assert isinstance(guard, Guard)
    return guard


def test_the_sources_of_a_guard_are_its_file_and_what_it_imports_that_is_not_installed(
    outside: Guard, small: Path
) -> None:
    assert own_sources(outside) == {(small / path).resolve() for path in OWN}
    built_in = next(guard for guard in load_guards() if guard.name == "extra-declared")
    assert [path.name for path in own_sources(built_in)] == ["extra_declared.py"]


@pytest.mark.parametrize("path", sorted(OUTSIDE))
def test_a_change_in_what_a_guard_imports_affects_all_that_it_claims(
    outside: Guard, git: Git, small: Path, path: str
) -> None:
    guards = (*load_guards(), outside)
    before = state_of(opened(small), guards)
    (small / path).write_text((small / path).read_text() + "# changed\n")
    bench = Bench(opened(small), guards)
    found = affected_claims(bench, claims_of(bench.project, (outside,)), changes_since(small, "HEAD"), {})
    assert len(found) == (2 if path in OWN else 0)
    assert state_of(opened(small), guards) != before


def test_a_changed_guard_outside_the_project_is_another_state(outside: Guard, small: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(small, elsewhere, ignore=shutil.ignore_patterns("outside_guards", "beside.py"))
    states = {state_of(opened(elsewhere), load_guards()), state_of(opened(elsewhere), (*load_guards(), outside))}
    (small / "outside_guards/more/deep.py").write_text("MARK = '# other'\n")
    states.add(state_of(opened(elsewhere), (*load_guards(), outside)))
    assert len(states) == 3
