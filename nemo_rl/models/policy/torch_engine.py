"""Training and scoring with a model of Hugging Face's calling convention, whoever built and sharded it.

Imports torch only inside functions: the driver, which has no torch, imports the classes of the workers.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from nemo_rl.models.policy.token_batch import PolicyBatch, TokenBatch, TrainStepReturn, ValueBatch

if TYPE_CHECKING:
    import torch


@dataclasses.dataclass
class TorchEngine:
    """A model that is being trained.

    Attributes:
        model: called with ``input_ids`` and ``attention_mask``, answers with ``logits`` ``[B, T, V]``; a value function
            has one logit, ``[B, T, 1]``.
        optimizer: over the model's parameters.
        device: of the batches.
        tokenizer: of the model; saved along with it.
        backward: computes gradients of a scalar loss.
        clip_gradients: scales gradients to at most this norm and returns the norm that they had.
        step: number of optimizer steps so far.
    """

    model: "torch.nn.Module"
    optimizer: "torch.optim.Optimizer"
    device: "torch.device"
    tokenizer: Any
    backward: "Callable[[torch.Tensor], None]"
    clip_gradients: Callable[[float], float]
    step: int = 0

    def train_policy(self, batch: PolicyBatch, ratio_clip: float, max_gradient_norm: float) -> TrainStepReturn:
        """One optimizer step on the clipped surrogate loss."""
        from nemo_rl.models.policy.torch_losses import policy_loss_of

        self.model.train()
        loss = policy_loss_of(batch, self._log_probabilities(batch), ratio_clip)
        return self._optimize(loss, counting_positions(batch.loss_mask), max_gradient_norm)

    def train_value(self, batch: ValueBatch, value_clip: float, max_gradient_norm: float) -> TrainStepReturn:
        """One optimizer step on the clipped squared error."""
        from nemo_rl.models.policy.torch_losses import value_loss_of

        self.model.train()
        loss = value_loss_of(batch, self._values(batch), value_clip)
        return self._optimize(loss, counting_positions(batch.loss_mask), max_gradient_norm)

    def score_policy(self, batch: TokenBatch) -> list[list[float]]:
        """Log probabilities ``[B][T_b]``."""
        import torch

        from nemo_rl.models.policy.torch_losses import unpad

        self.model.eval()
        with torch.no_grad():
            return unpad(self._log_probabilities(batch), batch)

    def score_value(self, batch: TokenBatch) -> list[list[float]]:
        """Values ``[B][T_b]``."""
        import torch

        from nemo_rl.models.policy.torch_losses import unpad

        self.model.eval()
        with torch.no_grad():
            return unpad(self._values(batch), batch)

    def _log_probabilities(self, batch: TokenBatch) -> "torch.Tensor":
        from nemo_rl.models.policy.torch_losses import pad_tokens, token_log_probabilities

        tokens = pad_tokens(batch, pad_token_id(self.tokenizer), self.device)
        logits = self.model(input_ids=tokens.token_ids, attention_mask=tokens.attention_mask).logits
        return token_log_probabilities(logits, tokens.token_ids)

    def _values(self, batch: TokenBatch) -> "torch.Tensor":
        from nemo_rl.models.policy.torch_losses import pad_tokens

        tokens = pad_tokens(batch, pad_token_id(self.tokenizer), self.device)
        logits: torch.Tensor = self.model(input_ids=tokens.token_ids, attention_mask=tokens.attention_mask).logits
        return logits.squeeze(-1).float()

    def _optimize(self, loss: "torch.Tensor", token_count: int, max_gradient_norm: float) -> TrainStepReturn:
        self.optimizer.zero_grad()
        self.backward(loss)
        norm = self.clip_gradients(max_gradient_norm)
        self.optimizer.step()
        self.step += 1
        return TrainStepReturn(float(loss.detach()), norm, token_count, self.step)


def pad_token_id(tokenizer: Any) -> int:
    """The token that fills sequences: the tokenizer's own, or its end of text."""
    return int(tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id)


def counting_positions(loss_mask: Sequence[Sequence[float]]) -> int:
    """Number of positions that count in a ``[B][T_b]`` mask."""
    return sum(1 for row in loss_mask for value in row[1:] if value)
