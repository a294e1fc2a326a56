"""Compares code with a reference by the tokens of both."""

from typing import Any

import ray

from nemo_rl.environments.interfaces import EnvironmentInterface, EnvironmentReturn, MessageLog


class CodeJaccardEnvironmentImpl(EnvironmentInterface[dict[str, Any]]):
    """Compares code with a reference by the tokens of both."""

    def __init__(self, cfg: dict[str, Any]) -> None:
        self.cfg = cfg

    def step(self, message_log_batch: list[MessageLog], metadata: list[dict[str, Any]]) -> EnvironmentReturn[dict[str, Any]]:
        """Not written yet."""
        raise NotImplementedError


@ray.remote
class CodeJaccardEnvironment(CodeJaccardEnvironmentImpl):
    """Compares code with a reference by the tokens of both."""
