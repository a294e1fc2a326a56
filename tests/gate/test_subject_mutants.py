"""Layer 1 on a project and guards of a few lines: what becomes of a mutant, and whom it is shown."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from pytest_actor_envs.gate import subject_mutants
from pytest_actor_envs.gate.claims import Claim, MutantsDoNotApply, claims_of
from pytest_actor_envs.gate.subject_mutants import Bench, run_claims
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from pytest_actor_envs.model import Finding, Guard, Mutant, MutantDoesNotApply, Place
from pytest_actor_envs.observed import OBSERVATION
from pytest_actor_envs.project import Project, open_project, project_in_memory
from pytest_actor_envs.sources.runtime import ChildRunner
from tests.gate.conftest import FILES

PATHS = ("one.txt", "two.txt")
asked: list[str] = []
projects: list[Project] = []


def guard(name: str, runs_code: bool = False) -> Guard:
    """A guard over the files `PATHS`: broken by its name, crashed by `crash` before it; the file's absence is no subject."""

    def subjects(project: Project) -> Iterator[Place]:
        return (project.place(path) for path in PATHS if project.tree.exists(path))

    def check(project: Project, place: Place) -> Iterator[Finding]:
        asked.append(f"{name} {place.name}")
        projects.append(project)
        if runs_code:
            project.tree.answers.note(OBSERVATION)
        words = project.tree.read_text(place.name).split()
        if f"crash-{name}" in words:
            raise KeyError(place.name)
        if f"stop-{name}" in words:
            os._exit(3)
        if f"wait-{name}" in words:
            time.sleep(60)
        if name in words:
            yield Finding(place.location, "it is so")

    return Guard(name, subjects, check, lambda project: ())


GUARDS = (guard("a"), guard("runs", runs_code=True), guard("b"), guard("c"))
PROJECT = project_in_memory({**FILES, **dict.fromkeys(PATHS, "intact")})


def intact() -> Bench:
    """Made by the test that asks, where a fault in making it is the fault of that test."""
    return Bench(PROJECT, GUARDS)


def claim(by: str, files: Mapping[str, str | None], subject: str = "one.txt") -> Claim:
    return Claim(by, Mutant(subject, "shape", files), "identity")


def diff(path: str, text: str) -> str:
    return f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-intact\n+{text}\n"


def test_the_intact_project_is_judged_once() -> None:
    bench = intact()
    names = [guard.name for guard in bench.guards]
    assert names == ["a", "runs", "b", "c"]
    assert [(name, outcome.verdict.value) for name, outcome in bench.outcomes] == [
        (name, "holds") for name in names for _ in PATHS
    ]
    assert bench.behavioural == {"runs"}
    assert bench.loaded == GUARDS
    assert bench.project is not PROJECT and bench.project.tree is PROJECT.tree


def test_code_of_a_project_in_a_folder_is_run_from_there_in_processes_of_their_own(small: Path) -> None:
    project = open_project(small)
    assert project is not None
    bench = Bench(project, GUARDS)
    assert bench.project.code_root == small
    assert isinstance(bench.project.runner, ChildRunner)


@pytest.mark.parametrize(
    ("by", "text", "fate", "killers", "reason"),
    [
        ("a", "a", Fate.KILLED, ("a",), ""),
        ("b", "c b a", Fate.KILLED, ("a", "b", "c"), ""),
        ("a", "b", Fate.KILLED, ("b",), ""),
        ("a", "other", Fate.SURVIVED, (), ""),
        ("a", "crash-b", Fate.SURVIVED, (), ""),
        ("a", "crash-b a", Fate.KILLED, ("a",), ""),
        ("runs", "runs a", Fate.KILLED, ("a", "runs"), ""),
        ("a", "runs", Fate.SURVIVED, (), ""),
    ],
)
def test_who_kills_a_mutant(by: str, text: str, fate: Fate, killers: tuple[str, ...], reason: str) -> None:
    report = intact().report(claim(by, {"one.txt": text}))
    expected = MutantReport(1, "identity", by, "one.txt", "shape", fate, killers, diff("one.txt", text), reason)
    assert report == expected


@pytest.mark.parametrize("text", ["crash-a", "crash-a b"])
def test_a_crash_of_the_guard_itself_is_shown_whoever_else_kills(text: str) -> None:
    report = intact().report(claim("a", {"one.txt": text}))
    assert (report.fate, report.killers) == (Fate.CRASHED, ("b",) if "b" in text else ())
    assert report.diff == diff("one.txt", text)
    assert report.reason.startswith("a crashed: Traceback (most recent call last):\n")
    assert report.reason.endswith("KeyError: 'one.txt'\n")


def test_of_two_crashes_the_first_is_shown() -> None:
    report = intact().report(claim("a", dict.fromkeys(PATHS, "crash-a"), "two.txt"))
    assert report.reason.endswith("KeyError: 'one.txt'\n")


def test_its_own_guard_has_to_break_on_the_subject_that_it_names() -> None:
    beside = intact().report(claim("a", {"one.txt": "a b"}, "two.txt"))
    assert (beside.fate, beside.killers, beside.reason) == (Fate.KILLED, ("b",), "")
    alone = intact().report(claim("a", {"one.txt": "a"}, "two.txt"))
    assert (alone.fate, alone.killers, alone.reason) == (Fate.SURVIVED, (), "")


@pytest.mark.parametrize(("by", "subject"), [("a", "three.txt"), ("nobody", "one.txt")])
def test_a_survivor_without_its_subject_says_so(by: str, subject: str) -> None:
    report = intact().report(claim(by, {"one.txt": "other"}, subject))
    assert (report.fate, report.reason) == (Fate.SURVIVED, f"{by} has no subject {subject} in the mutant")
    gone = intact().report(claim("a", {"one.txt": None}))
    assert (gone.fate, gone.reason) == (Fate.SURVIVED, "a has no subject one.txt in the mutant")


def test_a_guard_that_runs_code_looks_only_at_what_such_a_guard_claims() -> None:
    for by, seen in (("a", set()), ("runs", {"runs one.txt"})):
        bench = intact()
        asked.clear()
        bench.report(claim(by, {"one.txt": "other"}))
        assert set(asked) == {"a one.txt", "b one.txt", "c one.txt"} | seen


def test_what_a_mutant_does_not_touch_is_not_looked_at_and_the_rest_is_forgotten_after() -> None:
    bench = intact()
    asked.clear()
    projects.clear()
    bench.report(claim("a", {"two.txt": "other"}))
    assert sorted(asked) == ["a two.txt", "b two.txt", "c two.txt"]
    assert {project.tree.answers.project for project in projects} == {None}


def test_a_mutant_that_is_no_valid_configuration_is_crashed() -> None:
    report = intact().report(claim("a", {"pyproject.toml": None}))
    reason = "pyproject.toml:1:1: configuration: [tool.pytest-actor-envs] is missing"
    assert (report.fate, report.killers) == (Fate.CRASHED, ())
    assert report.reason == f"the mutant is no valid configuration: {reason}"
    assert report.diff.startswith("--- a/pyproject.toml\n+++ /dev/null\n")


def test_every_claim_is_reported_also_where_its_process_gives_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject_mutants, "OBSERVATIONS_IN_TIME", 0.1)
    texts = ("a", "stop-a", "wait-a", "b")
    claims = [Claim("a", Mutant("one.txt", "shape", {"one.txt": text}), text) for text in texts]
    found = {report.identity: report for report in run_claims(intact(), claims, 2)}
    assert found == {
        text: MutantReport(1, text, "a", "one.txt", "shape", fate, killers, diff("one.txt", text), reason)
        for text, fate, killers, reason in (
            ("a", Fate.KILLED, ("a",), ""),
            ("stop-a", Fate.NO_VERDICT, (), "its process ended with 3"),
            ("wait-a", Fate.TIMED_OUT, (), "no verdict within 0.5 s"),
            ("b", Fate.KILLED, ("b",), ""),
        )
    }


def with_mutants(name: str, *mutants: Mutant, error: Exception | None = None) -> Guard:
    def made(project: Project) -> Iterable[Mutant]:
        assert project is PROJECT
        yield from mutants
        if error is not None:
            raise error

    return Guard(name, lambda project: (), lambda project, subject: (), made)


CHANGE, GONE = Mutant("s", "x", {"one.txt": "1", "two.txt": "intact"}), Mutant("s", "y", {"one.txt": None})


def test_identities_are_unique_and_count_only_what_is_the_same() -> None:
    other = Mutant("t", "x", {"new.txt": ""})
    claims = claims_of(PROJECT, [with_mutants("g", CHANGE, GONE, CHANGE, other, CHANGE), with_mutants("h", CHANGE)])
    assert claims == [
        Claim("g", CHANGE, "g/s/x"),
        Claim("g", GONE, "g/s/y"),
        Claim("g", CHANGE, "g/s/x#2"),
        Claim("g", other, "g/t/x"),
        Claim("g", CHANGE, "g/s/x#3"),
        Claim("h", CHANGE, "h/s/x"),
    ]


def line_of(text: str) -> int:
    """The line of this file that is `text`."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines].index(text) + 1


def fault_of(project: Project, made: Callable[[Project], Iterable[Mutant]]) -> str:
    """The first line of what is said of a guard whose mutants cannot be made."""
    with pytest.raises(MutantsDoNotApply) as raised:
        claims_of(project, [Guard("g", lambda project: (), lambda project, subject: (), made)])
    return str(raised.value).split("\n")[0]


def test_where_making_mutants_raises_in_a_helper_the_guards_own_line_is_told() -> None:
    def made(project: Project) -> Iterable[Mutant]:
        yield CHANGE
        json.loads("{")  # asked of a helper

    line = line_of('json.loads("{")  # asked of a helper')
    raised = "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
    assert fault_of(PROJECT, made) == f"g: making its mutants raised {raised} at {__file__}:{line}"


def test_of_a_guard_that_belongs_to_the_project_the_path_within_the_project_is_told(small: Path) -> None:
    (small / "link").symlink_to(".")
    project = open_project(small / "link")
    found: dict[str, Callable[[Project], Iterable[Mutant]]] = {}
    assert project is not None
    exec(compile("def made(project):\n    return 1 // 0\n", small / "pkg/guards.py", "exec"), found)
    assert fault_of(project, found["made"]) == (
        "g: making its mutants raised ZeroDivisionError: integer division or modulo by zero at pkg/guards.py:2"
    )


def test_where_no_code_of_the_guard_was_begun_no_place_is_told() -> None:
    begun = fault_of(PROJECT, lambda: ())  # type: ignore[arg-type, misc]
    assert begun.startswith("g: making its mutants raised TypeError: ")
    assert begun.endswith(" takes 0 positional arguments but 1 was given")


def test_every_fault_of_making_mutants_is_told() -> None:
    same = {"one.txt": "intact", "gone.txt": None}
    guards = [
        with_mutants("stale", CHANGE, error=MutantDoesNotApply("no anchor")),
        with_mutants("fine", CHANGE),
        with_mutants("faulty", error=KeyError("k")),
        with_mutants("empty"),
        with_mutants("idle", Mutant("s", "x", same), CHANGE, Mutant("t", "y", same)),
    ]
    with pytest.raises(MutantsDoNotApply) as raised:
        claims_of(PROJECT, guards)
    assert str(raised.value).split("\n") == [
        "stale: a mutant does not apply: no anchor",
        f"faulty: making its mutants raised KeyError: 'k' at {__file__}:{line_of('raise error')}",
        "    mend what makes them; they alone are made by: actor-envs gate --list --guard faulty",
        "empty: it has no mutants, so nothing shows that it can fail",
        "idle: its mutant x of s changes nothing",
        "idle: its mutant y of t changes nothing",
    ]
