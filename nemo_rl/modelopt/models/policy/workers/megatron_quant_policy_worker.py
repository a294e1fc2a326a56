"""Quantization-aware training of a Megatron policy."""

import dataclasses
import functools
from typing import TYPE_CHECKING, ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.models.engine_owner import EngineRequirements
from nemo_rl.models.policy.megatron_engine import (
    MegatronConfig,
    MegatronEngine,
    build_megatron_engine,
    predict_log_probabilities,
)
from nemo_rl.models.policy.workers.megatron_policy_worker import MegatronPolicyWorkerImpl

if TYPE_CHECKING:
    import torch


@dataclasses.dataclass(frozen=True)
class MegatronQuantConfig(MegatronConfig):
    """How to build and train the policy, and how to quantize it.

    Attributes:
        quantization: name of a configuration in ``modelopt.torch.quantization`` that calibrates without data.
    """

    quantization: str = "FP8_DEFAULT_CFG"


def quantize_chunks(quantization: str, model: "list[torch.nn.Module]") -> "list[torch.nn.Module]":
    """Put ModelOpt's quantizers into the loaded model, before Megatron wraps it.

    Raises:
        ValueError: ModelOpt has no configuration of the name.
    """
    import modelopt.torch.quantization as mtq

    config = getattr(mtq, quantization, None)
    if config is None:
        raise ValueError(f"modelopt.torch.quantization has no configuration {quantization!r}")
    return [mtq.quantize(chunk, config) for chunk in model]


class MegatronQuantPolicyWorkerImpl(MegatronPolicyWorkerImpl):
    """Owns a Megatron model with ModelOpt's quantizers. The plain class of the actor.

    Needs a CUDA device; Megatron was never run here, the quantizers were on a CPU.
    """

    REQUIREMENTS = EngineRequirements(
        packages=("megatron.bridge", "megatron.core", "torch", "modelopt"), extras=("modelopt", "mcore"), cuda_devices=1
    )
    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.MODELOPT_MCORE

    def __init__(self, cfg: MegatronQuantConfig) -> None:
        super().__init__(cfg)
        self.quantization = cfg.quantization

    def build_engine(self) -> MegatronEngine:
        from megatron.bridge import AutoBridge

        bridge = AutoBridge.from_hf_pretrained(self.cfg.model)
        return build_megatron_engine(
            bridge, self.cfg, predict_log_probabilities, adapt=functools.partial(quantize_chunks, self.quantization)
        )


@ray.remote
class MegatronQuantPolicyWorker(MegatronQuantPolicyWorkerImpl):
    """The Ray actor of :class:`MegatronQuantPolicyWorkerImpl`."""
