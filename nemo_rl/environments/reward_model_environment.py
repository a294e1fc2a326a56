"""An environment that asks a scoring actor."""

import dataclasses
import math
from typing import Any, Literal

import ray

from nemo_rl.environments.interfaces import (
    EnvironmentInterface,
    EnvironmentReturn,
    MessageLog,
    check_batch,
    ended_episodes,
    last_response,
)


@dataclasses.dataclass(frozen=True)
class RewardModelConfig:
    """Configuration of :class:`RewardModelEnvironmentImpl`.

    Attributes:
        scorer: handle of an actor with a method ``score(message_log_batch) -> list[float]``, ``[B]`` to ``[B]``.
        mapping: how a score becomes a reward. ``identity``: as it is. ``sigmoid``: 1 / (1 + exp(-score)). ``linear``:
            0 at ``lowest_score`` and below, 1 at ``highest_score`` and above, a straight line between.
        lowest_score: for ``linear``.
        highest_score: for ``linear``; more than ``lowest_score``.
        time_limit: seconds for the scores of one batch.
    """

    scorer: Any
    mapping: Literal["identity", "sigmoid", "linear"] = "identity"
    lowest_score: float = 0.0
    highest_score: float = 1.0
    time_limit: float = 600.0

    def __post_init__(self) -> None:
        if self.mapping not in ("identity", "sigmoid", "linear"):
            raise ValueError(f"unknown mapping {self.mapping!r}; there are 'identity', 'sigmoid' and 'linear'")
        if not self.lowest_score < self.highest_score:
            raise ValueError(f"lowest_score {self.lowest_score} has to be below highest_score {self.highest_score}")


def reward_of_score(score: float, cfg: RewardModelConfig) -> float:
    """Map a score to a reward as the configuration says.

    Raises:
        ValueError: the score is not finite; it would spoil every statistic of the batch.
    """
    if not math.isfinite(score):
        raise ValueError(f"the score {score} is not finite")
    if cfg.mapping == "identity":
        return float(score)
    if cfg.mapping == "sigmoid":
        # Of the two equal forms the one whose exponential cannot overflow.
        return 1 / (1 + math.exp(-score)) if score >= 0 else math.exp(score) / (1 + math.exp(score))
    share = (score - cfg.lowest_score) / (cfg.highest_score - cfg.lowest_score)
    return min(1.0, max(0.0, share))


class RewardModelEnvironmentImpl(EnvironmentInterface[dict[str, Any]]):
    """Rewards a conversation with the mapped score of a scoring actor; an episode is one response.

    A conversation that does not end with a response of the model is scored as it is, and its answer is ``None``. The
    scoring actor belongs to the caller: :meth:`shutdown` leaves it alone. Failures of it are raised, never rewarded.
    """

    def __init__(self, cfg: RewardModelConfig) -> None:
        self.cfg = cfg

    def step(
        self, message_log_batch: list[MessageLog], metadata: list[dict[str, Any]]
    ) -> EnvironmentReturn[dict[str, Any]]:
        """See :meth:`EnvironmentInterface.step`; every episode ends; the metadata are not looked at.

        Raises:
            ValueError: as there, or the scorer gave another number of scores, or one that is not finite.
            TimeoutError: the scorer took longer than the time limit.
            ray.exceptions.RayError: the scorer failed or died.
        """
        check_batch(message_log_batch, metadata)
        try:
            scores: list[float] = ray.get(self.cfg.scorer.score.remote(message_log_batch), timeout=self.cfg.time_limit)
        except ray.exceptions.GetTimeoutError as error:
            raise TimeoutError(
                f"the scoring actor gave no scores for {len(message_log_batch)} conversations within "
                f"{self.cfg.time_limit:g} s"
            ) from error
        if len(scores) != len(message_log_batch):
            raise ValueError(f"the scoring actor gave {len(scores)} scores for {len(message_log_batch)} conversations")
        rewards = [reward_of_score(score, self.cfg) for score in scores]
        contents = [f"Environment: reward {reward:.3f}" for reward in rewards]
        return ended_episodes(contents, rewards, [last_response(log) or None for log in message_log_batch])


@ray.remote
class RewardModelEnvironment(RewardModelEnvironmentImpl):
    """:class:`RewardModelEnvironmentImpl` as a Ray actor."""
