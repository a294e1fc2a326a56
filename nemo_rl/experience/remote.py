"""Actors behind the interfaces that their classes have, so that rollouts do not care where the objects live.

Each wrapper waits for the answer and raises what the actor raised.
"""

from collections.abc import Sequence
from typing import Any

import ray
from ray.actor import ActorHandle

from nemo_rl.environments.interfaces import EnvironmentInterface, EnvironmentReturn, MessageLog, RolloutBatch
from nemo_rl.models.interfaces import GenerationInterface, GenerationReturn, SamplingParameters


class RemoteGeneration(GenerationInterface):
    """A generation worker that is an actor."""

    def __init__(self, actor: ActorHandle) -> None:
        self.actor = actor

    def generate(self, message_log_batch: Sequence[MessageLog], sampling: SamplingParameters) -> GenerationReturn:
        answer: GenerationReturn = ray.get(self.actor.generate.remote(list(message_log_batch), sampling))
        return answer

    def update_weights(self, checkpoint_path: str, weight_version: int) -> None:
        ray.get(self.actor.update_weights.remote(checkpoint_path, weight_version))

    def is_alive(self) -> bool:
        return bool(ray.get(self.actor.is_alive.remote()))

    def shutdown(self) -> None:
        ray.get(self.actor.shutdown.remote())


class RemoteEnvironment(EnvironmentInterface[Any]):
    """An environment that is an actor."""

    def __init__(self, actor: ActorHandle) -> None:
        self.actor = actor

    def step(self, message_log_batch: list[MessageLog], metadata: list[Any]) -> EnvironmentReturn[Any]:
        answer: EnvironmentReturn[Any] = ray.get(self.actor.step.remote(message_log_batch, metadata))
        return answer

    def global_post_process_and_metrics(self, batch: RolloutBatch) -> tuple[RolloutBatch, dict[str, float]]:
        answer: tuple[RolloutBatch, dict[str, float]] = ray.get(
            self.actor.global_post_process_and_metrics.remote(batch)
        )
        return answer

    def shutdown(self) -> None:
        ray.get(self.actor.shutdown.remote())


def as_generation(worker: GenerationInterface | ActorHandle) -> GenerationInterface:
    """The worker itself, or its actor behind the interface."""
    return RemoteGeneration(worker) if isinstance(worker, ActorHandle) else worker


def as_environment(environment: EnvironmentInterface[Any] | ActorHandle) -> EnvironmentInterface[Any]:
    """The environment itself, or its actor behind the interface."""
    return RemoteEnvironment(environment) if isinstance(environment, ActorHandle) else environment
