"""What is added to a copy of a public NeMo RL checkout: a table, a registry that reads it, and the configuration."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

GENERATION, POLICY = "nemo_rl.models.generation", "nemo_rl.models.policy.workers"
MODELOPT = "nemo_rl.modelopt.models"

TABLE: Mapping[str, tuple[Sequence[str] | None, str]] = {
    f"{GENERATION}.vllm.vllm_worker.VllmGenerationWorker": (["vllm"], ""),
    f"{GENERATION}.vllm.vllm_worker_async.VllmAsyncGenerationWorker": (["vllm"], ""),
    f"{GENERATION}.sglang.sglang_worker.SGLangGenerationWorker": (["sglang"], ""),
    f"{GENERATION}.dynamo.dynamo_worker.DynamoVllmWorker": (None, ""),
    f"{POLICY}.dtensor_policy_worker.DTensorPolicyWorker": (
        ["fsdp"],
        "FSDP brings what base has already, and kernels that transformers imports.",
    ),
    f"{POLICY}.dtensor_policy_worker_v2.DTensorPolicyWorkerV2": (["automodel"], ""),
    "nemo_rl.models.value.workers.dtensor_value_worker_v2.DTensorValueWorkerV2": (["automodel"], ""),
    f"{POLICY}.megatron_policy_worker.MegatronPolicyWorker": (["mcore"], ""),
    "nemo_rl.models.value.workers.megatron_value_worker.MegatronValueWorker": (["mcore"], ""),
    f"{GENERATION}.trtllm.trtllm_worker_async.TrtllmAsyncGenerationWorker": (["trtllm"], ""),
    "nemo_rl.environments.math_environment.MathEnvironment": (None, ""),
    "nemo_rl.environments.math_environment.MathMultiRewardEnvironment": (None, ""),
    "nemo_rl.environments.vlm_environment.VLMEnvironment": (None, ""),
    "nemo_rl.environments.code_environment.CodeEnvironment": (None, ""),
    "nemo_rl.environments.reward_model_environment.RewardModelEnvironment": (None, ""),
    "nemo_rl.environments.code_jaccard_environment.CodeJaccardEnvironment": (None, ""),
    "nemo_rl.environments.games.sliding_puzzle.SlidingPuzzleEnv": (None, ""),
    "nemo_rl.algorithms.async_utils.AsyncTrajectoryCollector": (["vllm"], "Gets the exceptions of a vLLM worker."),
    "nemo_rl.algorithms.async_utils.ReplayBuffer": (["vllm"], "Holds what a vLLM worker gave."),
    "nemo_rl.experience.sync_rollout_actor.SyncRolloutActor": (
        ["vllm"],
        "Shares the environment of the vLLM worker beside it.",
    ),
    "nemo_rl.environments.tools.retriever.RAGEnvironment": (None, ""),
    "nemo_rl.environments.nemo_gym.NemoGym": (["nemo_gym"], ""),
    f"{MODELOPT}.generation.vllm_quant_worker.VllmQuantGenerationWorker": (["modelopt", "vllm"], ""),
    f"{MODELOPT}.generation.vllm_quant_worker.VllmQuantAsyncGenerationWorker": (["modelopt", "vllm"], ""),
    f"{MODELOPT}.policy.workers.dtensor_quant_policy_worker.DTensorQuantPolicyWorker": (
        ["modelopt", "automodel"],
        "ModelOpt and Automodel are imported in helpers only.",
    ),
    f"{MODELOPT}.policy.workers.dtensor_quant_policy_worker_v2.DTensorQuantPolicyWorkerV2": (
        ["modelopt", "automodel"],
        "ModelOpt is imported in helpers only.",
    ),
    f"{MODELOPT}.policy.workers.megatron_quant_policy_worker.MegatronQuantPolicyWorker": (
        ["modelopt", "mcore"],
        "ModelOpt is required by mcore as well.",
    ),
}
"""Actor -> (extras, the comment that an extra needs which no import explains)."""

LEAF = "nemo_rl/distributed/actor_environments.py"
REGISTRY = "nemo_rl/distributed/ray_actor_environment_registry.py"

REGISTRY_TEXT = """\
from nemo_rl.distributed.actor_environments import ACTOR_ENVIRONMENTS

ACTOR_ENVIRONMENT_REGISTRY = {
    name: " ".join(["uv run", *(f"--extra {extra}" for extra in extras or ())]) for name, extras in ACTOR_ENVIRONMENTS.items()
}


def get_actor_python_env(name):
    return ACTOR_ENVIRONMENT_REGISTRY[name]
"""

CONFIGURATION = f"""
[tool.pytest-actor-envs]
leaf = "{LEAF}"
actor-python = "3.13"
docs = []
lookups = ["get_actor_python_env", "make_actor_runtime_env"]
readers = [
    "{REGISTRY}",
    "nemo_rl/distributed/worker_groups.py",
    "nemo_rl/environments/utils.py",
    "nemo_rl/utils/venvs.py",
]

[tool.pytest-actor-envs.modules]
nccl = "nccl4py"

[tool.pytest-actor-envs.stand-alone-extras]
nvrx = "for the launcher of the driver, no actor"
"""


def leaf_text(table: Mapping[str, tuple[Sequence[str] | None, str]]) -> str:
    """The text of a table."""
    lines = ["ACTOR_ENVIRONMENTS = {"]
    for name, (extras, comment) in table.items():
        lines.extend(f"    # {line}" for line in comment.split("\n") if line)
        lines.append(f"    {json.dumps(name)}: {'None' if extras is None else json.dumps(list(extras))},")
    return "\n".join([*lines, "}", ""])
