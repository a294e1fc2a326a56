"""Faults that happened to registries of this kind, made again on this project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_actor_envs.evaluation import Evaluation, guards_for
from pytest_actor_envs.model import Finding, Verdict
from pytest_actor_envs.project import Project, open_project

ROOT = Path(__file__).resolve().parents[3]
REGISTRY = "nemo_rl/distributed/ray_actor_environment_registry.py"
WORKER = "nemo_rl/models/value/workers/megatron_value_worker.py"


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    found = open_project(ROOT)
    assert found is not None
    yield found


def broken(project: Project, path: str, old: str, new: str) -> dict[str, list[Finding]]:
    """Guard -> findings of the project where `old`, in the file at `path`, is `new`."""
    text = project.tree.read_text(path)
    assert text.count(old) == 1, f"the fault is made by an edit of {path}, where {old!r} stands once"
    mutated = project.with_overlay({path: text.replace(old, new)})
    evaluation = Evaluation(mutated, guards_for(mutated))
    found: dict[str, list[Finding]] = {}
    for case in evaluation.all_cases():
        outcome = evaluation.outcome(case)
        if outcome.verdict is Verdict.BROKEN:
            found.setdefault(case.guard.name, []).extend(outcome.findings)
    return found


def test_f9_a_flag_that_seven_entries_ignore(project: Project) -> None:
    old = "name: py_executable_for(extras) for name, extras in ACTOR_ENVIRONMENTS.items()"
    flags = "' '.join('--extra ' + extra for extra in extras)"
    fresh = f'f"uv run --locked {{{flags}}} --directory {{PROJECT_ROOT}}"'
    chosen = 'extras and extras[0] in ("vllm", "modelopt")'
    new = f"name: {fresh} if {chosen} else py_executable_for(extras) for name, extras in ACTOR_ENVIRONMENTS.items()"
    ignoring = [entry.name for entry in project.entries if entry.extras and entry.extras[0] in ("vllm", "modelopt")]
    found = broken(project, REGISTRY, old, new)
    assert set(found) == {"system-flag-honoured"}
    findings = found["system-flag-honoured"]
    assert len(ignoring) >= 7
    assert [finding.message.partition(" ")[0] for finding in findings] == sorted(ignoring)
    assert {finding.location.path for finding in findings} == {REGISTRY}


def test_f14_a_class_default_that_contradicts_the_table(project: Project) -> None:
    found = broken(project, WORKER, "PY_EXECUTABLES.MCORE", "PY_EXECUTABLES.AUTOMODEL")
    assert set(found) == {"executable-matches-extras"}
    [finding] = found["executable-matches-extras"]
    line = project.tree.read_text(WORKER).split("PY_EXECUTABLES.MCORE")[0].count("\n") + 1
    assert (finding.location.path, finding.location.line) == (WORKER, line)
    assert "contradicts the table: it has the extras automodel instead of the extras mcore" in finding.message
    assert finding.fix == ("write PY_EXECUTABLES.MCORE",)
