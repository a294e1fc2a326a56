"""A run of the gate in this process, with guards of a few lines and results of mutmut that were written by hand."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pytest_actor_envs import interruption
from pytest_actor_envs.cli import main
from pytest_actor_envs.gate import code_mutants, layers, run
from pytest_actor_envs.gate.changes import Changes
from pytest_actor_envs.gate.claims import MutantsDoNotApply
from pytest_actor_envs.gate.code_mutants import TEMPORARY_FOLDERS
from pytest_actor_envs.gate.kill_recorder import EVERY_KILLER, KILLS_FILE, NOT_ASKED, SECONDS
from pytest_actor_envs.gate.mutmut_configuration import KILL_RECORDER, CodeMutantsNotConfigured
from pytest_actor_envs.gate.mutmut_process import RunningMutmut
from pytest_actor_envs.gate.result import ExitCode, GateResult
from pytest_actor_envs.gate.run import BaselineFails, GateOptions, chosen_guards, run_gate
from pytest_actor_envs.gate.store import RESULTS_FILE, load
from pytest_actor_envs.gate.subject_mutants import Bench
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from pytest_actor_envs.interruption import SAID
from pytest_actor_envs.model import ConfigurationError, Finding, Guard, Mutant, Place, Verdict
from pytest_actor_envs.project import Project, open_project
from tests.gate.conftest import Programs, in_a_fork, run_code_mutants

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


@pytest.fixture
def root(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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


def test_layer_one_is_run_counted_and_remembered(root: Path) -> None:
    result, seen = ran(root, 1)
    assert result.seconds is not None
    assert list(result.seconds) == ["baseline", "layer 1"]
    assert all(0 <= seconds < 60 for seconds in result.seconds.values())
    assert result == GateResult(("aa", "ab"), (KILLED_A, SURVIVED, KILLED_B), seconds=result.seconds)
    assert seen == [("subject mutants", number, 3) for number in range(4)]
    assert {identity: found for identity, (_, found) in load(root).reports.items()} == {
        found.identity: found for found in result.reports
    }


def test_layer_two_is_left_out_with_a_note_or_is_an_error_where_it_alone_is_asked_for(root: Path) -> None:
    result, _ = ran(root, 1, 2, guards=("ab",))
    assert (result.guards, result.reports, result.notes) == (("ab",), (KILLED_B,), (LEFT_OUT,))
    assert result.is_part and result.exit_code is ExitCode.ALL_LIVE
    with pytest.raises(CodeMutantsNotConfigured):
        ran(root, 2)


def test_a_configuration_of_layer_two_that_proves_nothing_is_never_left_out(root: Path) -> None:
    with (root / "pyproject.toml").open("a") as file:
        file.write('[tool.mutmut]\nsource_paths = ["pkg"]\n')
    with pytest.raises(CodeMutantsNotConfigured, match="do not say which test kills a mutant"):
        ran(root, 1, 2)


def test_a_broken_baseline_is_told_with_what_is_broken(root: Path) -> None:
    (root / "two.txt").write_text("aa ab\n")
    with pytest.raises(BaselineFails) as raised:
        ran(root, 1)
    assert str(raised.value) == "2 checks are not green on the intact project"
    assert [(name, outcome.verdict) for name, outcome in raised.value.outcomes] == [
        ("aa", Verdict.BROKEN),
        ("ab", Verdict.BROKEN),
    ]
    assert not (root / RESULTS_FILE).exists()


def test_mutants_that_cannot_be_made_end_the_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = Guard("aa", A.subjects, A.check, lambda project: ())
    monkeypatch.setattr(run, "guards_for", lambda project: (empty, B))
    with pytest.raises(MutantsDoNotApply):
        ran(root, 1)


@pytest.mark.parametrize("names", [(), ("*",), ("aa", "ab"), ("a?", "ab")])
def test_all_guards_are_chosen(names: tuple[str, ...], root: Path) -> None:
    assert chosen_guards(opened(root), names) == (A, B)


def test_guards_are_chosen_by_pattern_and_what_none_fits_is_an_error(root: Path) -> None:
    project = opened(root)
    assert chosen_guards(project, ["?b"]) == (B,)
    for names, unknown, why in (
        (["aa", "ax", "off"], "ax", "is no guard"),
        (["off"], "off", "is off in this project"),
        (["AA"], "AA", "is no guard"),
        (["o*"], "o*", "is off in this project"),
    ):
        with pytest.raises(ConfigurationError) as raised:
            chosen_guards(project, names)
        assert str(raised.value) == f"gate: '{unknown}' {why}\n    guards: aa, ab"


def test_an_interruption_counts_what_is_left(root: Path) -> None:
    calls: list[int] = []

    def interrupt(what: str, done: int, total: int) -> None:
        calls.append(done)
        if len(calls) == 2:
            raise KeyboardInterrupt

    result = run_gate(opened(root), GateOptions((1,), jobs=1), interrupt)
    assert calls == [0, 1]
    assert result.reports == (KILLED_A,)
    assert (len(result.reports), result.unknown, result.is_interrupted, result.is_part) == (1, 2, True, False)
    assert result.exit_code is ExitCode.NO_VERDICT


def test_a_suppression_is_applied_and_stale_only_where_everything_was_looked_at(root: Path) -> None:
    (root / "one.txt").write_text("intact\n# actor-envs: survives[aa] why\nintact\n")
    result, _ = ran(root, 1)
    assert [(found.shape, found.fate, found.reason) for found in result.reports] == [
        ("aa", Fate.KILLED, ""),
        ("seen-by-nobody", Fate.SUPPRESSED, "why"),
        ("ab", Fate.KILLED, ""),
    ]
    assert [problem.split("\n")[0] for problem in result.problems] == [
        "gate: layer 1: 1 of 3 mutants are suppressed, more than 2%"
    ]
    (root / "one.txt").write_text("# actor-envs: survives[ab] why\nintact\n\n")
    assert ran(root, 1)[0].problems == (
        "one.txt:1:1: gate: no mutant of ab survives at line 2\n    remove the comment",
    )
    assert ran(root, 1, guards=("ab",))[0].problems == ()


def test_a_suppression_in_a_file_that_no_mutant_changes_is_stale(root: Path) -> None:
    (root / "two.txt").write_text("# actor-envs: survives[aa] why\nintact\n")
    stale = "two.txt:1:1: gate: no mutant of aa survives at line 2\n    remove the comment"
    assert ran(root, 1)[0].problems == (stale,)
    assert ran(root, 1, guards=("aa",))[0].problems == ()


def test_what_cannot_be_remembered_is_a_note(root: Path) -> None:
    (root / ".pytest_cache").write_text("in the way")
    result, _ = ran(root, 1, guards=("ab",))
    assert result.reports == (KILLED_B,)
    [note] = result.notes
    assert note.startswith("what was found is not remembered for --since: [Errno ")


@pytest.fixture
def committed(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project as it was committed, and since then `one.txt` changed."""
    changes = {"one.txt": "before\n"}
    monkeypatch.setattr(run, "changes_since", lambda given, reference: changes_of(given == root, reference, changes))
    return root


def changes_of(is_root: bool, reference: str, before: dict[str, str]) -> Changes:
    assert is_root and reference == "REF"
    return Changes(before)


def test_since_a_commit_only_what_can_be_affected_is_run_and_that_once(committed: Path) -> None:
    first, seen = ran(committed, 1, since="REF")
    assert (first.reports, first.is_part, len(seen)) == ((KILLED_A, SURVIVED, KILLED_B), True, 4)
    said = "since REF: 3 of 3 subject mutants can be affected, {} of them are known from a run in this very state"
    assert first.notes == (said.format(0),)
    second, seen = ran(committed, 1, since="REF")
    assert (second.reports, second.notes, seen) == (first.reports, (said.format(3),), [])
    third, seen = ran(committed, 1, guards=("ab",), since="REF")
    assert third.notes == (said.format(1).replace("3 of 3", "1 of 1"),)
    assert (third.reports, seen) == ((KILLED_B,), [])


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


@pytest.fixture
def mutated(root: Path, programs: Programs, tmp_path: Path) -> Path:
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


def test_both_layers_make_one_result(mutated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(EVERY_KILLER, "1")
    result, seen = ran(mutated, 1, 2)
    assert result.seconds is not None and set(result.seconds) == {"baseline", "layer 1", "layer 2"}
    assert result == GateResult(
        ("aa", "ab"),
        (KILLED_A, SURVIVED, KILLED_B, KILLED_CODE, ALLOWED, UNSEEN),
        problems=(MANY,),
        seconds=result.seconds,
        idle_tests=(IDLE,),
    )
    assert seen[-1] == ("code mutants", 2, 3)
    arguments, *code, variable, folder = told(tmp_path)
    assert arguments == RUN
    assert code == ["def doubled(number):", "    return number * 2  # lifted"]
    # Where tests get folders, and the copy, are gone with the run.
    assert Path(folder).name == "project" and not Path(folder).exists()
    assert variable == f"PYTEST_DEBUG_TEMPROOT={Path(folder).parent}"
    assert {found.identity for _, found in load(mutated).reports.values()} == {
        found.identity for found in result.reports if found.fate is not Fate.NO_VERDICT
    }


def test_layer_two_alone_proves_no_guard(mutated: Path) -> None:
    result, seen = ran(mutated, 2)
    assert (result.guards, result.is_part, result.idle_tests) == ((), True, ())
    assert result.reports == (KILLED_CODE, ALLOWED, UNSEEN)
    assert seen == [("code mutants", 2, 3)]


def test_code_mutants_of_chosen_guards_that_no_file_holds_are_a_note(mutated: Path) -> None:
    result, _ = ran(mutated, 1, 2, guards=("a?",))
    assert result.reports == (KILLED_A, SURVIVED, KILLED_B)
    module = B.check.__module__
    assert result.notes == (f"layer 2: no code mutant is named {module}.* or {module}.*",)


@pytest.mark.parametrize(("count", "said"), [(3, "a0 or a1 or a2"), (5, "a0 or a1 or a2 or 2 more")])
def test_of_many_names_the_first_are_said(count: int, said: str) -> None:
    assert layers._some([f"a{number}" for number in range(count)]) == said


def test_code_mutants_that_mutmut_does_not_find_are_a_note(
    mutated: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs(mutmut="echo Filtered for specific mutants; exit 1")
    changes = {"pkg/numbers_of.py": "before\n"}
    monkeypatch.setattr(run, "changes_since", lambda given, reference: Changes(changes))
    result, _ = ran(mutated, 1, 2, since="REF")
    assert result.reports == ()
    assert result.notes[1:] == ("layer 2: no code mutant is named pkg.numbers_of.x*",)


def test_since_a_commit_only_code_that_can_be_affected_is_mutated(
    mutated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"pkg/numbers_of.py": "before\n"}
    monkeypatch.setattr(run, "changes_since", lambda given, reference: changes_of(given == mutated, reference, changes))
    result, _ = ran(mutated, 1, 2, since="REF")
    assert (result.reports, result.problems) == ((KILLED_CODE, ALLOWED, UNSEEN), ())
    assert told(tmp_path)[0] == f"{RUN} pkg.numbers_of.x*"
    changes.clear()
    result, _ = ran(mutated, 1, 2, since="REF")
    assert (result.reports, result.exit_code) == ((), ExitCode.ALL_LIVE)
    assert result.notes[-1] == "layer 2: no code mutant can be affected"


def test_of_chosen_guards_only_the_code_that_can_be_affected_is_mutated(
    mutated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"pkg/numbers_of.py": "before\n"}
    monkeypatch.setattr(run, "changes_since", lambda given, reference: Changes(changes))
    monkeypatch.setattr(B.check, "__module__", "pkg.numbers_of")
    ran(mutated, 2, guards=("ab",), since="REF")
    assert told(tmp_path)[0] == f"{RUN} pkg.numbers_of.x*"
    monkeypatch.setattr(B.check, "__module__", "pkg.others")
    result, _ = ran(mutated, 2, guards=("ab",), since="REF")
    assert result.notes == ("layer 2: no code mutant can be affected",)
    changes["pyproject.toml"] = "before\n"  # then any code can be
    result, _ = ran(mutated, 2, guards=("ab",), since="REF")
    assert result.notes[-1] == "layer 2: no code mutant is named pkg.others.*"


def test_a_guard_asked_for_by_name_whose_code_is_not_mutated_is_no_verdict(mutated: Path) -> None:
    result, _ = ran(mutated, 2, guards=("ab",))
    assert (result.reports, result.exit_code) == ((), ExitCode.NO_VERDICT)


def test_code_mutants_alone_are_run_in_a_prepared_copy(mutated: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def prepare(folder: Path) -> dict[str, str]:
        (folder / "pkg/numbers_of.py").write_text("prepared\n")
        return {TEMPORARY_FOLDERS: "elsewhere", EVERY_KILLER: "1"}

    names = ["pkg.numbers_of.x*", "pkg.gone.*"]
    result = run_code_mutants(mutated, names, lambda done, of: seen.append((done, of)), prepare)
    surviving = f"reached by {KILLER}, {IDLE}"
    assert [(found.identity, found.fate, found.reason) for found in result.reports] == [
        (NAMES[0], Fate.KILLED, ""),
        (NAMES[1], Fate.SURVIVED, surviving),
        (NAMES[2], Fate.NO_VERDICT, "mutmut did not come to it"),
    ]
    assert (result.problems, result.idle_tests, result.unknown, seen) == ((), None, None, [(2, 3)])
    at_once = len(os.sched_getaffinity(0)) + 1
    assert told(tmp_path)[:3] == [
        f"run --max-children {at_once} pkg.numbers_of.x* pkg.gone.*",
        "prepared",
        "PYTEST_DEBUG_TEMPROOT=elsewhere",
    ]


def test_an_interrupted_run_calls_no_suppression_stale(mutated: Path) -> None:
    stale = "def doubled(number):  # pragma: no mutate: for this test\n    return number * 2\n"
    (mutated / "pkg/numbers_of.py").write_text(stale)

    def interrupt(done: int, of: int) -> None:
        raise KeyboardInterrupt

    result = run_code_mutants(mutated, None, interrupt)
    assert [(found.fate, found.reason) for found in result.reports] == [
        (Fate.KILLED, ""),
        (Fate.SURVIVED, f"reached by {KILLER}, {IDLE}"),
    ]
    assert (result.problems, result.idle_tests, result.unknown) == ((), None, 1)


FAILURES = {
    "echo BadTestExecution": (ExitCode.BASELINE_FAILS, "the tests that are to kill cannot be collected:"),
    "echo broken": (ExitCode.NOT_PROVEN, "mutmut ended without a result:"),
}


@pytest.mark.parametrize("script", FAILURES)
def test_a_failure_of_layer_two_takes_nothing_from_layer_one(script: str, mutated: Path, programs: Programs) -> None:
    programs(mutmut=f"{script}; exit 1", python="echo no such test; exit 2")
    code, said = FAILURES[script]
    result, _ = ran(mutated, 1, 2)
    assert (result.reports, result.exit_code) == ((KILLED_A, SURVIVED, KILLED_B), code)
    assert result.failure is not None
    assert result.failure.text.split("\n")[0] == said
    assert set(load(mutated).reports) == {found.identity for found in result.reports}
    assert ran(mutated, 2)[0].failure == result.failure


def test_an_interruption_of_layer_two_keeps_what_is_there(mutated: Path) -> None:
    def interrupt(what: str, done: int, total: int) -> None:
        if what == "code mutants":
            raise KeyboardInterrupt

    result = run_gate(opened(mutated), GateOptions(), interrupt)
    assert result.reports == (KILLED_A, SURVIVED, KILLED_B, KILLED_CODE, ALLOWED)
    assert (result.unknown, result.is_interrupted, result.problems) == (1, True, ())


def test_an_interruption_before_there_are_code_mutants_says_so_and_keeps_layer_one(
    mutated: Path, programs: Programs
) -> None:
    programs(mutmut="echo '2/3  x 1'; sleep 60")

    def interrupt(what: str, done: int, total: int) -> None:
        if what == "code mutants":
            raise KeyboardInterrupt

    result = run_gate(opened(mutated), GateOptions(), interrupt)
    assert result.reports == (KILLED_A, SURVIVED, KILLED_B)
    assert result.notes == ("layer 2: interrupted before there were code mutants, so none was looked at",)
    assert (result.unknown, result.is_interrupted) == (0, True)


def test_an_interruption_while_layer_two_starts_leaves_all_unknown(
    mutated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*given: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(layers, "started_code_mutants", interrupt)
    result, seen = ran(mutated, 1, 2)
    assert (result.reports, result.unknown, result.is_interrupted, seen) == ((), 3, True, [])
    assert result.notes == ("layer 2: interrupted before there were code mutants, so none was looked at",)
    assert result.exit_code is ExitCode.NO_VERDICT


def test_an_interruption_that_comes_when_all_is_known_takes_nothing_away(mutated: Path, tmp_path: Path) -> None:
    meta = tmp_path / "results/pkg/numbers_of.py.meta"
    meta.write_text(json.dumps({"exit_code_by_key": dict(zip(NAMES, (1, 0, 1), strict=True))}))

    def interrupt(what: str, done: int, total: int) -> None:
        if what == "code mutants":
            raise KeyboardInterrupt

    result = run_gate(opened(mutated), GateOptions(), interrupt)
    assert len(result.reports) == 6
    assert (result.unknown, result.is_interrupted, result.problems) == (0, False, (MANY,))


def test_nothing_is_left_but_to_gather_when_both_layers_have_ended(mutated: Path) -> None:
    order: list[str] = []
    run_gate(opened(mutated), GateOptions(), lambda what, done, total: order.append(what), lambda: order.append("hold"))
    assert order == [*["subject mutants"] * 4, "code mutants", "hold", "hold"]
    order.clear()
    run_gate(opened(mutated), GateOptions((1,)), lambda *told: None, lambda: order.append("hold"))
    assert order == ["hold"]


def test_an_interruption_of_layer_one_ends_layer_two_as_well(mutated: Path) -> None:
    def interrupt(what: str, done: int, total: int) -> None:
        assert what == "subject mutants"
        if done == 2:
            raise KeyboardInterrupt

    result = run_gate(opened(mutated), GateOptions(), interrupt)
    in_layer_two = [found for found in result.reports if found.layer == 2]
    assert len(result.reports) - len(in_layer_two) == 2
    assert result.is_interrupted
    # What mutmut had come to by then is as it may be, but nothing is lost.
    assert result.unknown - 1 == (1 if in_layer_two else 0)


@pytest.mark.parametrize(
    ("own", "set_to", "used", "multiplier"),
    [
        ("", None, "60", [1e6]),
        ("", "7.5", "7.5", [1e6]),
        ("timeout_multiplier = 3.0\n", None, "", [3.0]),
        ("timeout_constant = 9.0\n", "7", "7", []),
    ],
)
def test_the_limit_of_a_mutant_is_the_gates_own_unless_the_project_sets_mutmuts(
    own: str, set_to: str | None, used: str, multiplier: list[float], mutated: Path, programs: Programs, tmp_path: Path
) -> None:
    pyproject = mutated / "pyproject.toml"
    pyproject.write_text(pyproject.read_text() + own)
    programs(
        mutmut=f"cp -r {tmp_path}/results mutants; cp pyproject.toml {tmp_path}; echo $ACTOR_ENVS_GATE_SECONDS > {tmp_path}/seconds"
    )
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv(SECONDS, raising=False)
        if set_to is not None:
            environment.setenv(SECONDS, set_to)
        ran(mutated, 2)
    assert (tmp_path / "seconds").read_text() == f"{used}\n"
    table = tomllib.loads((tmp_path / "pyproject.toml").read_text())["tool"]["mutmut"]
    assert [value for key, value in table.items() if key == "timeout_multiplier"] == multiplier
    assert table["only_mutate"] == ["pkg/numbers_of.py"]


@pytest.mark.parametrize("text", ["", "x", "0", "-1", "nan"])
def test_a_limit_that_is_none_is_said_before_mutmut_starts(
    text: str, mutated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECONDS, text)
    with pytest.raises(ConfigurationError) as raised:
        ran(mutated, 2)
    assert str(raised.value) == (
        f"gate: the variable {SECONDS} is no number of seconds above 0: '{text}'\n    unset it, or set it to one, as 60"
    )
    assert not (tmp_path / "told").exists()


def test_a_mutant_that_was_not_asked_all_tests_in_time_timed_out(mutated: Path, tmp_path: Path) -> None:
    with (tmp_path / "results" / KILLS_FILE).open("a") as file:
        file.write("".join(f"\n{json.dumps([name, NOT_ASKED, '12'])}" for name in NAMES))
    result, _ = ran(mutated, 2)
    assert [(found.fate, found.reason) for found in result.reports] == [
        (Fate.KILLED, ""),
        (Fate.TIMED_OUT, "the limit of time ended before 12 further tests were run"),
        (Fate.NO_VERDICT, "mutmut did not come to it"),
    ]


def gate_with_signals(root: Path, tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The command in a fork, where SIGINT is what it is at a terminal."""

    def command() -> int:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return main(["--root", str(root), "gate", "--report", "json", *options])

    return in_a_fork(command, tmp_path)


def with_signals_before(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The function, so many SIGINT sent to this process ahead of its first call."""
    left = iter(range(count))

    def interrupted(*given: Any) -> Any:
        for _ in left:
            signal.raise_signal(signal.SIGINT)
        return function(*given)

    return interrupted


def test_signals_while_diffs_are_made_lose_nothing(
    mutated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_mutants, "diffs_of", with_signals_before(code_mutants.diffs_of, 2))
    done = gate_with_signals(mutated, tmp_path)
    report = json.loads(done.stdout)
    assert (done.returncode, report["unknown"], len(report["mutants"])) == (1, 0, 6)
    assert SAID.decode() in done.stderr


def test_a_signal_while_processes_are_ended_loses_nothing(
    mutated: Path, tmp_path: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs(mutmut=f"cp -r {tmp_path}/results aside && mv aside mutants\necho '2/3  x 1'\nsleep 60")
    follow, end = RunningMutmut.follow, RunningMutmut.end
    follow_interrupted = with_signals_before(lambda *given: None, 1)
    monkeypatch.setattr(RunningMutmut, "follow", lambda *given: follow(given[0], follow_interrupted))
    monkeypatch.setattr(interruption, "ONE_WISH", 0.0)
    monkeypatch.setattr(RunningMutmut, "end", with_signals_before(end, 1))
    done = gate_with_signals(mutated, tmp_path)
    report = json.loads(done.stdout)
    assert (report["unknown"], len(report["mutants"])) == (1, 5)


def test_who_goes_on_ends_what_gathers_results_too(
    mutated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interruption, "ONE_WISH", 0.0)
    monkeypatch.setattr(code_mutants, "diffs_of", with_signals_before(code_mutants.diffs_of, 2))
    done = gate_with_signals(mutated, tmp_path)
    assert (done.returncode, done.stdout) == (ExitCode.NO_VERDICT, "")
    assert done.stderr.endswith(f"{SAID.decode()}gate: interrupted before there was a result, so nothing is known\n")


def test_an_interruption_before_there_are_mutants_leaves_no_result(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "Bench", with_signals_before(run.Bench, 1))
    done = gate_with_signals(root, tmp_path)
    assert (done.returncode, done.stdout) == (ExitCode.NO_VERDICT, "")
    assert done.stderr == "gate: interrupted before there was a result, so nothing is known\n"
