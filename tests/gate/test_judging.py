"""Judging a mutant against the judged project gives what judging all of it gives."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pytest_actor_envs.evaluation import Evaluation, guards_for
from pytest_actor_envs.gate.claims import Claim, claims_of
from pytest_actor_envs.gate.subject_mutants import Bench
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.model import Verdict
from pytest_actor_envs.project import Project, open_project
from pytest_actor_envs.sources.answers import Answers

ROOT = Path(__file__).resolve().parents[2]
SEED = 20261130
SAMPLE = 25


@pytest.fixture(scope="module")
def bench() -> Bench:
    project = open_project(ROOT)
    assert project is not None
    return Bench(project, load_guards())


def not_holding(bench: Bench, project: Project, base: Evaluation | None) -> set[tuple[str, str, Verdict]]:
    evaluation = Evaluation(project, guards_for(project, bench.loaded), base)
    return {
        (case.guard.name, case.name, outcome.verdict)
        for guard in evaluation.guards.values()
        if guard.name not in bench.behavioural
        for case in evaluation.unsettled(guard)
        for outcome in [evaluation.outcome(case)]
        if outcome.verdict is not Verdict.HOLDS
    }


def judged_in_full(bench: Bench, claim: Claim) -> set[tuple[str, str, Verdict]]:
    project = bench.project.with_overlay(claim.mutant.files)
    project.tree.answers = Answers()
    project.tree.answers.project = project
    return not_holding(bench, project, None)


def test_a_sample_of_mutants_breaks_the_same_cases_judged_in_part_and_in_full(bench: Bench) -> None:
    claims = [claim for claim in claims_of(bench.project, bench.guards) if claim.guard not in bench.behavioural]
    sample = random.Random(SEED).sample(claims, SAMPLE)
    differing = []
    for claim in sample:
        in_part = not_holding(bench, bench.project.with_overlay(claim.mutant.files), bench.baseline)
        if in_part != judged_in_full(bench, claim):
            differing.append(claim.identity)
        assert in_part
    assert not differing


def test_a_mutant_of_one_page_looks_at_that_page_again_and_at_little_else(bench: Bench) -> None:
    page = bench.project.with_overlay({"docs/of-this-test.md": None, "README.md": "nothing"})
    evaluation = Evaluation(page, bench.guards, bench.baseline)
    again = {case.guard.name for case in bench.baseline.all_cases() if evaluation.is_looked_at_again(case)}
    assert "docs-quote-table" in again
    assert not again & {"import-provided", "actor-resolves", "registry-mirrors-table", "extra-declared"}
