"""Losses over padded batches, for every worker whose environment has torch.

``B`` sequences, ``T`` tokens each after padding, ``V`` tokens in the vocabulary. Everything ``[B, T]`` is aligned with
the token that is predicted, so position 0 is 0 or ignored.
"""

import dataclasses
from collections.abc import Sequence

import torch

from nemo_rl.models.policy.token_batch import PolicyBatch, TokenBatch, ValueBatch, padded


@dataclasses.dataclass(frozen=True)
class PaddedTokens:
    """A batch of tokens on a device.

    Attributes:
        token_ids: ``[B, T]`` int64.
        attention_mask: ``[B, T]`` int64, 0 where padded.
    """

    token_ids: torch.Tensor
    attention_mask: torch.Tensor


def pad_tokens(batch: TokenBatch, pad_token_id: int, device: torch.device) -> PaddedTokens:
    """Put the tokens of a ragged batch on a device, filled at the right."""
    length = max(len(row) for row in batch.token_ids)
    return PaddedTokens(
        token_ids=torch.tensor(padded(batch.token_ids, length, pad_token_id), dtype=torch.long, device=device),
        attention_mask=torch.tensor(
            padded([[1] * len(row) for row in batch.token_ids], length, 0), dtype=torch.long, device=device
        ),
    )


def pad_values(rows: Sequence[Sequence[float]], length: int, device: torch.device) -> torch.Tensor:
    """Put ragged ``[B][T_b]`` numbers on a device as ``[B, T]`` float32, filled with 0 at the right."""
    return torch.tensor(padded(rows, length, 0.0), dtype=torch.float32, device=device)


def token_log_probabilities(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    """Natural logarithm of the probability that the model gave each token.

    Args:
        logits: ``[B, T, V]``; those at position ``t`` predict token ``t + 1``.
        token_ids: ``[B, T]`` int64.

    Returns:
        ``[B, T]`` float32; 0 at position 0, which nothing predicts.
    """
    log_probabilities = torch.log_softmax(logits[:, :-1].float(), dim=-1)
    chosen = log_probabilities.gather(-1, token_ids[:, 1:].unsqueeze(-1)).squeeze(-1)
    return torch.nn.functional.pad(chosen, (1, 0))


def masked_mean(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Mean of ``values`` where ``mask`` is 1, both ``[B, T]``; position 0 never counts."""
    return (values * mask)[:, 1:].sum() / mask[:, 1:].sum()


def clipped_policy_loss(
    log_probabilities: torch.Tensor,
    old_log_probabilities: torch.Tensor,
    advantages: torch.Tensor,
    loss_mask: torch.Tensor,
    ratio_clip: float,
) -> torch.Tensor:
    """The clipped surrogate of proximal policy optimization (Schulman et al. 2017, equation 7), negated, token mean.

    Args:
        log_probabilities: ``[B, T]`` of the policy in training.
        old_log_probabilities: ``[B, T]`` of the policy that wrote the tokens.
        advantages: ``[B, T]``.
        loss_mask: ``[B, T]``.
        ratio_clip: epsilon; the ratio of probabilities counts within ``1 - epsilon`` and ``1 + epsilon``.

    Returns:
        Scalar.
    """
    ratio = torch.exp(log_probabilities - old_log_probabilities)
    clipped = ratio.clamp(1 - ratio_clip, 1 + ratio_clip)
    return masked_mean(-torch.minimum(ratio * advantages, clipped * advantages), loss_mask)


def clipped_value_loss(
    values: torch.Tensor, old_values: torch.Tensor, returns: torch.Tensor, loss_mask: torch.Tensor, value_clip: float
) -> torch.Tensor:
    """Squared error of a value function that moves at most ``value_clip`` away from its old values, token mean.

    The larger of the clipped and the plain error counts, half of it, as in OpenAI Baselines' ``ppo2``.

    Args:
        values: ``[B, T]`` of the function in training.
        old_values: ``[B, T]`` when the rollout was made.
        returns: ``[B, T]`` the targets.
        loss_mask: ``[B, T]``.
        value_clip: how far a value may move.

    Returns:
        Scalar.
    """
    clipped = old_values + (values - old_values).clamp(-value_clip, value_clip)
    return masked_mean(0.5 * torch.maximum((values - returns) ** 2, (clipped - returns) ** 2), loss_mask)


def policy_loss_of(batch: PolicyBatch, log_probabilities: torch.Tensor, ratio_clip: float) -> torch.Tensor:
    """:func:`clipped_policy_loss` of a ragged batch, given the padded log probabilities ``[B, T]``."""
    length, device = log_probabilities.shape[1], log_probabilities.device
    return clipped_policy_loss(
        log_probabilities,
        pad_values(batch.generation_log_probabilities, length, device),
        pad_values(batch.advantages, length, device),
        pad_values(batch.loss_mask, length, device),
        ratio_clip,
    )


def value_loss_of(batch: ValueBatch, values: torch.Tensor, value_clip: float) -> torch.Tensor:
    """:func:`clipped_value_loss` of a ragged batch, given the padded values ``[B, T]``."""
    length, device = values.shape[1], values.device
    return clipped_value_loss(
        values,
        pad_values(batch.old_values, length, device),
        pad_values(batch.returns, length, device),
        pad_values(batch.loss_mask, length, device),
        value_clip,
    )


def unpad(rows: torch.Tensor, batch: TokenBatch) -> list[list[float]]:
    """The rows of a padded ``[B, T]`` tensor, each cut to its sequence: ``[B][T_b]``."""
    return [row[: len(tokens)] for row, tokens in zip(rows.tolist(), batch.token_ids, strict=True)]
