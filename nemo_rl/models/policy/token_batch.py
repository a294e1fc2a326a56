"""Batches of tokens for training and scoring, without any library of an engine.

``B`` is the number of sequences in a batch, ``T_b`` the number of tokens of sequence ``b``. Sequences are ragged; a
worker pads them as its engine needs. Position ``t`` of everything that is aligned with tokens says something about the
prediction *of* token ``t``, so position 0 never counts.
"""

import dataclasses
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class TokenBatch:
    """Sequences to score.

    Attributes:
        token_ids: ``[B][T_b]``, at least one sequence, each of at least two tokens.

    Raises:
        ValueError: the batch is empty or a sequence is too short.
    """

    token_ids: Sequence[Sequence[int]]

    def __post_init__(self) -> None:
        if not self.token_ids:
            raise ValueError("the batch is empty: it needs at least one sequence of tokens")
        for index, sequence in enumerate(self.token_ids):
            if len(sequence) < 2:
                raise ValueError(f"sequence {index} has {len(sequence)} token(s); to predict one, two are needed")

    def require_aligned(self, name: str, values: Sequence[Sequence[float]]) -> None:
        """Reject values that do not have one item for each token.

        Raises:
            ValueError: a length differs; the message names the first sequence where it does.
        """
        if len(values) != len(self.token_ids):
            raise ValueError(f"{name} holds {len(values)} sequences, token_ids {len(self.token_ids)}")
        for index, (tokens, row) in enumerate(zip(self.token_ids, values, strict=True)):
            if len(tokens) != len(row):
                raise ValueError(f"{name}[{index}] has {len(row)} items, token_ids[{index}] has {len(tokens)}")


@dataclasses.dataclass(frozen=True)
class PolicyBatch(TokenBatch):
    """Sequences to train a policy on.

    Attributes:
        loss_mask: ``[B][T_b]`` 1 where the token was written by the policy and counts, else 0; one 1 at least.
        advantages: ``[B][T_b]``.
        generation_log_probabilities: ``[B][T_b]`` natural logarithms when the token was sampled; 0 where masked.
    """

    loss_mask: Sequence[Sequence[float]]
    advantages: Sequence[Sequence[float]]
    generation_log_probabilities: Sequence[Sequence[float]]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_aligned("loss_mask", self.loss_mask)
        self.require_aligned("advantages", self.advantages)
        self.require_aligned("generation_log_probabilities", self.generation_log_probabilities)
        require_counting_position(self.loss_mask)


@dataclasses.dataclass(frozen=True)
class ValueBatch(TokenBatch):
    """Sequences to train a value function on.

    Attributes:
        loss_mask: ``[B][T_b]`` 1 where the token counts, else 0; one 1 at least.
        returns: ``[B][T_b]`` what the value at each token should have been.
        old_values: ``[B][T_b]`` what the value function said when the rollout was made.
    """

    loss_mask: Sequence[Sequence[float]]
    returns: Sequence[Sequence[float]]
    old_values: Sequence[Sequence[float]]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_aligned("loss_mask", self.loss_mask)
        self.require_aligned("returns", self.returns)
        self.require_aligned("old_values", self.old_values)
        require_counting_position(self.loss_mask)


@dataclasses.dataclass(frozen=True)
class SupervisedBatch(TokenBatch):
    """Sequences to imitate.

    Attributes:
        loss_mask: ``[B][T_b]`` 1 where the token is to be learnt, else 0; one 1 at least.
    """

    loss_mask: Sequence[Sequence[float]]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_aligned("loss_mask", self.loss_mask)
        require_counting_position(self.loss_mask)


@dataclasses.dataclass(frozen=True)
class TrainStepReturn:
    """What one optimizer step did.

    Attributes:
        loss: mean over the tokens that count.
        gradient_norm: before clipping.
        token_count: number of tokens that counted.
        step: number of optimizer steps of this worker so far, this one included.
    """

    loss: float
    gradient_norm: float
    token_count: int
    step: int


def require_counting_position(loss_mask: Sequence[Sequence[float]]) -> None:
    """Reject a batch on which a step would divide by zero.

    Raises:
        ValueError: nothing counts; position 0 never does.
    """
    if not any(value for row in loss_mask for value in row[1:]):
        raise ValueError("loss_mask is 0 everywhere but at position 0, so there is nothing to learn from this batch")


def padded(rows: Sequence[Sequence[float]], length: int, fill: float) -> list[list[float]]:
    """Rows of equal length, filled at the right.

    Args:
        rows: ``[B][T_b]``, none longer than ``length``.
        length: ``T``.
        fill: value of the filled positions.

    Returns:
        ``[B][T]``.
    """
    return [[*row, *([fill] * (length - len(row)))] for row in rows]
