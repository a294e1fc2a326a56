"""Every guard is seen to fail on this project: each of its subjects by a mutant, in at least two shapes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_actor_envs.evaluation import Evaluation
from pytest_actor_envs.guards import active_guards, load_guards
from pytest_actor_envs.model import Guard, Verdict
from pytest_actor_envs.project import Project, open_project
from tests.guards.asked_once import run_apart

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    found = open_project(ROOT)
    assert found is not None
    project = Project(found.tree, found.config, found.code_root, run_apart)
    return Evaluation(project, active_guards(project, load_guards()))


@pytest.mark.parametrize("guard", load_guards(), ids=lambda guard: guard.name)
def test_the_guards_own_mutants_kill_every_subject_in_two_shapes(guard: Guard, evaluation: Evaluation) -> None:
    if guard.name not in evaluation.guards:
        pytest.skip(f"this project has no source for the family {guard.family}")
    subjects = {case.subject.name for case in evaluation.cases(guard)}
    one_of_each = {}
    for mutant in guard.mutants(evaluation.project):
        one_of_each.setdefault((mutant.subject, mutant.shape), mutant)
    shapes = Counter(shape for _, shape in one_of_each)
    assert len(shapes) >= 2, f"shapes: {sorted(shapes)}"
    survivors = []
    killed_subjects = set()
    for (subject, shape), mutant in one_of_each.items():
        mutated = Evaluation(evaluation.project.with_overlay(mutant.files), list(evaluation.guards.values()))
        cases = [case for case in mutated.cases(guard) if case.subject.name == subject]
        verdicts = [mutated.outcome(case) for case in cases]
        if not any(outcome.verdict is Verdict.BROKEN for outcome in verdicts):
            survivors.append((subject, shape, [(outcome.verdict.value, outcome.reason) for outcome in verdicts]))
        killed_subjects.add(subject)
    assert not survivors, survivors[:5]
    assert subjects <= killed_subjects, f"no mutant for {sorted(subjects - killed_subjects)[:5]}"
