"""Faults that happened in systems of this kind, each made again on this project and caught by the guard named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_actor_envs.evaluation import Evaluation, guards_for
from pytest_actor_envs.model import Verdict
from pytest_actor_envs.project import Project, open_project
from pytest_actor_envs.sources.forks import run_in_fork

ROOT = Path(__file__).resolve().parents[2]
LEAF = "nemo_rl/distributed/actor_environments.py"
REGISTRY = "nemo_rl/distributed/ray_actor_environment_registry.py"
EXECUTABLES = "nemo_rl/distributed/py_executables.py"
FINGERPRINT = "tools/generate_fingerprint.py"
WORKERS = "nemo_rl/models/value/workers"
MEGATRON_VALUE = '"nemo_rl.models.value.workers.megatron_value_worker.MegatronValueWorker": ["mcore"]'
GYM = '"nemo_rl.environments.nemo_gym.NemoGym": ["nemo_gym"]'


@dataclass(frozen=True)
class Fault:
    """One fault: its number in the list, the edits (path, old, new), the guard that notices, and where and what it says.

    `besides` are guards that rightly see it as well.
    """

    number: str
    edits: tuple[tuple[str, str, str], ...]
    guard: str
    path: str
    marked: str
    words: str
    besides: frozenset[str] = frozenset()


FAULTS = (
    Fault(
        "S1",
        ((LEAF, MEGATRON_VALUE, MEGATRON_VALUE.replace("mcore", "mcore2")),),
        "extra-declared",
        LEAF,
        "mcore2",
        "did you mean 'mcore'",
    ),
    Fault(
        "S2",
        ((LEAF, '" ".join("--extra " + extra for extra in extras)', '"--extra " + extras[0]'),),
        "script-mirrors-registry",
        LEAF,
        "def main",
        "prints `deps --extra vllm` instead of `deps --extra vllm --extra nemo_gym`",
    ),
    Fault(
        "S3",
        ((LEAF, 'return TRTLLM_STAGE if "trtllm" in extras else DEPS_STAGE', "return DEPS_STAGE"),),
        "script-mirrors-registry",
        LEAF,
        "def main",
        "instead of `trtllm --extra trtllm`",
        frozenset({"script-stages-partition"}),
    ),
    Fault(
        "S4",
        (
            (
                FINGERPRINT,
                "file_value(root / path) for path in COVERED_FILES",
                'file_value(root / ("uv.lock" if path == LEAF else path)) for path in COVERED_FILES',
            ),
        ),
        "fingerprint-covers-file",
        FINGERPRINT,
        "def fingerprint(",
        f"the entry {LEAF} is not the hash of that file",
    ),
    Fault(
        "S5",
        ((LEAF, "    if wrong:\n        return 2\n", "    if wrong:\n        return 0\n"),),
        "script-rejects-unknown-argument",
        LEAF,
        "def main",
        "exits with 0, not with 2",
    ),
    Fault(
        "S6",
        ((LEAF, '("extra", skipped, known_extras())', '("extra", [], known_extras())'),),
        "script-rejects-unknown-argument",
        LEAF,
        "def main",
        "`all no-such-extra` exits with 0",
    ),
    Fault(
        "S7",
        ((REGISTRY, "\nreject_undeclared_extras(", "\n_ = (lambda *_: None)("),),
        "registry-rejects-undeclared-extra",
        REGISTRY,
        '"""',
        "accepts an extra that pyproject.toml does not declare",
    ),
    Fault(
        "S8",
        ((LEAF, "left_out.isdisjoint(extras)", "not any(extra in name for extra in left_out)"),),
        "script-skips-by-extra",
        LEAF,
        "def main",
        "`all vllm` still prints nemo_rl.algorithms.async_utils.AsyncTrajectoryCollector",
    ),
    Fault(
        "S11",
        ((FINGERPRINT, '"uv.lock", LEAF)', '"uv.lock")'),),
        "fingerprint-covers-file",
        FINGERPRINT,
        "def fingerprint(",
        f"the fingerprint has no key {LEAF}",
    ),
    Fault(
        "S12",
        ((LEAF, "import difflib\n", "import difflib\nimport nemo_rl\n"),),
        "leaf-stdlib-only",
        LEAF,
        "nemo_rl\n",
        "imports its own package 'nemo_rl'",
        frozenset({"leaf-runs-alone"}),
    ),
    Fault(
        "S13",
        ((LEAF, "    left_out = set(skipped)\n", "    import packaging\n\n    left_out = set(skipped)\n"),),
        "leaf-stdlib-only",
        LEAF,
        "packaging",
        "imports a third-party module 'packaging'",
        frozenset({"leaf-runs-alone"}),
    ),
    Fault(
        "S14",
        ((f"{WORKERS}/megatron_value_worker.py", "class MegatronValueWorker(", "class MegatronValueActor("),),
        "actor-resolves",
        LEAF,
        MEGATRON_VALUE,
        "defines no class MegatronValueWorker",
        frozenset({"actor-registered", "docs-name-real-things"}),
    ),
    Fault(
        "S23",
        ((LEAF, MEGATRON_VALUE, MEGATRON_VALUE.replace('["mcore"]', '("mcore",)')),),
        "leaf-table-literal",
        LEAF,
        '("mcore",)',
        "is a tuple",
    ),
    Fault(
        "S24",
        (
            (
                REGISTRY,
                "name: py_executable_for(extras) for",
                'name: py_executable_for(extras) if extras is None else "uv run --locked " + " ".join("--extra " + e for e in extras) + f" --directory {PROJECT_ROOT}" for',  # noqa: E501
            ),
        ),
        "system-flag-honoured",
        REGISTRY,
        "ACTOR_ENVIRONMENT_REGISTRY",
        "ignores NEMO_RL_PY_EXECUTABLES_SYSTEM=1",
    ),
    Fault(
        "S25",
        ((LEAF, MEGATRON_VALUE, MEGATRON_VALUE.replace("mcore", "nosuch")),),
        "extra-declared",
        LEAF,
        "nosuch",
        "does not declare",
    ),
    Fault("F13", ((LEAF, GYM, f"{GYM},\n    {GYM}"),), "leaf-table-literal", LEAF, GYM, "is written twice"),
    Fault(
        "F16",
        (
            (LEAF, GYM, GYM + ',\n    "nemo_rl.data.energon.sft_worker.MegatronValueWorker": ["mcore"]'),
            (
                "nemo_rl/data/energon/sft_worker.py",
                "",
                "import ray\n\n\n@ray.remote\nclass MegatronValueWorker:\n    pass\n\n\n",
            ),
        ),
        "actor-name-unique",
        LEAF,
        '"nemo_rl.data.energon.sft_worker.MegatronValueWorker"',
        "both want the wrapper script python-MegatronValueWorker",
        frozenset({"registry-mirrors-table", "executable-matches-extras", "import-provided", "extra-evidenced"}),
    ),
    Fault(
        "F21",
        ((LEAF, GYM, GYM.replace('["nemo_gym"]', '["nemo_gym", "trtllm"]')),),
        "extra-compatible",
        LEAF,
        '"trtllm"]',
        "which conflict",
        frozenset({"executable-matches-extras", "docs-quote-table"}),
    ),
)


def made(project: Project, fault: Fault) -> Project:
    files: dict[str, str | None] = {}
    for path, old, new in fault.edits:
        text = files.get(path) or project.tree.read_text(path)
        assert old in text, f"{fault.number} is made by an edit of {path}, where {old!r} does not stand any more"
        if not old:
            start = text.index("import ") if not text.startswith("import") else 0
            files[path] = text[:start] + new + text[start:]
        else:
            files[path] = text.replace(old, new, 1)
    return project.with_overlay(files)


@pytest.fixture(scope="module")
def project() -> Project:
    found = open_project(ROOT)
    assert found is not None
    return Project(found.tree, found.config, found.code_root, run_in_fork)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.number)
def test_the_named_guard_reports_the_fault_at_its_place(fault: Fault, project: Project) -> None:
    mutated = made(project, fault)
    evaluation = Evaluation(mutated, guards_for(mutated))
    findings = [
        finding
        for case in evaluation.cases(evaluation.guards[fault.guard])
        for finding in evaluation.outcome(case).findings
    ]
    said = [finding for finding in findings if fault.words in " ".join((finding.message, *finding.fix))]
    assert said, findings
    text = mutated.tree.read_text(fault.path)
    last_line = text[: text.rindex(fault.marked)].count("\n") + 1
    first_line = text[: text.index(fault.marked)].count("\n") + 1
    places = {(finding.location.path, finding.location.line) for finding in said}
    assert places & {(fault.path, first_line), (fault.path, last_line)}, places


EVIDENCE = frozenset(
    {"import-provided", "extra-evidenced", "executable-constant-used", "extra-used", "guarded-import-provided"}
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.number)
def test_no_guard_that_should_not_reports_the_fault(fault: Fault, project: Project) -> None:
    mutated = made(project, fault)
    evaluation = Evaluation(mutated, guards_for(mutated))
    broken = {case.guard.name for case in evaluation.all_cases() if evaluation.outcome(case).verdict is Verdict.BROKEN}
    assert fault.guard in broken
    changes_extras = fault.number in {"S1", "S25", "F13", "F16", "F21", "S23"}
    assert broken - {fault.guard} - fault.besides - (EVIDENCE if changes_extras else frozenset()) == set()


def test_two_faults_are_two_findings_of_two_guards(project: Project) -> None:
    by_number: dict[str, Fault] = {fault.number: fault for fault in FAULTS}
    both = made(made(project, by_number["S14"]), by_number["S5"])
    evaluation = Evaluation(both, guards_for(both))
    broken = {case.guard.name for case in evaluation.all_cases() if evaluation.outcome(case).verdict is Verdict.BROKEN}
    assert {"actor-resolves", "script-rejects-unknown-argument"} <= broken


def test_suggestions_mend_what_they_are_made_for(project: Project) -> None:
    repair: dict[str, Callable[[str], str]] = {"S1": lambda text: text.replace("mcore2", "mcore")}
    for number, mend in repair.items():
        fault = next(fault for fault in FAULTS if fault.number == number)
        mutated = made(project, fault)
        mended = mutated.with_overlay({LEAF: mend(mutated.tree.read_text(LEAF))})
        evaluation = Evaluation(mended, guards_for(mended))
        assert all(
            evaluation.outcome(case).verdict is Verdict.HOLDS
            for case in evaluation.cases(evaluation.guards[fault.guard])
        )
