"""A fault made again on this project by edits of its files, and what has to be said about it and where."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pytest_actor_envs.evaluation import Evaluation, guards_for
from pytest_actor_envs.model import Finding, Verdict
from pytest_actor_envs.project import Project, open_project
from tests.guards.asked_once import run_apart

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class FaultCase:
    """One syntactic shape of a fault.

    `edits` are (path, old, new); without an old text the new one is appended, to a new file where there is none. The
    guard's finding stands at the line that holds `marked` once the edits are made, in the file `path`, and `words` are
    in its message or in its advice. `besides` are guards that rightly see it too.
    """

    number: str
    shape: str
    edits: tuple[tuple[str, str, str], ...]
    guard: str
    path: str
    marked: str
    words: str
    besides: Collection[str] = ()

    def __str__(self) -> str:
        return f"{self.number}-{self.shape}"


def this_project() -> Project:
    """This repository, its code run in a fork for each look. It is green, and what a fault cannot touch is known."""
    found = open_project(ROOT)
    assert found is not None
    project = Project(found.tree, found.config, found.code_root, run_apart)
    evaluation = Evaluation(project, guards_for(project))
    assert all(evaluation.outcome(case).verdict is Verdict.HOLDS for case in evaluation.all_cases())
    return project


def made(project: Project, case: FaultCase) -> Project:
    """The project with the fault. An edit whose text is not there any more is an error."""
    files: dict[str, str | None] = {}
    for path, old, new in case.edits:
        text = files.get(path) or (project.tree.read_text(path) if project.tree.exists(path) else "")
        assert not old or text.count(old) == 1, f"{case}: {old!r} stands {text.count(old)} times in {path}"
        files[path] = text.replace(old, new) if old else text + new
    return project.with_overlay(files)


def findings_of(evaluation: Evaluation, guard: str) -> list[Finding]:
    """All findings of a guard."""
    cases = evaluation.cases(evaluation.guards[guard])
    return [finding for case in cases for finding in evaluation.outcome(case).findings]


def assert_caught(project: Project, case: FaultCase) -> None:
    """The named guard, and no other but those besides, reports the fault at its line and says the words."""
    mutated = made(project, case)
    evaluation = Evaluation(mutated, guards_for(mutated))
    text = mutated.tree.read_text(case.path)
    assert text.count(case.marked) == 1, f"{case}: {case.marked!r} stands {text.count(case.marked)} times"
    line = text[: text.index(case.marked)].count("\n") + 1
    findings = findings_of(evaluation, case.guard)
    said = [finding for finding in findings if case.words in " ".join((finding.message, *finding.fix))]
    assert {(finding.location.path, finding.location.line) for finding in said} == {(case.path, line)}, findings
    broken = {one.guard.name for one in evaluation.all_cases() if evaluation.outcome(one).verdict is Verdict.BROKEN}
    assert broken == {case.guard, *case.besides}, broken
