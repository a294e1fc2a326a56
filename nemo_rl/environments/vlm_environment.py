"""Judges answers about pictures."""

from typing import Any

import ray

from nemo_rl.environments.interfaces import EnvironmentInterface, EnvironmentReturn, MessageLog


class VLMEnvironmentImpl(EnvironmentInterface[dict[str, Any]]):
    """Judges answers about pictures."""

    def __init__(self, cfg: dict[str, Any]) -> None:
        self.cfg = cfg

    def step(self, message_log_batch: list[MessageLog], metadata: list[dict[str, Any]]) -> EnvironmentReturn[dict[str, Any]]:
        """Not written yet."""
        raise NotImplementedError


@ray.remote
class VLMEnvironment(VLMEnvironmentImpl):
    """Judges answers about pictures."""
