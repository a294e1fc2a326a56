"""The one list of Ray actors and of the extras that the environment of each is built from.

This file is a *leaf*: it imports the standard library only and runs as a script where nothing else exists, so that
every reader (registry, image build, container fingerprint, documentation) takes the list from here. It is valid for
Python 3.8, which is what the base of an image may have.

An entry maps the fully-qualified name of an actor to its extras, in the order in which they are given to uv, or to
``None`` for an actor that runs on the driver's interpreter. A comment directly above an entry names the extras that no
import of the actor's module explains.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

ACTOR_ENVIRONMENTS: dict[str, list[str] | None] = {
    # Token capture imports nemo_gym inside the worker. Environments are cached by the actor's name, so the extras
    # cannot depend on the configuration of a run.
    "nemo_rl.models.generation.vllm.vllm_worker.VllmGenerationWorker": ["vllm", "nemo_gym"],
    # Token capture imports nemo_gym inside this worker too, whether or not a run turns it on.
    "nemo_rl.models.generation.vllm.vllm_worker_async.VllmAsyncGenerationWorker": ["vllm", "nemo_gym"],
    "nemo_rl.models.generation.sglang.sglang_worker.SGLangGenerationWorker": ["sglang"],
    "nemo_rl.models.generation.dynamo.dynamo_worker.DynamoVllmWorker": None,
    "nemo_rl.models.policy.workers.dtensor_policy_worker.DTensorPolicyWorker": ["fsdp"],
    "nemo_rl.models.policy.workers.dtensor_policy_worker_v2.DTensorPolicyWorkerV2": ["automodel"],
    "nemo_rl.models.value.workers.dtensor_value_worker_v2.DTensorValueWorkerV2": ["automodel"],
    "nemo_rl.models.policy.workers.megatron_policy_worker.MegatronPolicyWorker": ["mcore"],
    "nemo_rl.models.value.workers.megatron_value_worker.MegatronValueWorker": ["mcore"],
    "nemo_rl.data.energon.sft_worker.SFTMegatronPolicyWorker": ["mcore"],
    "nemo_rl.models.generation.trtllm.trtllm_worker_async.TrtllmAsyncGenerationWorker": ["trtllm"],
    "nemo_rl.environments.math_environment.MathEnvironment": None,
    "nemo_rl.environments.math_environment.MathMultiRewardEnvironment": None,
    "nemo_rl.environments.vlm_environment.VLMEnvironment": None,
    "nemo_rl.environments.code_environment.CodeEnvironment": None,
    "nemo_rl.environments.reward_model_environment.RewardModelEnvironment": None,
    "nemo_rl.environments.code_jaccard_environment.CodeJaccardEnvironment": None,
    "nemo_rl.environments.games.sliding_puzzle.SlidingPuzzleEnv": None,
    # Unpickles the exceptions that a vLLM worker raises, whose classes have to be importable here.
    "nemo_rl.algorithms.async_utils.AsyncTrajectoryCollector": ["vllm"],
    # The trajectories that it holds contain vLLM objects.
    "nemo_rl.algorithms.async_utils.ReplayBuffer": ["vllm"],
    # Lives beside the vLLM worker and shares its client of the data plane.
    "nemo_rl.experience.sync_rollout_actor.SyncRolloutActor": ["vllm"],
    # The pieces that it puts together are objects of NeMo Gym, unpickled here.
    "nemo_rl.experience.rollout_reassembler_actor.RolloutReassemblerActor": ["nemo_gym"],
    "nemo_rl.environments.tools.retriever.RAGEnvironment": None,
    "nemo_rl.environments.nemo_gym.NemoGym": ["nemo_gym"],
    "nemo_rl.modelopt.models.generation.vllm_quant_worker.VllmQuantGenerationWorker": ["modelopt", "vllm"],
    "nemo_rl.modelopt.models.generation.vllm_quant_worker.VllmQuantAsyncGenerationWorker": ["modelopt", "vllm"],
    "nemo_rl.modelopt.models.policy.workers.dtensor_quant_policy_worker.DTensorQuantPolicyWorker": [
        "modelopt",
        "automodel",
    ],
    "nemo_rl.modelopt.models.policy.workers.dtensor_quant_policy_worker_v2.DTensorQuantPolicyWorkerV2": [
        "modelopt",
        "automodel",
    ],
    # The bridge happens to require ModelOpt too; this worker quantizes with it, whatever the bridge requires.
    "nemo_rl.modelopt.models.policy.workers.megatron_quant_policy_worker.MegatronQuantPolicyWorker": [
        "modelopt",
        "mcore",
    ],
}

ALL_STAGES = "all"
DEPS_STAGE = "deps"
TRTLLM_STAGE = "trtllm"
STAGES = (DEPS_STAGE, TRTLLM_STAGE, ALL_STAGES)

USAGE = """\
usage: actor_environments.py STAGE [EXTRA ...]

Prints one line for each actor that has an environment of its own: name, stage and uv flags, separated by tabs.

STAGE   deps, trtllm or all: the image layer that builds the environment
EXTRA   leaves out every actor whose environment has this extra
"""


def stage_of(extras: Iterable[str]) -> str:
    """The image layer that can build an environment of these extras: ``trtllm`` or ``deps``."""
    return TRTLLM_STAGE if "trtllm" in extras else DEPS_STAGE


def known_extras() -> list[str]:
    """Every extra that an entry names, sorted, each once."""
    return sorted({extra for extras in ACTOR_ENVIRONMENTS.values() for extra in extras or ()})


def rows(stage: str, skipped: Iterable[str]) -> list[str]:
    """One row for each actor that has an environment, of this stage (``all``: of any) and without the skipped extras.

    A row is ``name<TAB>stage<TAB>--extra a --extra b``, extras in the entry's order; rows are sorted by name.
    """
    left_out = set(skipped)
    return [
        "\t".join((name, stage_of(extras), " ".join("--extra " + extra for extra in extras)))
        for name, extras in sorted(ACTOR_ENVIRONMENTS.items())
        if extras is not None and stage in (ALL_STAGES, stage_of(extras)) and left_out.isdisjoint(extras)
    ]


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """``; did you mean 'x'?`` for the known word that is closest to this one, empty where none is close."""
    # Imported here: it takes longer to import than all of this file, and a right word does not need it.
    import difflib

    matches = difflib.get_close_matches(word, known)
    return f"; did you mean {matches[0]!r}?" if matches else ""


def problems(stage: str, skipped: Iterable[str]) -> list[str]:
    """What is wrong with the script's arguments, one message for each that is wrong."""
    return [
        f"unknown {kind} {word!r}{did_you_mean(word, known)}; known: {', '.join(known)}"
        for kind, words, known in (("stage", [stage], list(STAGES)), ("extra", skipped, known_extras()))
        for word in words
        if word not in known
    ]


def main(argv: list[str]) -> int:
    """Print the rows that the arguments (program name left out) select.

    Returns the exit code. 0: all rows are on stdout, at once. 2: an argument is missing or unknown, the reason is on
    stderr and nothing is on stdout.
    """
    if argv in (["--help"], ["-h"]):
        sys.stdout.write(USAGE)
        return 0
    if not argv:
        sys.stderr.write(USAGE)
        return 2
    wrong = problems(argv[0], argv[1:])
    for message in wrong:
        sys.stderr.write("actor_environments.py: " + message + "\n")
    if wrong:
        return 2
    sys.stdout.write("".join(row + "\n" for row in rows(argv[0], argv[1:])))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
