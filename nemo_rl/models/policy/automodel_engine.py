"""Building and training a model with NeMo AutoModel, for policies and value functions alike."""

import dataclasses
from typing import TYPE_CHECKING

from nemo_rl.models.policy.torch_engine import TorchEngine

if TYPE_CHECKING:
    import torch
    from nemo_automodel.components.distributed.config import DistributedSetup


@dataclasses.dataclass(frozen=True)
class AutoModelConfig:
    """How to build and train a model with NeMo AutoModel.

    Attributes:
        model: folder of a checkpoint in Hugging Face format.
        tensor_parallel_size: number of devices that share each layer.
        learning_rate: of AdamW.
        weight_decay: of AdamW.
        clip: epsilon of the clipped surrogate, or how far a value may move.
        max_gradient_norm: gradients are scaled down to it.
    """

    model: str
    tensor_parallel_size: int = 1
    learning_rate: float = 1e-6
    weight_decay: float = 0.01
    clip: float = 0.2
    max_gradient_norm: float = 1.0


def distributed_setup(cfg: AutoModelConfig) -> "DistributedSetup":
    """Join the process group, one rank for each CUDA device, and lay the ranks out in a mesh."""
    from nemo_automodel.components.distributed.config import DistributedSetup
    from nemo_automodel.components.distributed.init_utils import initialize_distributed
    from nemo_automodel.components.distributed.mesh import ParallelismSizes

    initialize_distributed(backend="nccl")
    return DistributedSetup.build(
        strategy="fsdp2", parallelism_sizes=ParallelismSizes(tp_size=cfg.tensor_parallel_size)
    )


def torch_engine(cfg: AutoModelConfig, model: "torch.nn.Module") -> TorchEngine:
    """A training engine around a model that AutoModel has built and sharded."""
    import torch
    from nemo_automodel import NeMoAutoTokenizer

    def clip_gradients(max_norm: float) -> float:
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        return float(norm.full_tensor() if hasattr(norm, "full_tensor") else norm)

    return TorchEngine(
        model=model,
        optimizer=torch.optim.AdamW(model.parameters(), lr=cfg.learning_rate, weight_decay=cfg.weight_decay),
        device=torch.device("cuda", torch.cuda.current_device()),
        tokenizer=NeMoAutoTokenizer.from_pretrained(cfg.model),
        backward=torch.Tensor.backward,
        clip_gradients=clip_gradients,
    )


def leave_process_group() -> None:
    """Leave the process group, where there is one."""
    import torch

    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
