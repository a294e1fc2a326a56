"""Checks that every generation worker makes before it calls its engine, and what they all read from an answer."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from nemo_rl.environments.interfaces import MessageLog


class TokenLogProbability(Protocol):
    """What vLLM and TensorRT-LLM tell about one token at one position."""

    logprob: float


def check_message_logs(message_log_batch: Sequence[MessageLog]) -> None:
    """Reject what no engine can continue.

    Raises:
        ValueError: the batch is empty, or a conversation has no message.
    """
    if not message_log_batch:
        raise ValueError("the batch is empty: generate() needs at least one conversation")
    for index, message_log in enumerate(message_log_batch):
        if not message_log:
            raise ValueError(f"conversation {index} of {len(message_log_batch)} has no message")


def sampled_log_probabilities(
    token_ids: Sequence[int], positions: Sequence[Mapping[int, TokenLogProbability]] | None
) -> list[float]:
    """The log probability of each sampled token, out of the candidates that the engine lists at each position.

    Args:
        token_ids: ``[T]`` the sampled tokens.
        positions: ``[T]`` token -> log probability; ``None`` where the engine was not asked.

    Returns:
        ``[T]`` natural logarithms, or nothing where the engine was not asked.

    Raises:
        ValueError: the engine answered for another number of tokens.
    """
    if positions is None:
        return []
    if len(positions) != len(token_ids):
        raise ValueError(f"the engine gave {len(token_ids)} tokens, but log probabilities for {len(positions)}")
    return [candidates[token].logprob for token, candidates in zip(token_ids, positions, strict=True)]


def finish_reason(reason: str | None) -> str:
    """``"length"`` when the limit of tokens ended it, else ``"stop"``; engines say ``None`` for an aborted request.

    Raises:
        RuntimeError: the engine gave up on the request.
    """
    if reason in ("stop", "length"):
        return str(reason)
    raise RuntimeError(f"the engine ended a request without finishing it (reason: {reason!r})")
