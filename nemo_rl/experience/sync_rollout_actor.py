"""Rollouts of one batch at a time, beside the generation worker."""

from collections.abc import Sequence
from typing import Any, ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.environments.interfaces import MessageLog
from nemo_rl.experience.remote import Environment, GenerationWorker, as_environment, as_generation
from nemo_rl.experience.rollout import RolloutReturn, run_rollouts
from nemo_rl.models.interfaces import SamplingParameters


class SyncRolloutActorImpl:
    """Runs batches of rollouts, turn by turn. The plain class of the actor.

    Args:
        generation: the worker that writes, or its actor.
        environment: the environment that judges, or its actor.
    """

    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.VLLM

    def __init__(self, generation: GenerationWorker, environment: Environment) -> None:
        self.generation = as_generation(generation)
        self.environment = as_environment(environment)

    def run(
        self,
        message_log_batch: Sequence[MessageLog],
        metadata: Sequence[Any],
        sampling: SamplingParameters,
        max_turns: int = 1,
    ) -> RolloutReturn:
        """As :func:`nemo_rl.experience.rollout.run_rollouts`; waits until every conversation has ended."""
        return run_rollouts(self.generation, self.environment, message_log_batch, metadata, sampling, max_turns)


@ray.remote
class SyncRolloutActor(SyncRolloutActorImpl):
    """The Ray actor of :class:`SyncRolloutActorImpl`."""
