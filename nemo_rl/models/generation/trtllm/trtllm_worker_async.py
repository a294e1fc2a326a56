"""Generation with TensorRT-LLM, each conversation finishing on its own."""

import asyncio
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.environments.interfaces import MessageLog
from nemo_rl.models.engine_owner import EngineOwner, EngineRequirements
from nemo_rl.models.generation.message_batch import check_message_logs, finish_reason, sampled_log_probabilities
from nemo_rl.models.interfaces import GenerationReturn, SamplingParameters

if TYPE_CHECKING:
    from tensorrt_llm import LLM


@dataclasses.dataclass(frozen=True)
class TrtllmConfig:
    """How to build a TensorRT-LLM engine.

    Attributes:
        model: folder of a checkpoint in Hugging Face format.
        tensor_parallel_size: number of devices that share each layer.
        dtype: of weights and activations, as TensorRT-LLM names it.
    """

    model: str
    tensor_parallel_size: int = 1
    dtype: str = "auto"


class TrtllmAsyncGenerationWorkerImpl(EngineOwner["LLM"]):
    """Owns a TensorRT-LLM ``LLM``. The plain class of the actor.

    Its methods are coroutines. Needs a CUDA device for each tensor-parallel rank. It was never run here, and its names
    could not be looked up in a wheel either: the public index has only a stub of this distribution.
    """

    REQUIREMENTS = EngineRequirements(packages=("tensorrt_llm",), extras=("trtllm",), cuda_devices=1)
    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.TRTLLM

    def __init__(self, cfg: TrtllmConfig) -> None:
        super().__init__()
        self.cfg = cfg
        self.model_path = cfg.model
        self.weight_version = 0

    def required_cuda_devices(self) -> int:
        return self.cfg.tensor_parallel_size

    def build_engine(self) -> "LLM":
        from tensorrt_llm import LLM

        return LLM(model=self.model_path, tensor_parallel_size=self.cfg.tensor_parallel_size, dtype=self.cfg.dtype)

    def release_engine(self, engine: "LLM") -> None:
        engine.shutdown()

    async def generate(self, message_log_batch: Sequence[MessageLog], sampling: SamplingParameters) -> GenerationReturn:
        """As :meth:`GenerationInterface.generate`, as a coroutine; the conversations are in flight at the same time."""
        check_message_logs(message_log_batch)
        engine = self.engine
        from tensorrt_llm import SamplingParams

        parameters = SamplingParams(
            max_tokens=sampling.max_new_tokens,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            stop=list(sampling.stop_strings) or None,
            seed=sampling.seed,
            logprobs=0,
        )
        version = self.weight_version
        prompts = [
            engine.tokenizer.apply_chat_template(list(message_log), add_generation_prompt=True, tokenize=False)
            for message_log in message_log_batch
        ]
        outputs = await asyncio.gather(*(engine.generate_async(prompt, parameters).aresult() for prompt in prompts))
        completions = [output.outputs[0] for output in outputs]
        return GenerationReturn(
            texts=[completion.text for completion in completions],
            token_ids=[list(completion.token_ids) for completion in completions],
            log_probabilities=[
                sampled_log_probabilities(completion.token_ids, completion.logprobs) for completion in completions
            ],
            finish_reasons=[finish_reason(completion.finish_reason) for completion in completions],
            weight_version=version,
        )

    async def update_weights(self, checkpoint_path: str, weight_version: int) -> None:
        """As :meth:`GenerationInterface.update_weights`.

        The public API of this engine loads weights only when it is built: it is released and built anew, so the caller
        pauses generation first. Where the new checkpoint cannot be loaded the owner has failed.
        """
        self.model_path = checkpoint_path
        self.rebuild()
        self.weight_version = weight_version


@ray.remote
class TrtllmAsyncGenerationWorker(TrtllmAsyncGenerationWorkerImpl):
    """The Ray actor of :class:`TrtllmAsyncGenerationWorkerImpl`."""
