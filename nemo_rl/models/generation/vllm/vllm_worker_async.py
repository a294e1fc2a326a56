"""Generation with vLLM, each conversation finishing on its own."""

import asyncio
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.environments.interfaces import MessageLog
from nemo_rl.models.engine_owner import EngineError, EngineOwner, EngineRequirements
from nemo_rl.models.generation.message_batch import check_message_logs, finish_reason, sampled_log_probabilities
from nemo_rl.models.generation.vllm.vllm_worker import VllmConfig
from nemo_rl.models.interfaces import GenerationReturn, SamplingParameters

if TYPE_CHECKING:
    from vllm.v1.engine.async_llm import AsyncLLM


class VllmAsyncGenerationWorkerImpl(EngineOwner["AsyncLLM"]):
    """Owns a vLLM ``AsyncLLM``. The plain class; others build on it.

    Its methods are coroutines, so that many calls run at once in one actor and the engine batches them. Needs a CUDA
    device for each tensor-parallel rank, and was never run on a machine without one.
    """

    REQUIREMENTS = EngineRequirements(packages=("vllm",), extras=("vllm", "nemo_gym"), cuda_devices=1)
    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.VLLM_NEMO_GYM

    def __init__(self, cfg: VllmConfig) -> None:
        super().__init__()
        self.cfg = cfg
        self.weight_version = 0
        self._preparing = asyncio.Lock()
        self._prepared = False

    def required_cuda_devices(self) -> int:
        return self.cfg.tensor_parallel_size

    def build_engine(self) -> "AsyncLLM":
        from vllm import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM

        return AsyncLLM.from_engine_args(AsyncEngineArgs(**self.cfg.engine_arguments()))

    def release_engine(self, engine: "AsyncLLM") -> None:
        engine.shutdown()

    async def prepare(self) -> None:
        """What only coroutines of a running engine can do before its first answer; this class has nothing to do."""

    async def after_weights_changed(self) -> None:
        """What has to follow new weights before the next answer; this class has nothing to do."""

    async def _prepared_engine(self) -> "AsyncLLM":
        engine = self.engine
        async with self._preparing:
            if not self._prepared:
                await self.prepare()
                self._prepared = True
        return engine

    async def generate(self, message_log_batch: Sequence[MessageLog], sampling: SamplingParameters) -> GenerationReturn:
        """As :meth:`GenerationInterface.generate`, as a coroutine; the conversations are in flight at the same time.

        Raises:
            ValueError: the batch is empty.
            EngineError: the weights changed while it ran; pause the callers before :meth:`update_weights`.
        """
        check_message_logs(message_log_batch)
        before = self.weight_version
        parts = await asyncio.gather(*(self.generate_one(message_log, sampling) for message_log in message_log_batch))
        if self.weight_version != before:
            raise EngineError(f"the weights changed from version {before} to {self.weight_version} during a generation")
        return GenerationReturn(
            texts=[part.texts[0] for part in parts],
            token_ids=[part.token_ids[0] for part in parts],
            log_probabilities=[part.log_probabilities[0] for part in parts],
            finish_reasons=[part.finish_reasons[0] for part in parts],
            weight_version=before,
        )

    async def generate_one(self, message_log: MessageLog, sampling: SamplingParameters) -> GenerationReturn:
        """Write the next message of one conversation.

        Returns:
            ``[1]`` result.
        """
        engine = await self._prepared_engine()
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        prompt = engine.get_tokenizer().apply_chat_template(message_log, add_generation_prompt=True, tokenize=False)
        parameters = SamplingParams(
            max_tokens=sampling.max_new_tokens,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k or 0,
            stop=list(sampling.stop_strings),
            seed=sampling.seed,
            logprobs=0,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        version = self.weight_version
        completion = None
        async for output in engine.generate(prompt, parameters, request_id=uuid.uuid4().hex):
            completion = output.outputs[0]
        if completion is None:
            raise EngineError("vLLM ended a request without an answer")
        return GenerationReturn(
            texts=[completion.text],
            token_ids=[list(completion.token_ids)],
            log_probabilities=[sampled_log_probabilities(completion.token_ids, completion.logprobs)],
            finish_reasons=[finish_reason(completion.finish_reason)],
            weight_version=version,
        )

    async def update_weights(self, checkpoint_path: str, weight_version: int) -> None:
        """As :meth:`GenerationInterface.update_weights`; requests in flight are drained first."""
        engine = await self._prepared_engine()
        await engine.pause_generation(mode="wait")
        try:
            await engine.collective_rpc("reload_weights", kwargs={"weights_path": checkpoint_path})
            await engine.reset_prefix_cache()
            await self.after_weights_changed()
            self.weight_version = weight_version
        finally:
            await engine.resume_generation()


@ray.remote
class VllmAsyncGenerationWorker(VllmAsyncGenerationWorkerImpl):
    """The Ray actor of :class:`VllmAsyncGenerationWorkerImpl`."""
