"""Building and training a model with Megatron Core by way of Megatron Bridge, for policies and value functions alike.

Imports torch and Megatron only inside functions: the driver, which has neither, imports the classes of the workers.
"""

import dataclasses
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from nemo_rl.models.policy.token_batch import TokenBatch, TrainStepReturn

if TYPE_CHECKING:
    import torch
    from megatron.bridge import AutoBridge
    from megatron.core.optimizer import MegatronOptimizer

    from nemo_rl.models.policy.torch_losses import PaddedTokens

Prediction = Callable[[Any, "PaddedTokens"], "torch.Tensor"]
"""From a model and ``[B, T]`` tokens to one number for each token, ``[B, T]``."""


@dataclasses.dataclass(frozen=True)
class MegatronConfig:
    """How to build and train a model with Megatron Core.

    Attributes:
        model: folder of a checkpoint in Hugging Face format.
        tensor_parallel_size: number of devices that share each layer; the rest of the ranks are data parallel.
        learning_rate: of Adam.
        weight_decay: of Adam.
        clip: epsilon of the clipped surrogate, or how far a value may move.
        max_gradient_norm: gradients are scaled down to it.
    """

    model: str
    tensor_parallel_size: int = 1
    learning_rate: float = 1e-6
    weight_decay: float = 0.01
    clip: float = 0.2
    max_gradient_norm: float = 1.0


@dataclasses.dataclass
class MegatronEngine:
    """A Megatron model that is being trained.

    Attributes:
        bridge: converts weights from and to Hugging Face format.
        model: one module, since there is no pipeline parallelism.
        optimizer: Megatron's, with its parameters in float32.
        tokenizer: of the model.
        predict: what the model says about each token.
        step: number of optimizer steps so far.
    """

    bridge: "AutoBridge"
    model: "list[torch.nn.Module]"
    optimizer: "MegatronOptimizer"
    tokenizer: Any
    predict: Prediction
    step: int = 0

    def train(
        self, batch: TokenBatch, loss_of: "Callable[[torch.Tensor], torch.Tensor]", token_count: int
    ) -> TrainStepReturn:
        """Take one optimizer step.

        Args:
            batch: of this data-parallel rank.
            loss_of: from the prediction ``[B, T]`` to a scalar.
            token_count: reported, not used.
        """
        for chunk in self.model:
            chunk.train()
            chunk.zero_grad_buffer()
        self.optimizer.zero_grad()
        losses: list[float] = []

        def loss_and_report(prediction: "torch.Tensor") -> "tuple[torch.Tensor, dict[str, torch.Tensor]]":
            loss = loss_of(prediction)
            losses.append(float(loss.detach()))
            return loss, {}

        self._forward_backward(batch, loss_and_report, forward_only=False)
        _, norm, _ = self.optimizer.step()
        self.step += 1
        return TrainStepReturn(losses[0], float(norm), token_count, self.step)

    def score(self, batch: TokenBatch) -> list[list[float]]:
        """The prediction for each token, ``[B][T_b]``."""
        import torch

        from nemo_rl.models.policy.torch_losses import unpad

        predictions: list[torch.Tensor] = []

        def keep(prediction: torch.Tensor) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
            predictions.append(prediction.detach())
            return prediction.sum(), {}

        for chunk in self.model:
            chunk.eval()
        with torch.no_grad():
            self._forward_backward(batch, keep, forward_only=True)
        return unpad(predictions[0], batch)

    def _forward_backward(self, batch: TokenBatch, loss_function: Callable[..., Any], forward_only: bool) -> None:
        import torch
        from megatron.core.pipeline_parallel import get_forward_backward_func

        from nemo_rl.models.policy.torch_engine import pad_token_id
        from nemo_rl.models.policy.torch_losses import pad_tokens

        tokens = pad_tokens(batch, pad_token_id(self.tokenizer), torch.device("cuda", torch.cuda.current_device()))

        def forward_step(batches: "Iterator[PaddedTokens]", model: Any) -> tuple["torch.Tensor", Callable[..., Any]]:
            return self.predict(model, next(batches)), loss_function

        rows, length = tokens.token_ids.shape
        get_forward_backward_func()(
            forward_step_func=forward_step,
            data_iterator=iter([tokens]),
            model=self.model,
            num_microbatches=1,
            seq_length=length,
            micro_batch_size=rows,
            forward_only=forward_only,
        )


def predict_log_probabilities(model: Any, tokens: "PaddedTokens") -> "torch.Tensor":
    """Log probability of each token, ``[B, T]``; 0 at position 0. The vocabulary may be spread over the ranks."""
    import torch

    labels = torch.roll(tokens.token_ids, shifts=-1, dims=1)
    losses = model(input_ids=tokens.token_ids, position_ids=positions(tokens), attention_mask=None, labels=labels)
    return torch.nn.functional.pad(-losses[:, :-1].float(), (1, 0))


def predict_values(model: Any, tokens: "PaddedTokens") -> "torch.Tensor":
    """Value of each token, ``[B, T]``, of a model that :func:`replace_output_by_value_head` has changed."""
    values: torch.Tensor = model(input_ids=tokens.token_ids, position_ids=positions(tokens), attention_mask=None)
    return values.squeeze(-1).float()


def positions(tokens: "PaddedTokens") -> "torch.Tensor":
    """``[B, T]`` 0, 1, 2, ...; padding at the right needs no mask under causal attention."""
    import torch

    length = tokens.token_ids.shape[1]
    return torch.arange(length, device=tokens.token_ids.device).expand_as(tokens.token_ids)


def replace_output_by_value_head(model: "list[torch.nn.Module]") -> "list[torch.nn.Module]":
    """Put one linear layer with one output where the vocabulary's output layer was; its weights start at zero.

    Zero, so that every tensor-parallel rank has the same head and the first values are neutral.
    """
    import torch

    class ValueHead(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        """Called as Megatron calls an output layer; answers ``[T, B, 1]`` and no bias."""

        def __init__(self, hidden_size: int, dtype: torch.dtype) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(
                torch.zeros(1, hidden_size, dtype=dtype, device=torch.cuda.current_device())
            )

        def forward(self, hidden_states: torch.Tensor, **_: object) -> tuple[torch.Tensor, None]:
            return torch.nn.functional.linear(hidden_states, self.weight), None

    for chunk in model:
        config: Any = chunk.config
        chunk.output_layer = ValueHead(config.hidden_size, config.params_dtype)
        chunk.share_embeddings_and_output_weights = False
    return model


def build_megatron_engine(
    bridge: "AutoBridge",
    cfg: MegatronConfig,
    predict: Prediction,
    adapt: "Callable[[list[torch.nn.Module]], list[torch.nn.Module]] | None" = None,
) -> MegatronEngine:
    """Join the process group, one rank for each CUDA device, and build, load and shard the model.

    Args:
        bridge: to the pretrained model that ``cfg`` names.
        cfg: of the model.
        predict: what the engine's model is asked for.
        adapt: changes the loaded model before it is wrapped and its optimizer is made.
    """
    import torch
    from megatron.core.distributed import DistributedDataParallelConfig, finalize_model_grads
    from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
    from megatron.core.utils import get_model_config
    from transformers import AutoTokenizer

    provider = bridge.to_megatron_provider()
    provider.tensor_model_parallel_size = cfg.tensor_parallel_size
    provider.sequence_parallel = False
    provider.bf16 = True
    provider.params_dtype = torch.bfloat16
    provider.finalize()
    if adapt is not None:
        provider.register_pre_wrap_hook(adapt)
    provider.initialize_model_parallel(seed=0)
    model = provider.provide_distributed_model(
        ddp_config=DistributedDataParallelConfig(use_distributed_optimizer=True), bf16=True
    )
    get_model_config(model[0]).finalize_model_grads_func = finalize_model_grads
    optimizer = get_megatron_optimizer(
        OptimizerConfig(
            optimizer="adam",
            lr=cfg.learning_rate,
            weight_decay=cfg.weight_decay,
            clip_grad=cfg.max_gradient_norm,
            bf16=True,
            use_distributed_optimizer=True,
        ),
        model,
    )
    return MegatronEngine(bridge, model, optimizer, AutoTokenizer.from_pretrained(cfg.model), predict)


def release_megatron() -> None:
    """Leave Megatron's groups and the process group, where there are any."""
    import torch
    from megatron.core import parallel_state

    parallel_state.destroy_model_parallel()
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
