"""Faults against the table's evidence, each made on this project in two syntactic shapes and caught by its guard."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_actor_envs.evaluation import Evaluation, guards_for
from pytest_actor_envs.guards.edits import Files, appended, replaced_text, with_extras, with_first_line, without_entry
from pytest_actor_envs.model import Verdict
from pytest_actor_envs.project import Project, open_project

ROOT = Path(__file__).resolve().parents[2]
FSDP = "nemo_rl/models/policy/workers/dtensor_policy_worker.py"
SGLANG = "nemo_rl/models/generation/sglang/sglang_worker.py"
REMOTE = "nemo_rl/experience/remote.py"
EXECUTABLES = "nemo_rl/distributed/py_executables.py"
VENVS = "nemo_rl/utils/venvs.py"
FSDP_ACTOR = "nemo_rl.models.policy.workers.dtensor_policy_worker.DTensorPolicyWorker"
SGLANG_ACTOR = "nemo_rl.models.generation.sglang.sglang_worker.SGLangGenerationWorker"
VALUE = "nemo_rl.models.value.workers.megatron_value_worker.MegatronValueWorker"
GYM = "nemo_rl.environments.nemo_gym.NemoGym"
MATH = "nemo_rl.environments.math_environment.MathEnvironment"


@pytest.fixture(scope="module")
def project() -> Project:
    found = open_project(ROOT)
    assert found is not None
    return found


def in_function(project: Project, path: str, code: str) -> Files:
    return appended(project, path, "\ndef _added():\n" + "\n".join(f"    {line}" for line in code.split("\n")))


def lost_entry(project: Project, name: str, commented: bool) -> Files:
    found = next(item for item in project.entries if item.name == name)
    if not commented:
        return without_entry(project, found)
    leaf = project.config.leaf
    return replaced_text(project, leaf, f'"{name}"', f'# "{name}"')


def faults(project: Project) -> Mapping[str, tuple[str, str, Files]]:
    """Number and shape -> (guard, subject, files)."""
    tried = "try:\n    {}\nexcept {}:\n    pass"
    entries = {found.name: found for found in project.entries}
    registry = 'ACTOR_ENVIRONMENT_REGISTRY["nemo_rl.x.Y"] = "python"'
    constants = project.tree.read_text(EXECUTABLES)
    fsdp = '    FSDP = py_executable_for(["fsdp"])'
    assert fsdp in constants
    launched = "from {} import {}\nreturn {}"
    module, name = SGLANG_ACTOR.rsplit(".", 1)
    return {
        "S9 removed": ("actor-registered", VALUE, lost_entry(project, VALUE, commented=False)),
        "S9 commented out": ("actor-registered", GYM, lost_entry(project, GYM, commented=True)),
        "S10 constant of other extras": (
            "executable-constant-used",
            "FSDP",
            replaced_text(project, EXECUTABLES, fsdp, fsdp.replace('["fsdp"]', '["fsdp", "nemo_gym"]')),
        ),
        "S10 a new constant": (
            "executable-constant-used",
            "FSDP_MODELOPT",
            replaced_text(
                project, EXECUTABLES, fsdp, f'{fsdp}\n    FSDP_MODELOPT = py_executable_for(("modelopt", "fsdp"))'
            ),
        ),
        "F1 import": ("import-provided", FSDP_ACTOR, in_function(project, FSDP, "import vllm")),
        "F1 from": (
            "import-provided",
            FSDP_ACTOR,
            in_function(project, FSDP, "with open('x'):\n    from vllm.config import ModelConfig"),
        ),
        "F2 assigned": ("actor-registered", "nemo_rl.utils.venvs", in_function(project, VENVS, registry)),
        "F2 updated": (
            "actor-registered",
            "nemo_rl.utils.venvs",
            in_function(
                project,
                VENVS,
                "from nemo_rl.distributed import ray_actor_environment_registry as r\nr.ACTOR_ENVIRONMENT_REGISTRY.update({})",
            ),
        ),
        "F3 bare": (
            "actor-launched-by-registry",
            SGLANG_ACTOR,
            in_function(project, REMOTE, launched.format(module, name, f"{name}.remote()")),
        ),
        "F3 wrapped under another name": (
            "actor-launched-by-registry",
            SGLANG_ACTOR,
            in_function(
                project,
                REMOTE,
                launched.format(
                    module, f"{name} as Worker", "Worker.options(num_gpus=1, runtime_env={'env_vars': {}}).remote()"
                ),
            ),
        ),
        "F4 try": (
            "guarded-import-provided",
            SGLANG_ACTOR,
            with_first_line(project, SGLANG, tried.format("import tensorrt_llm", "ImportError")),
        ),
        "F4 suppress": (
            "guarded-import-provided",
            SGLANG_ACTOR,
            in_function(
                project,
                SGLANG,
                "import contextlib\nwith contextlib.suppress(ImportError):\n    from tensorrt_llm import LLM",
            ),
        ),
        "F5 at the top of a helper": (
            "import-provided",
            SGLANG_ACTOR,
            with_first_line(project, "nemo_rl/models/engine_owner.py", "import vllm"),
        ),
        "F5 through another helper": (
            "import-provided",
            FSDP_ACTOR,
            {
                **with_first_line(project, "nemo_rl/models/policy/token_batch.py", "from .sampling import limits"),
                "nemo_rl/models/policy/sampling.py": "if True:\n    from sglang.srt import limits\n",
            },
        ),
        "F6 import": (
            "import-provided",
            MATH,
            with_first_line(project, "nemo_rl/environments/math_environment.py", "import pytest"),
        ),
        "F6 raising": (
            "import-provided",
            MATH,
            with_first_line(
                project,
                "nemo_rl/environments/math_grading.py",
                "try:\n    from pytest import raises\nexcept ImportError:\n    raise",
            ),
        ),
        "F12 in the class": (
            "executable-constant-used",
            "FSDP",
            replaced_text(project, EXECUTABLES, fsdp, f"{fsdp}\n{fsdp}"),
        ),
        "F12 on the class": (
            "executable-constant-used",
            "FSDP",
            appended(project, EXECUTABLES, "PY_EXECUTABLES.FSDP = py_executable_for(None)"),
        ),
        "F14 constant": (
            "executable-matches-extras",
            FSDP_ACTOR,
            replaced_text(project, FSDP, "= PY_EXECUTABLES.FSDP", "= PY_EXECUTABLES.MCORE"),
        ),
        "F14 string": (
            "executable-matches-extras",
            FSDP_ACTOR,
            replaced_text(project, FSDP, "= PY_EXECUTABLES.FSDP", '= "uv run python"'),
        ),
        "evidence: swapped": ("extra-evidenced", SGLANG_ACTOR, with_extras(project, entries[SGLANG_ACTOR], ["vllm"])),
    }


PLACES = {
    "S9 removed": ("nemo_rl/models/value/workers/megatron_value_worker.py", "class MegatronValueWorker("),
    "S9 commented out": ("nemo_rl/environments/nemo_gym.py", "class NemoGym("),
    "S10 constant of other extras": (EXECUTABLES, 'FSDP = py_executable_for(["fsdp", "nemo_gym"])'),
    "S10 a new constant": (EXECUTABLES, 'FSDP_MODELOPT = py_executable_for(("modelopt", "fsdp"))'),
    "F1 import": (FSDP, "vllm\n"),
    "F1 from": (FSDP, "from vllm.config import ModelConfig"),
    "F2 assigned": (VENVS, "ACTOR_ENVIRONMENT_REGISTRY["),
    "F2 updated": (VENVS, "r.ACTOR_ENVIRONMENT_REGISTRY.update("),
    "F3 bare": (REMOTE, "SGLangGenerationWorker.remote()"),
    "F3 wrapped under another name": (REMOTE, "Worker.options(num_gpus=1"),
    "F4 try": (SGLANG, "tensorrt_llm\n"),
    "F4 suppress": (SGLANG, "from tensorrt_llm import LLM"),
    "F5 at the top of a helper": ("nemo_rl/models/engine_owner.py", "vllm\n"),
    "F5 through another helper": ("nemo_rl/models/policy/sampling.py", "from sglang.srt import limits"),
    "F6 import": ("nemo_rl/environments/math_environment.py", "pytest\n"),
    "F6 raising": ("nemo_rl/environments/math_grading.py", "from pytest import raises"),
    "F12 in the class": (EXECUTABLES, 'FSDP = py_executable_for(["fsdp"])\n    AUTOMODEL'),
    "F12 on the class": (EXECUTABLES, "PY_EXECUTABLES.FSDP = "),
    "F14 constant": (FSDP, "PY_EXECUTABLES.MCORE"),
    "F14 string": (FSDP, '"uv run python"'),
    "evidence: swapped": ("nemo_rl/distributed/actor_environments.py", '"vllm"]'),
}
"""Number and shape -> the file, and the text that begins where the finding stands."""


@pytest.mark.parametrize("number", PLACES)
def test_the_fault_is_caught_by_its_guard_at_its_place(project: Project, number: str) -> None:
    known = faults(project)
    assert sorted(known) == sorted(PLACES)
    guard, subject, files = known[number]
    mutated = project.with_overlay(files)
    evaluation = Evaluation(mutated, guards_for(mutated))
    outcomes = {case.subject.name: evaluation.outcome(case) for case in evaluation.cases(evaluation.guards[guard])}
    assert outcomes[subject].verdict is Verdict.BROKEN, outcomes[subject]
    [finding] = outcomes[subject].findings
    path, marked = PLACES[number]
    lines = mutated.tree.read_text(path).split("\n")
    at = "\n".join([lines[finding.location.line - 1][finding.location.column - 1 :], *lines[finding.location.line :]])
    assert (finding.location.path, at[: len(marked)]) == (path, marked)
