"""A generation worker and an environment that are small, deterministic and real: no model, but the whole contract.

The writer counts: it answers ``"count N"`` with N one above the last number in the conversation. The judge rewards even
numbers and ends a conversation at its goal.
"""

import re
import sys
import threading
from collections.abc import Sequence
from typing import Any

from ray import cloudpickle

from nemo_rl.environments.interfaces import EnvironmentInterface, EnvironmentReturn, MessageLog, check_batch
from nemo_rl.models.interfaces import GenerationInterface, GenerationReturn, SamplingParameters

SAMPLING = SamplingParameters(max_new_tokens=8, stop_strings=("!",))


class CountingWriter(GenerationInterface):
    """Writes the next number; notes the stop strings of every call."""

    def __init__(self, weight_version: int = 0) -> None:
        self.weight_version = weight_version
        self.calls: list[tuple[int, tuple[str, ...]]] = []
        self.gate: threading.Event | None = None

    def generate(self, message_log_batch: Sequence[MessageLog], sampling: SamplingParameters) -> GenerationReturn:
        assert self.gate is None or self.gate.wait(20), "the test never opened the gate"
        self.calls.append((len(message_log_batch), sampling.stop_strings))
        numbers = [int(re.findall(r"\d+", log[-1]["content"])[-1]) + 1 for log in message_log_batch]
        return GenerationReturn(
            texts=[f"count {number}" for number in numbers],
            token_ids=[[number] for number in numbers],
            log_probabilities=[[-0.5] for _ in numbers],
            finish_reasons=["stop" for _ in numbers],
            weight_version=self.weight_version,
        )

    def update_weights(self, checkpoint_path: str, weight_version: int) -> None:
        self.weight_version = weight_version

    def is_alive(self) -> bool:
        return True

    def shutdown(self) -> None:
        return None


class EvenJudge(EnvironmentInterface[dict[str, Any]]):
    """Rewards even numbers with 1; the conversation ends at the number ``goal`` of its metadata."""

    def step(
        self, message_log_batch: list[MessageLog], metadata: list[dict[str, Any]]
    ) -> EnvironmentReturn[dict[str, Any]]:
        check_batch(message_log_batch, metadata)
        numbers = [int(log[-1]["content"].split()[-1]) for log in message_log_batch]
        if any(item.get("fail") for item in metadata):
            raise RuntimeError("the judge broke down")
        ends = [number >= item["goal"] for number, item in zip(numbers, metadata, strict=True)]
        return EnvironmentReturn(
            observations=[{"role": "environment", "content": f"got {number}"} for number in numbers],
            metadata=[None if end else item for end, item in zip(ends, metadata, strict=True)],
            rewards=[float(number % 2 == 0) for number in numbers],
            terminateds=ends,
            next_stop_strings=[item.get("stop") for item in metadata],
            answers=[str(number) for number in numbers],
        )


def prompts(*starts: int) -> list[MessageLog]:
    """One conversation for each number to count on from."""
    return [[{"role": "user", "content": f"start at {start}"}] for start in starts]


# Ray's workers cannot import a test's module, so its classes travel whole.
cloudpickle.register_pickle_by_value(sys.modules[__name__])
