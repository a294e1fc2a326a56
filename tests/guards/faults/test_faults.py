"""Every fault of the list that a guard of this project notices, made again on this project: one row one shape of it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import pytest

from pytest_actor_envs.evaluation import Evaluation, guards_for
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.model import Verdict
from pytest_actor_envs.project import Project
from tests.guards.faults import argument_faults, docs_faults, evidence_faults, image_faults, table_faults
from tests.guards.faults.cases import ROOT, FaultCase, assert_caught, findings_of, made, this_project

FAULTS = (
    *table_faults.FAULTS,
    *evidence_faults.FAULTS,
    *image_faults.FAULTS,
    *argument_faults.FAULTS,
    *docs_faults.FAULTS,
)
HERE = "tests/guards/faults/test_faults.py"
ELSEWHERE = {
    "S17": "tests/venvs/test_prefetch.py",
    "F7": "tests/venvs/test_killed_builds.py",
    "F8": "tests/venvs/test_launch.py",
    "F10": "tests/system/test_submodules.py",
    "F11": "tests/system/test_container_check.py",
    "F19": HERE,
    "F20": "tests/guards/test_lock_faults.py",
    "F22": HERE,
    "F23": HERE,
}
"""Faults that no guard, every guard, or a guard with a source of its own notices, and the test that shows it."""

LIST = ROOT.parent / "shared" / "faults.md"
LEAF = table_faults.LEAF


@pytest.fixture(scope="module")
def project() -> Project:
    return this_project()


@pytest.mark.parametrize("case", FAULTS, ids=str)
def test_the_fault_is_caught_at_its_line_by_its_guard_alone(case: FaultCase, project: Project) -> None:
    assert_caught(project, case)


def test_no_two_rows_have_one_name() -> None:
    names = [str(case) for case in FAULTS]
    assert len(set(names)) == len(names)


@pytest.mark.skipif(not LIST.exists(), reason="the list of faults does not lie beside this repository")
def test_the_table_has_every_fault_of_the_list_with_its_guards() -> None:
    rows = re.findall(r"^\| ([SF]\d+) \|.*\| ([^|]*) \|$", LIST.read_text(encoding="utf-8"), re.MULTILINE)
    guards = sorted((guard.name for guard in load_guards()), key=len)
    listed = {(number, name) for number, who in rows for name in guards if re.search(rf"(?<![\w-]){name}\b", who)}
    assert len(rows) > 40
    assert {number for number, _ in rows} == {case.number for case in FAULTS} | ELSEWHERE.keys()
    made_again = {(case.number, case.guard) for case in FAULTS}
    assert {pair for pair in listed - made_again if pair[0] not in ELSEWHERE} == set()
    assert made_again - listed == set()


@pytest.mark.parametrize("number", sorted(ELSEWHERE))
def test_what_the_table_leaves_to_other_tests_has_its_file(number: str) -> None:
    assert (ROOT / ELSEWHERE[number]).is_file()


@pytest.mark.parametrize("guard", load_guards(), ids=lambda guard: guard.name)
def test_f19_a_guard_that_finds_no_place_to_look_at_is_broken(guard: object, project: Project) -> None:
    blind = dataclasses.replace(guard, subjects=lambda project: ())  # type: ignore[type-var]
    evaluation = Evaluation(project.with_overlay({}), [blind])  # type: ignore[list-item]
    [case] = evaluation.all_cases()
    assert evaluation.outcome(case).verdict is Verdict.BROKEN
    assert evaluation.outcome(case).findings[0].message == "found no place to look at, so it proves nothing"


def row(name: str) -> FaultCase:
    return next(case for case in FAULTS if str(case) == name)


def test_f22_all_findings_are_reported_at_once(project: Project) -> None:
    both = made(made(project, row("S14-renamed")), row("S5-exits-with-0"))
    evaluation = Evaluation(both, guards_for(both))
    broken = {case.guard.name for case in evaluation.all_cases() if evaluation.outcome(case).verdict is Verdict.BROKEN}
    assert {"actor-resolves", "script-rejects-unknown-argument"} <= broken
    twice = made(made(project, row("S1-misspelt")), row("S1-other-spelling"))
    assert len(findings_of(Evaluation(twice, guards_for(twice)), "extra-declared")) == 2


def quoted(fix: tuple[str, ...]) -> str:
    """What the first quotation in the advice holds."""
    found = re.search(r"'([\w.]+)'", " ".join(fix))
    assert found is not None, fix
    return found[1]


REPAIRS: tuple[tuple[str, str, Callable[[str, tuple[str, ...]], str]], ...] = (
    ("S1-misspelt", LEAF, lambda text, fix: text.replace("mcore2", quoted(fix))),
    ("S1-other-spelling", LEAF, lambda text, fix: text.replace("nemo-gym", quoted(fix))),
    (
        "S9-removed",
        LEAF,
        lambda text, fix: text.replace("] = {\n", "] = {\n" + next(s for s in fix if s[0] == " ") + "\n"),
    ),
    (
        "S9-removed",
        evidence_faults.VALUE_WORKER,
        lambda text, fix: text.replace(
            "class MegatronValueWorker(", fix[-1].partition(": ")[2] + "\nclass MegatronValueWorker("
        ),
    ),
    (
        "F1-import",
        LEAF,
        lambda text, fix: text.replace('"fsdp"]', f'"fsdp", "{quoted(fix[-1:])}"]', 1),
    ),
    (
        "F3-bare",
        evidence_faults.REMOTE,
        lambda text, fix: text.replace(
            "SGLangGenerationWorker.remote()",
            f"SGLangGenerationWorker.options(runtime_env={{{fix[0].partition(': ')[2]}}}).remote()",
        ),
    ),
    (
        "F14-constant",
        evidence_faults.FSDP,
        lambda text, fix: text.replace("PY_EXECUTABLES.MCORE", fix[0].removeprefix("write ")),
    ),
    (
        "F14-string",
        evidence_faults.FSDP,
        lambda text, fix: text.replace('"uv run python"', fix[0].removeprefix("write ")),
    ),
)


@pytest.mark.parametrize(("name", "path", "repair"), REPAIRS, ids=[f"{name}-{path}" for name, path, _ in REPAIRS])
def test_f23_the_advice_mends_the_fault(
    name: str, path: str, repair: Callable[[str, tuple[str, ...]], str], project: Project
) -> None:
    case = row(name)
    broken = made(project, case)
    [finding, *_] = findings_of(Evaluation(broken, guards_for(broken)), case.guard)
    text = broken.tree.read_text(path)
    mended_text = repair(text, finding.fix)
    assert mended_text != text
    mended = broken.with_overlay({path: mended_text})
    assert findings_of(Evaluation(mended, guards_for(mended)), case.guard) == []
