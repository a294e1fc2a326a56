"""A run of the gate in this process: guards of a few lines, and results of mutmut that were written by hand."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_actor_envs.gate import run
from pytest_actor_envs.gate.changes import Changes
from pytest_actor_envs.gate.kill_recorder import KILLS_FILE
from pytest_actor_envs.gate.mutmut_configuration import KILL_RECORDER
from pytest_actor_envs.gate.result import GateResult
from pytest_actor_envs.gate.run import GateOptions, run_gate
from pytest_actor_envs.gate.subject_mutants import Bench
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from pytest_actor_envs.model import Finding, Guard, Mutant, Place
from pytest_actor_envs.project import Project, open_project
from tests.gate.conftest import Programs

PATHS = ("one.txt", "two.txt")
Counts = list[tuple[str, int, int]]


def guard(name: str, *others: str) -> Guard:
    """A guard over `PATHS` that finds its own name there; its mutants write that, and the words `others`."""

    def subjects(project: Project) -> Iterator[Place]:
        return (project.place(path) for path in PATHS)

    def check(project: Project, place: Place) -> Iterator[Finding]:
        if name in project.tree.read_text(place.name).split():
            yield Finding(place.location, f"it is {name}")

    def mutants(project: Project) -> Iterator[Mutant]:
        for word in (name, *others):
            yield Mutant("one.txt", word, {"one.txt": f"{project.tree.read_text('one.txt')}{word}\n"})

    return Guard(name, subjects, check, mutants)


A, B, OFF = guard("aa", "seen-by-nobody"), guard("ab"), guard("off")


def with_two_guards(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small project, where `aa` and `ab` are the guards that run, and `off` is one that does not."""
    for path in PATHS:
        (small / path).write_text("intact\n")
    monkeypatch.setattr(run, "guards_for", lambda project: (A, B) if project.tree.root == small else ())
    monkeypatch.setattr(run, "load_guards", lambda: (A, B, OFF))
    bench = Bench
    monkeypatch.setattr(run, "Bench", lambda project, loaded: bench(project, loaded[:2]))
    return small


def opened(root: Path) -> Project:
    project = open_project(root)
    assert project is not None
    return project


def ran(root: Path, *layers: int, guards: tuple[str, ...] = (), since: str | None = None) -> tuple[GateResult, Counts]:
    seen: Counts = []
    options = GateOptions(layers, guards, jobs=2, since=since)
    return run_gate(opened(root), options, lambda what, done, total: seen.append((what, done, total))), seen


def report(guard: str, word: str, fate: Fate, *killers: str) -> MutantReport:
    diff = f"--- a/one.txt\n+++ b/one.txt\n@@ -1,2 +1,3 @@\n intact\n+{word}\n \n"
    return MutantReport(1, f"{guard}/one.txt/{word}", guard, "one.txt", word, fate, killers, diff)


KILLED_A, KILLED_B = report("aa", "aa", Fate.KILLED, "aa"), report("ab", "ab", Fate.KILLED, "ab")
SURVIVED = report("aa", "seen-by-nobody", Fate.SURVIVED)
LEFT_OUT = (
    "layer 2 was left out: pyproject.toml:1:1: gate: [tool.mutmut] is missing, so there are no code mutants\n"
    '    add it, with source_paths = ["package"] and only_mutate = ["package/module.py"]'
)


def changes_of(is_root: bool, reference: str, before: dict[str, str]) -> Changes:
    assert is_root and reference == "REF"
    return Changes(before)


MUTMUT = f"""
[tool.mutmut]
source_paths = ["pkg"]
only_mutate = ["pkg/numbers_of.py"]
pytest_add_cli_args = ["-p", "{KILL_RECORDER}"]
pytest_add_cli_args_test_selection = ["tests"]
"""
CODE = "def doubled(number):\n    return number * 2  # pragma: no mutate: for this test\n"
MUTATED = "".join(
    f"def x_doubled__mutmut_{name}(number):\n    return number {change}  # lifted\n\n\n"
    for name, change in (("orig", "* 2"), ("1", "/ 2"), ("2", "* 3"), ("3", "** 2"))
)
NAMES = tuple(f"pkg.numbers_of.x_doubled__mutmut_{number}" for number in (1, 2, 3))
RUN = "run --max-children 3"  # one more than the processes of a run here
KILLER = "tests/test_numbers.py::test_doubled"
IDLE = "tests/test_numbers.py::test_idle"


def code_report(number: int, change: str, fate: Fate, reason: str = "") -> MutantReport:
    path = "pkg/numbers_of.py"
    lines = (
        *(f"--- {path}", f"+++ {path}", "@@ -1,2 +1,2 @@", " def doubled(number):"),
        *("-    return number * 2  # lifted", f"+    return number {change}  # lifted"),
    )
    killers = (KILLER,) if fate is Fate.KILLED else ()
    return MutantReport(2, NAMES[number - 1], "", f"{path}:2", "doubled", fate, killers, "\n".join(lines), reason)


KILLED_CODE = code_report(1, "/ 2", Fate.KILLED)
ALLOWED = code_report(2, "* 3", Fate.SUPPRESSED, "for this test")
UNSEEN = code_report(3, "** 2", Fate.NO_VERDICT, "mutmut did not come to it")


MANY = (
    "gate: layer 2: 1 of 3 mutants are suppressed, more than 2%\n"
    "    kill some of them: write a test that sees what they change"
)


def with_code_mutants(root: Path, programs: Programs, tmp_path: Path) -> Path:
    """The project with code to mutate, and a script in mutmut's place that leaves results of three mutants."""
    pyproject = root / "pyproject.toml"
    pyproject.write_text(pyproject.read_text() + MUTMUT)
    (root / "pkg/numbers_of.py").write_text(CODE)
    results = tmp_path / "results/pkg"
    results.mkdir(parents=True)
    spans = {f"x_doubled__mutmut_{name}": [4 * at + 1, 4 * at + 3] for at, name in enumerate(("orig", 1, 2, 3))}
    texts = {
        "numbers_of.py": MUTATED,
        "numbers_of.py.spans": json.dumps({"version": 1, "spans": spans}),
        "numbers_of.py.meta": json.dumps({"exit_code_by_key": dict(zip(NAMES, (1, 0, None), strict=True))}),
        f"../{KILLS_FILE}": json.dumps([NAMES[0], "call", KILLER]),
        "../mutmut-stats.json": json.dumps(
            {"tests_by_mangled_function_name": {"pkg.numbers_of.x_doubled": [KILLER, IDLE]}}
        ),
    }
    for path, text in texts.items():
        (results / path).write_text(text)
    python = sys.executable
    programs(
        python=f'exec {shlex.quote(python)} "$@"',
        mutmut=f"cp -r {tmp_path}/results aside && mv aside mutants\necho '2/3  x 1'\n"
        f'(echo "$*"; cat pkg/numbers_of.py; env | grep PYTEST_DEBUG_TEMPROOT; pwd) > {tmp_path}/told',
    )
    return root


def told(tmp_path: Path) -> list[str]:
    return (tmp_path / "told").read_text().splitlines()
