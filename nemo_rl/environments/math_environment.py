"""Judges mathematical answers."""

from typing import Any

import ray

from nemo_rl.environments.interfaces import EnvironmentInterface, EnvironmentReturn, MessageLog


class MathEnvironmentImpl(EnvironmentInterface[dict[str, Any]]):
    """Judges mathematical answers."""

    def __init__(self, cfg: dict[str, Any]) -> None:
        self.cfg = cfg

    def step(self, message_log_batch: list[MessageLog], metadata: list[dict[str, Any]]) -> EnvironmentReturn[dict[str, Any]]:
        """Not written yet."""
        raise NotImplementedError


@ray.remote
class MathEnvironment(MathEnvironmentImpl):
    """Judges mathematical answers."""


class MathMultiRewardEnvironmentImpl(EnvironmentInterface[dict[str, Any]]):
    """Judges mathematical answers with several rewards."""

    def __init__(self, cfg: dict[str, Any]) -> None:
        self.cfg = cfg

    def step(self, message_log_batch: list[MessageLog], metadata: list[dict[str, Any]]) -> EnvironmentReturn[dict[str, Any]]:
        """Not written yet."""
        raise NotImplementedError


@ray.remote
class MathMultiRewardEnvironment(MathMultiRewardEnvironmentImpl):
    """Judges mathematical answers with several rewards."""
