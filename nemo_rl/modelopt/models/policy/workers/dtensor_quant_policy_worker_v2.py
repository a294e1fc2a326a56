"""Quantization-aware training of a policy that runs on NeMo AutoModel's own layers."""

import dataclasses
from typing import TYPE_CHECKING, ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.models.engine_owner import EngineRequirements
from nemo_rl.models.policy.automodel_engine import AutoModelConfig
from nemo_rl.models.policy.workers.dtensor_policy_worker_v2 import DTensorPolicyWorkerV2Impl

if TYPE_CHECKING:
    import torch


@dataclasses.dataclass(frozen=True)
class AutoModelQuantConfig(AutoModelConfig):
    """How to build and train the policy, and how to quantize it.

    Attributes:
        quantization: name of a configuration in ``modelopt.torch.quantization`` that calibrates without data.
    """

    quantization: str = "FP8_DEFAULT_CFG"


class DTensorQuantPolicyWorkerV2Impl(DTensorPolicyWorkerV2Impl):
    """Owns a model of NeMo AutoModel with ModelOpt's quantizers. The plain class; others build on it.

    Gradients pass the quantizers straight through, and the weights stay in full precision, so :meth:`save_weights`
    writes what the quantizing generation workers load. Needs a CUDA device; AutoModel was
    never run here, the quantizers were on a CPU.
    """

    REQUIREMENTS = EngineRequirements(
        packages=("nemo_automodel", "torch", "modelopt"), extras=("modelopt", "automodel"), cuda_devices=1
    )
    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.MODELOPT_AUTOMODEL

    def __init__(self, cfg: AutoModelQuantConfig) -> None:
        super().__init__(cfg)
        self.quantization = cfg.quantization

    def build_model(self) -> "torch.nn.Module":
        """Load and shard the model, then put the quantizers in.

        Raises:
            ValueError: ModelOpt has no configuration of the name.
        """
        model = super().build_model()
        import modelopt.torch.quantization as mtq

        config = getattr(mtq, self.quantization, None)
        if config is None:
            raise ValueError(f"modelopt.torch.quantization has no configuration {self.quantization!r}")
        quantized: torch.nn.Module = mtq.quantize(model, config)
        return quantized


@ray.remote
class DTensorQuantPolicyWorkerV2(DTensorQuantPolicyWorkerV2Impl):
    """The Ray actor of :class:`DTensorQuantPolicyWorkerV2Impl`."""
