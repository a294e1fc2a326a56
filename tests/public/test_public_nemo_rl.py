"""The guards on a public NeMo RL checkout, which `ACTOR_ENVS_PUBLIC_NEMO_RL` names: no finding that is not real.

Seen on the tree of August 2026. None of its code is here: a copy gets a table and a registry of our own.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from pytest_actor_envs.evaluation import Evaluation
from pytest_actor_envs.guards import active_guards, load_guards
from pytest_actor_envs.model import Verdict
from pytest_actor_envs.project import open_project

sys.path.insert(0, str(Path(__file__).parent))

from added_files import CONFIGURATION, LEAF, REGISTRY, REGISTRY_TEXT, TABLE, leaf_text

VARIABLE = "ACTOR_ENVS_PUBLIC_NEMO_RL"

HELPERS = "a Ray actor class that its owner starts itself on the driver's interpreter, and that the table does not have"

REAL = {
    ("actor-launched-by-registry", "nemo_rl.environments.nemo_gym.NemoGym"): "VIRTUAL_ENV gets the interpreter's path",
    ("actor-registered", "nemo_rl.algorithms.single_controller.SingleControllerActor"): HELPERS,
    ("actor-registered", "nemo_rl.environments.code_environment.CodeExecutionWorker"): HELPERS,
    ("actor-registered", "nemo_rl.environments.code_jaccard_environment.CodeJaccardVerifyWorker"): HELPERS,
    ("actor-registered", "nemo_rl.environments.math_environment.EnglishMultichoiceVerifyWorker"): HELPERS,
    ("actor-registered", "nemo_rl.environments.math_environment.HFMultiRewardVerifyWorker"): HELPERS,
    ("actor-registered", "nemo_rl.environments.math_environment.HFVerifyWorker"): HELPERS,
    ("actor-registered", "nemo_rl.environments.math_environment.MultilingualMultichoiceVerifyWorker"): HELPERS,
    ("actor-registered", "nemo_rl.environments.vlm_environment.VLMVerifyWorker"): HELPERS,
    ("actor-registered", "nemo_rl.models.generation.dynamo.dynamo_worker.DynamoGpuReservation"): HELPERS,
    ("actor-registered", "nemo_rl.models.generation.generation_router.GenerationRouterActor"): HELPERS,
    ("actor-registered", "nemo_rl.models.generation.sglang.sglang_router.RouterActor"): HELPERS,
    ("actor-registered", "nemo_rl.models.generation.sglang.utils.http_utils._HttpPosterActor"): HELPERS,
}
"""(guard, subject) -> why the finding is real."""


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    source = os.environ.get(VARIABLE)
    if not source:
        pytest.skip(f"{VARIABLE} names no checkout")
    root = tmp_path_factory.mktemp("public")
    shutil.copytree(Path(source) / "nemo_rl", root / "nemo_rl")
    for name in ("pyproject.toml", "uv.lock"):
        shutil.copy(Path(source) / name, root / name)
    (root / LEAF).write_text(leaf_text(TABLE))
    (root / REGISTRY).write_text(REGISTRY_TEXT)
    with (root / "pyproject.toml").open("a") as file:
        file.write(CONFIGURATION)
    project = open_project(root)
    assert project is not None
    guards = [guard for guard in active_guards(project, load_guards()) if guard.family in {"actors", "extras"}]
    return Evaluation(project, guards)


def test_every_finding_is_a_real_one_and_nothing_is_left_undecided(evaluation: Evaluation) -> None:
    cases = list(evaluation.all_cases())
    assert len(cases) > 9 * len(TABLE)
    outcomes = {(case.guard.name, case.subject.name): evaluation.outcome(case) for case in cases}
    shown = {key: outcome for key, outcome in outcomes.items() if outcome.verdict is not Verdict.HOLDS}
    assert {key: outcome.verdict for key, outcome in shown.items()} == dict.fromkeys(REAL, Verdict.BROKEN), shown
