"""What held in the last run is believed as long as nothing has changed that it was judged by, and no longer."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_actor_envs import verdict_store
from pytest_actor_envs.evaluation import Evaluation, guards_for
from pytest_actor_envs.model import ConfigurationError, Verdict
from pytest_actor_envs.project import open_project
from pytest_actor_envs.session import KEPT_FAMILIES, VERDICTS, GuardedSession, session_of
from pytest_actor_envs.sources.answers import UntracedAnswers
from pytest_actor_envs.sources.tree import MUTANT, Tree
from tests.plugin.conftest import change
from tests.plugin.test_fact_cache import run

ROOT = Path(__file__).resolve().parents[2]
FILE = ".pytest_cache/d/actor-envs/verdicts.json"

# Whoever judges crashes.
REFUSING = """\
def pytest_configure():
    from pytest_actor_envs.evaluation import Evaluation

    Evaluation.outcome = None
"""

READING = ("-k", "not leaf- and not script-")
"""Leaves out the guards that run code, which are judged in every run."""


def test_a_second_run_judges_nothing_that_held(sample: pytest.Pytester) -> None:
    assert run(sample, *READING).ret == 0
    sample.makeconftest(REFUSING)
    assert run(sample, *READING).ret == 0
    assert run(sample, *READING, "-n", "1").ret == 0
    assert run(sample, *READING, "-p", "no:cacheprovider").ret != 0
    change(sample.path, "sample/workers.py", "import ray\n", "import ray\nimport os\n")
    assert run(sample, *READING).ret != 0


def test_guards_that_only_read_start_no_process(sample: pytest.Pytester) -> None:
    sample.makeconftest(
        "def pytest_configure():\n    from pytest_actor_envs.sources import runtime\n    runtime._Process = None\n"
    )
    for _ in ("judged", "believed"):
        assert run_one(sample, "import-provided").ret == 0
    assert run_one(sample, "leaf-import-pure").ret != 0


def run_one(sample: pytest.Pytester, guard: str) -> pytest.RunResult:
    return sample.runpytest_subprocess(f"pyproject.toml::{guard}")


def test_a_file_that_may_no_longer_be_read_is_no_reason_to_believe(
    kept: Callable[[], GuardedSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(tree: Tree, path: str) -> bytes:
        raise ConfigurationError(f"{path}:1:1: configuration: this file may not be read")

    monkeypatch.setattr(Tree, "_read", refuse)
    assert kept().verdicts is None


def test_items_are_the_same_whether_judged_or_not(sample: pytest.Pytester) -> None:
    assert run(sample, *READING).ret == 0
    listed = [run(sample, "--collect-only", "-q", *more).outlines for more in ((), ("-p", "no:cacheprovider"))]
    assert listed[0][:-1] == listed[1][:-1]
    assert len(listed[0]) > 40
    verbose = [run(sample, *READING, "-vv", *more).outlines for more in ((), ("-p", "no:cacheprovider"))]
    shown = [[line for line in lines if "PASSED" in line or "actor-envs:" in line] for lines in verbose]
    assert shown[0] == shown[1]
    assert any("PASSED" in line for line in shown[0])


def test_what_is_broken_is_judged_in_every_run_and_what_holds_is_not(sample: pytest.Pytester) -> None:
    change(sample.path, "sample/workers.py", "import ray\n", "import ray\nimport six\n")
    first = run(sample, *READING).parseoutcomes()
    assert first["failed"] == 2
    assert run(sample, *READING).parseoutcomes() == first
    kept = json.loads((sample.path / FILE).read_bytes())["guards"]
    assert kept["import-provided"] is None
    assert len(kept["extra-evidenced"]) == 3


def test_guards_judged_in_several_runs_are_kept_together(sample: pytest.Pytester) -> None:
    for guard in ("actor-resolves", "import-provided"):
        assert sample.runpytest_subprocess(f"pyproject.toml::{guard}").ret == 0
    sample.makeconftest(REFUSING)
    assert sample.runpytest_subprocess("pyproject.toml::import-provided", "pyproject.toml::actor-resolves").ret == 0
    change(sample.path, "sample/__init__.py", "", "X = 1\n")  # which import-provided alone has read
    assert sample.runpytest_subprocess("pyproject.toml::actor-resolves").ret != 0


def test_a_guard_of_which_a_part_was_judged_is_not_kept(sample: pytest.Pytester) -> None:
    sample.runpytest_subprocess("pyproject.toml::actor-resolves", "-k", "First")
    assert not (sample.path / FILE).exists()


def test_nothing_is_kept_with_guards_of_other_distributions(sample: pytest.Pytester) -> None:
    sample.makepyfile(
        other_guard="""
        from pytest_actor_envs.model import Guard, Mutant

        def mutants(project):
            yield Mutant("x", "x", {})

        GUARD = Guard("other", lambda project: project.entries, lambda project, entry: (), mutants)
        """
    )
    folder = sample.path / "other_guard-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: other-guard\nVersion: 1\n")
    (folder / "entry_points.txt").write_text("[actor_envs.guards]\nother = other_guard:GUARD\n")
    result = sample.run(sys.executable, "-m", "pytest", "pyproject.toml", "-vv", *READING)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*::other::*PASSED*"])
    assert not (sample.path / FILE).exists()


def appended(path: str) -> Callable[[Path], object]:
    return lambda root: (root / path).write_text((root / path).read_text() + "\n# changed\n")


def added(path: str) -> Callable[[Path], object]:
    def add(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")

    return add


CHANGES: dict[str, Callable[[Path], object]] = {
    "the leaf": appended("sample/leaf.py"),
    "the configuration": appended("pyproject.toml"),
    "an actor's module": appended("sample/workers.py"),
    "a helper's module": appended("sample/helper.py"),
    "a module that is gone": lambda root: (root / "sample" / "unused.py").unlink(),
    "a module that is renamed": lambda root: (root / "sample" / "unused.py").rename(root / "sample" / "renamed.py"),
    "a module that is new": added("sample/new.py"),
    "a package that is new": added("sample/new/__init__.py"),
    "a package in place of a module": added("sample/workers/__init__.py"),
    "a lock that was not there": added("uv.lock"),
    "a registry that was not there": added("sample/ray_actor_environment_registry.py"),
    "the metadata of a distribution": appended("site/six-1.dist-info/METADATA"),
    "a distribution that is gone": lambda root: shutil.rmtree(root / "site" / "six-1.dist-info"),
    "a distribution that is new": added("site/ray-1.dist-info/METADATA"),
    "the plugin's source": appended("plugin/guards/guard.py"),
    "a new file of the plugin": added("plugin/sources/new.py"),
    "what was kept, cut off": lambda root: (root / FILE).write_text((root / FILE).read_text()[:100]),
    "what was kept, edited": lambda root: change(root, FILE, '"header":"', '"header":"other'),
    "what was kept, of another shape": lambda root: (root / FILE).write_text('{"digest":"x","files":1}'),
}


@pytest.fixture
def kept(sample: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[[], GuardedSession]:
    """Begins a run on the sample project, whose guards held in an earlier one."""
    for path in ("sample/unused.py", "sample/helper.py", "plugin/guards/guard.py", "site/six-1.dist-info/METADATA"):
        added(path)(sample.path)
    change(sample.path, "sample/workers.py", "import ray\n", "import ray\nimport sample.helper\n")
    monkeypatch.syspath_prepend(sample.path / "site")
    monkeypatch.setattr(verdict_store, "__file__", str(sample.path / "plugin" / "verdict_store.py"))

    def begun() -> GuardedSession:
        without = ("-p", "no:unraisableexception", "-p", "no:threadexception")  # which collect garbage at length
        return session_of(sample.parseconfigure("pyproject.toml", *without))

    session = begun()
    assert json.loads(session.for_workers[VERDICTS])
    session.save()
    return begun


def test_what_is_unchanged_is_believed(kept: Callable[[], GuardedSession], sample: pytest.Pytester) -> None:
    appended("test_ordinary.py")(sample.path)
    verdicts = kept().verdicts
    assert verdicts is not None
    held = {name for name, cases in verdicts.guards.items() if cases}
    assert {"import-provided", "extra-evidenced", "actor-registered", "extra-declared"} <= held
    assert not {name for name in held if name.startswith(("leaf-", "script-"))}


@pytest.mark.parametrize("what", CHANGES)
def test_nothing_is_believed_after_a_change_of(
    what: str, kept: Callable[[], GuardedSession], sample: pytest.Pytester
) -> None:
    CHANGES[what](sample.path)
    assert kept().verdicts is None


def test_nothing_is_believed_of_another_python(
    kept: Callable[[], GuardedSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version", f"{sys.version} changed")
    assert kept().verdicts is None


def test_nothing_is_believed_of_the_copy_that_mutmut_runs(
    kept: Callable[[], GuardedSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MUTANT, "module.x_function__mutmut_1")
    assert kept().verdicts is None


class Watched(dict[str, str]):
    """An environment that notes who is asked for."""

    def __init__(self) -> None:
        super().__init__(os.environ)
        self.asked: list[str] = []

    def __getitem__(self, name: str) -> str:
        self.asked.append(name)
        return super().__getitem__(name)

    def get(self, name: str, default: object = None) -> object:  # type: ignore[override]
        self.asked.append(name)
        return super().get(name, default)


def test_guards_that_are_kept_do_nothing_but_read_through_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Tree(ROOT, answers=UntracedAnswers())
    project = open_project(ROOT, tree)
    assert project is not None
    project.runner = lambda request, limit: pytest.fail("project code is run")
    evaluation = Evaluation(project, guards_for(project))
    opened: list[str] = []
    watching = [True]

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if watching[0] and event in {"open", "os.listdir", "os.scandir", "subprocess.Popen", "os.fork"}:
            opened.append(str(arguments[0] if arguments else event).rstrip("/"))

    environment = Watched()
    monkeypatch.setattr(os, "environ", environment)
    sys.addaudithook(watch)
    try:
        outcomes = [
            evaluation.outcome(case).verdict
            for guard in evaluation.guards.values()
            if guard.family in KEPT_FAMILIES
            for case in evaluation.cases(guard)
        ]
    finally:
        watching[0] = False
    assert len(outcomes) > 300
    assert set(outcomes) == {Verdict.HOLDS}
    assert environment.asked == []
    files, folders = tree.seen()
    noted = {str(ROOT / path) for path in files}
    listed = tuple(str(ROOT / folder) for folder in folders)
    code = (str(ROOT / "pytest_actor_envs"), sys.prefix, sys.base_prefix)
    assert len(noted.intersection(opened)) > 50
    assert [path for path in opened if path not in noted and not path.startswith((*listed, *code))] == []
