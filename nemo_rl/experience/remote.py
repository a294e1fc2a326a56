"""Actors behind the interfaces that their classes have, so that rollouts do not care where the objects live.

Each wrapper waits for the answer and raises what the actor raised.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import ray
from ray.actor import ActorHandle

from nemo_rl.environments.interfaces import EnvironmentInterface, EnvironmentReturn, MessageLog, RolloutBatch
from nemo_rl.models.interfaces import GenerationInterface, GenerationReturn, SamplingParameters

GenerationWorker: TypeAlias = "GenerationInterface | ActorHandle[Any]"
"""A generation worker, or its actor."""

Environment: TypeAlias = "EnvironmentInterface[Any] | ActorHandle[Any]"
"""An environment, or its actor."""


def _answer(reference: Any) -> Any:
    return ray.get(reference)


class RemoteGeneration(GenerationInterface):
    """A generation worker that is an actor."""

    def __init__(self, actor: "ActorHandle[Any]") -> None:
        self.actor = actor

    def generate(self, message_log_batch: Sequence[MessageLog], sampling: SamplingParameters) -> GenerationReturn:
        answer: GenerationReturn = _answer(self.actor.generate.remote(list(message_log_batch), sampling))
        return answer

    def update_weights(self, checkpoint_path: str, weight_version: int) -> None:
        _answer(self.actor.update_weights.remote(checkpoint_path, weight_version))

    def is_alive(self) -> bool:
        return bool(_answer(self.actor.is_alive.remote()))

    def shutdown(self) -> None:
        _answer(self.actor.shutdown.remote())


class RemoteEnvironment(EnvironmentInterface[Any]):
    """An environment that is an actor."""

    def __init__(self, actor: "ActorHandle[Any]") -> None:
        self.actor = actor

    def step(self, message_log_batch: list[MessageLog], metadata: list[Any]) -> EnvironmentReturn[Any]:
        answer: EnvironmentReturn[Any] = _answer(self.actor.step.remote(message_log_batch, metadata))
        return answer

    def global_post_process_and_metrics(self, batch: RolloutBatch) -> tuple[RolloutBatch, dict[str, float]]:
        answer: tuple[RolloutBatch, dict[str, float]] = _answer(
            self.actor.global_post_process_and_metrics.remote(batch)
        )
        return answer

    def shutdown(self) -> None:
        _answer(self.actor.shutdown.remote())


def as_generation(worker: GenerationWorker) -> GenerationInterface:
    """The worker itself, or its actor behind the interface."""
    return RemoteGeneration(worker) if isinstance(worker, ActorHandle) else worker


def as_environment(environment: Environment) -> EnvironmentInterface[Any]:
    """The environment itself, or its actor behind the interface."""
    return RemoteEnvironment(environment) if isinstance(environment, ActorHandle) else environment
