"""Generation with vLLM whose weights are fake-quantized by ModelOpt, as those of the policy in training are."""

import dataclasses
import functools
import os
from typing import TYPE_CHECKING, ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.models.engine_owner import EngineRequirements
from nemo_rl.models.generation.vllm.vllm_worker import VllmConfig, VllmGenerationWorkerImpl
from nemo_rl.models.generation.vllm.vllm_worker_async import VllmAsyncGenerationWorkerImpl

if TYPE_CHECKING:
    import torch
    from vllm import LLM
    from vllm.v1.engine.async_llm import AsyncLLM


@dataclasses.dataclass(frozen=True)
class VllmQuantConfig(VllmConfig):
    """How to build the engine, and how to quantize it.

    Attributes:
        quantization: name of a configuration in ``modelopt.torch.quantization`` that calibrates without data, e.g.
            ``"FP8_DEFAULT_CFG"``.
        enforce_eager: has to stay true: a captured graph would run without the quantizers.
    """

    quantization: str = "FP8_DEFAULT_CFG"
    enforce_eager: bool = True

    def __post_init__(self) -> None:
        if not self.enforce_eager:
            raise ValueError("enforce_eager has to be true: a captured graph runs without the quantizers")


def quantize(quantization: str, model: "torch.nn.Module") -> None:
    """Put ModelOpt's quantizers into a model; runs in each of vLLM's own processes.

    Raises:
        ValueError: ModelOpt has no configuration of this name.
    """
    import modelopt.torch.quantization as mtq

    config = getattr(mtq, quantization, None)
    if config is None:
        raise ValueError(f"modelopt.torch.quantization has no configuration {quantization!r}")
    mtq.quantize(model, config)


def calibrate(model: "torch.nn.Module") -> None:
    """Take the ranges of the quantizers from the present weights; runs in each of vLLM's own processes."""
    import modelopt.torch.quantization as mtq

    mtq.calibrate(model, algorithm="max")


def allow_functions_to_workers() -> None:
    """Let vLLM send functions to its processes. They are this module's own, over a connection within the node."""
    os.environ["VLLM_ALLOW_INSECURE_SERIALIZATION"] = "1"


class VllmQuantGenerationWorkerImpl(VllmGenerationWorkerImpl):
    """Owns a vLLM ``LLM`` with quantizers. The plain class of the actor.

    Needs a CUDA device; vLLM was never run here, the quantizers were on a CPU.
    """

    REQUIREMENTS = EngineRequirements(packages=("vllm", "modelopt"), extras=("modelopt", "vllm"), cuda_devices=1)
    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.MODELOPT_VLLM

    def __init__(self, cfg: VllmQuantConfig) -> None:
        super().__init__(cfg)
        self.quantization = cfg.quantization

    def build_engine(self) -> "LLM":
        allow_functions_to_workers()
        engine = super().build_engine()
        engine.apply_model(functools.partial(quantize, self.quantization))
        return engine

    def update_weights(self, checkpoint_path: str, weight_version: int) -> None:
        super().update_weights(checkpoint_path, weight_version)
        self.engine.apply_model(calibrate)


class VllmQuantAsyncGenerationWorkerImpl(VllmAsyncGenerationWorkerImpl):
    """Owns a vLLM ``AsyncLLM`` with quantizers. The plain class of the actor.

    Needs a CUDA device; vLLM was never run here, the quantizers were on a CPU. They are put in before the
    first answer, since this engine answers to coroutines only.
    """

    REQUIREMENTS = EngineRequirements(packages=("vllm", "modelopt"), extras=("modelopt", "vllm"), cuda_devices=1)
    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.MODELOPT_VLLM

    def __init__(self, cfg: VllmQuantConfig) -> None:
        super().__init__(cfg)
        self.quantization = cfg.quantization

    def build_engine(self) -> "AsyncLLM":
        allow_functions_to_workers()
        return super().build_engine()

    async def prepare(self) -> None:
        await self.engine.collective_rpc("apply_model", args=(functools.partial(quantize, self.quantization),))

    async def after_weights_changed(self) -> None:
        await self.engine.collective_rpc("apply_model", args=(calibrate,))


@ray.remote
class VllmQuantGenerationWorker(VllmQuantGenerationWorkerImpl):
    """The Ray actor of :class:`VllmQuantGenerationWorkerImpl`."""


@ray.remote
class VllmQuantAsyncGenerationWorker(VllmQuantAsyncGenerationWorkerImpl):
    """The Ray actor of :class:`VllmQuantAsyncGenerationWorkerImpl`."""
