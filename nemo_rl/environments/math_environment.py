"""Environments that judge mathematical answers by symbolic equality."""

import dataclasses
from typing import TypedDict

import ray

from nemo_rl.environments.answer_tags import last_tagged
from nemo_rl.environments.interfaces import (
    EnvironmentInterface,
    EnvironmentReturn,
    MessageLog,
    check_batch,
    ended_episodes,
    last_response,
)
from nemo_rl.environments.math_grading import Grade, grade_response, has_answer_format, is_integer
from nemo_rl.environments.time_limited_pool import Outcome, TimeLimitedPool


@dataclasses.dataclass(frozen=True)
class MathEnvironmentConfig:
    """Configuration of the environments of this module.

    Attributes:
        num_workers: processes that compare answers.
        time_limit: seconds for each answer; afterwards it counts as wrong and its process is killed.
        memory_limit: bytes of address space of each process.
    """

    num_workers: int = 2
    time_limit: float = 10.0
    memory_limit: int = 4 * 2**30


@dataclasses.dataclass(frozen=True)
class MathMultiRewardConfig(MathEnvironmentConfig):
    """The same, and the weight of each component in the total reward."""

    correctness_weight: float = 1.0
    format_weight: float = 0.5
    integer_weight: float = 0.5


class MathMetadata(TypedDict):
    """``ground_truth``: LaTeX or a plain expression, with or without ``\\boxed{}``."""

    ground_truth: str


class MathEnvironmentImpl(EnvironmentInterface[MathMetadata]):
    """Rewards an answer that equals the ground truth symbolically with 1, everything else with 0.

    An episode is one response. The answer is what stands in the last ``<answer>`` tag, else the last ``\\boxed{}``,
    else the last expression of the response, of which the last 20,000 characters are read. No answer, braces that are
    nested too deeply to be parsed, an answer of a megabyte and one that takes too long have reward 0, and the
    observation says which. A ground truth that is no mathematical expression is an error.
    """

    def __init__(self, cfg: MathEnvironmentConfig | None = None) -> None:
        self.cfg = cfg or MathEnvironmentConfig()
        self._pool = TimeLimitedPool(self.cfg.num_workers, self.cfg.time_limit, self.cfg.memory_limit)

    def grade(self, message_log_batch: list[MessageLog], metadata: list[MathMetadata]) -> list[Outcome[Grade]]:
        """Compare the last response of each conversation with its ground truth; ``[B]``."""
        check_batch(message_log_batch, metadata)
        pairs = [
            (last_response(log), item["ground_truth"]) for log, item in zip(message_log_batch, metadata, strict=True)
        ]
        return self._pool.map(grade_response, pairs)

    def step(
        self, message_log_batch: list[MessageLog], metadata: list[MathMetadata]
    ) -> EnvironmentReturn[MathMetadata]:
        """See :meth:`EnvironmentInterface.step`; every episode ends.

        Raises:
            ValueError: as there, or a ground truth is no mathematical expression.
        """
        grades = self.grade(message_log_batch, metadata)
        return _ended_episodes(grades, [float(is_correct(grade)) for grade in grades])

    def shutdown(self) -> None:
        """Kill the processes that compare answers."""
        self._pool.shutdown()


class MathMultiRewardEnvironmentImpl(MathEnvironmentImpl):
    """Rewards correctness, format and integrality of an answer apart.

    Components, each 0 or 1: ``correctness`` as :class:`MathEnvironmentImpl` judges it; ``format``, when the response is
    ``<think>...</think><answer>...</answer>`` and nothing else; ``integer``, when the answer is an integer in digits.
    ``rewards`` is their sum, weighted by the configuration.
    """

    cfg: MathMultiRewardConfig

    def __init__(self, cfg: MathMultiRewardConfig | None = None) -> None:
        super().__init__(cfg or MathMultiRewardConfig())

    def step(
        self, message_log_batch: list[MessageLog], metadata: list[MathMetadata]
    ) -> EnvironmentReturn[MathMetadata]:
        """See :meth:`EnvironmentInterface.step`; every episode ends.

        Raises:
            ValueError: as there, or a ground truth is no mathematical expression.
        """
        grades = self.grade(message_log_batch, metadata)
        responses = [last_response(log) for log in message_log_batch]
        components = {
            "correctness": [float(is_correct(grade)) for grade in grades],
            "format": [float(has_answer_format(response)) for response in responses],
            "integer": [
                float(is_integer(last_tagged(response, "answer") or (grade.value.answer if grade.value else None)))
                for response, grade in zip(responses, grades, strict=True)
            ],
        }
        weights = (self.cfg.correctness_weight, self.cfg.format_weight, self.cfg.integer_weight)
        totals = [
            sum(weight * value for weight, value in zip(weights, values, strict=True))
            for values in zip(*components.values(), strict=True)
        ]
        return _ended_episodes(grades, totals, components)


def is_correct(grade: Outcome[Grade]) -> bool:
    """Whether the comparison ended and found the answers equal."""
    return grade.value is not None and grade.value.correct


def _verdict(grade: Outcome[Grade]) -> str:
    if grade.value is None:
        return f"incorrect: the comparison {grade.failure}"
    if grade.value.answer is None:
        return "incorrect: no answer found"
    return "correct" if grade.value.correct else "incorrect"


def _ended_episodes(
    grades: list[Outcome[Grade]], rewards: list[float], components: dict[str, list[float]] | None = None
) -> EnvironmentReturn[MathMetadata]:
    contents = [f"Environment: {_verdict(grade)}" for grade in grades]
    answers = [grade.value.answer if grade.value else None for grade in grades]
    return ended_episodes(contents, rewards, answers, components)


@ray.remote
class MathEnvironment(MathEnvironmentImpl):
    """:class:`MathEnvironmentImpl` as a Ray actor."""


@ray.remote
class MathMultiRewardEnvironment(MathMultiRewardEnvironmentImpl):
    """:class:`MathMultiRewardEnvironmentImpl` as a Ray actor."""
