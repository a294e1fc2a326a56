"""Generation with vLLM, a whole batch at a time."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.environments.interfaces import MessageLog
from nemo_rl.models.engine_owner import EngineOwner, EngineRequirements
from nemo_rl.models.generation.message_batch import check_message_logs, finish_reason, sampled_log_probabilities
from nemo_rl.models.interfaces import GenerationInterface, GenerationReturn, SamplingParameters

if TYPE_CHECKING:
    from vllm import LLM

ENGINE_ARGUMENTS = (
    "model",
    "tensor_parallel_size",
    "dtype",
    "gpu_memory_utilization",
    "max_model_len",
    "seed",
    "enforce_eager",
)


@dataclasses.dataclass(frozen=True)
class VllmConfig:
    """How to build a vLLM engine.

    Attributes:
        model: folder of a checkpoint in Hugging Face format.
        tensor_parallel_size: number of devices that share each layer.
        dtype: of weights and activations, as vLLM names it.
        gpu_memory_utilization: fraction of each device's memory, in (0, 1].
        max_model_len: longest prompt plus answer, in tokens; ``None`` for the model's own limit.
        seed: of the engine.
        enforce_eager: run without captured CUDA graphs.
    """

    model: str
    tensor_parallel_size: int = 1
    dtype: str = "auto"
    gpu_memory_utilization: float = 0.9
    max_model_len: int | None = None
    seed: int = 0
    enforce_eager: bool = False

    def engine_arguments(self) -> dict[str, Any]:
        """The same under vLLM's names, for ``LLM`` and ``AsyncEngineArgs`` alike."""
        return {field: getattr(self, field) for field in ENGINE_ARGUMENTS}


class VllmGenerationWorkerImpl(EngineOwner["LLM"], GenerationInterface):
    """Owns a vLLM ``LLM``. The plain class; others build on it.

    Needs a CUDA device for each tensor-parallel rank. The engine was never run on a machine without one: what it is
    called with was checked against the names in the wheel (``make check-engines``), no more.
    """

    REQUIREMENTS = EngineRequirements(packages=("vllm",), extras=("vllm", "nemo_gym"), cuda_devices=1)
    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.VLLM_NEMO_GYM

    def __init__(self, cfg: VllmConfig) -> None:
        super().__init__()
        self.cfg = cfg
        self.weight_version = 0

    def required_cuda_devices(self) -> int:
        return self.cfg.tensor_parallel_size

    def build_engine(self) -> "LLM":
        from vllm import LLM

        return LLM(**self.cfg.engine_arguments())

    def release_engine(self, engine: "LLM") -> None:
        engine.llm_engine.engine_core.shutdown()

    def generate(self, message_log_batch: Sequence[MessageLog], sampling: SamplingParameters) -> GenerationReturn:
        check_message_logs(message_log_batch)
        engine = self.engine
        from vllm import SamplingParams

        outputs = engine.chat(
            [list(message_log) for message_log in message_log_batch],
            SamplingParams(
                max_tokens=sampling.max_new_tokens,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                top_k=sampling.top_k or 0,
                stop=list(sampling.stop_strings),
                seed=sampling.seed,
                logprobs=0,
            ),
            use_tqdm=False,
        )
        completions = [output.outputs[0] for output in outputs]
        return GenerationReturn(
            texts=[completion.text for completion in completions],
            token_ids=[list(completion.token_ids) for completion in completions],
            log_probabilities=[
                sampled_log_probabilities(completion.token_ids, completion.logprobs) for completion in completions
            ],
            finish_reasons=[finish_reason(completion.finish_reason) for completion in completions],
            weight_version=self.weight_version,
        )

    def update_weights(self, checkpoint_path: str, weight_version: int) -> None:
        self.engine.collective_rpc("reload_weights", kwargs={"weights_path": checkpoint_path})
        self.engine.reset_prefix_cache()
        self.weight_version = weight_version


@ray.remote
class VllmGenerationWorker(VllmGenerationWorkerImpl):
    """The Ray actor of :class:`VllmGenerationWorkerImpl`."""
