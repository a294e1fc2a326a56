"""Generation with SGLang."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.environments.interfaces import MessageLog
from nemo_rl.models.engine_owner import EngineError, EngineOwner, EngineRequirements
from nemo_rl.models.generation.message_batch import check_message_logs, finish_reason
from nemo_rl.models.interfaces import GenerationInterface, GenerationReturn, SamplingParameters

if TYPE_CHECKING:
    from sglang import Engine


@dataclasses.dataclass(frozen=True)
class SGLangConfig:
    """How to build an SGLang engine.

    Attributes:
        model_path: folder of a checkpoint in Hugging Face format.
        tp_size: number of devices that share each layer.
        dtype: of weights and activations, as SGLang names it.
        mem_fraction_static: fraction of each device's memory for weights and cache; ``None`` lets SGLang choose.
        context_length: longest prompt plus answer, in tokens; ``None`` for the model's own limit.
        random_seed: of the engine.
    """

    model_path: str
    tp_size: int = 1
    dtype: str = "auto"
    mem_fraction_static: float | None = None
    context_length: int | None = None
    random_seed: int = 0


class SGLangGenerationWorkerImpl(EngineOwner["Engine"], GenerationInterface):
    """Owns an SGLang ``Engine``. The plain class of the actor.

    Needs a CUDA device for each tensor-parallel rank, and was never run on a machine without one.
    """

    REQUIREMENTS = EngineRequirements(packages=("sglang",), extras=("sglang",), cuda_devices=1)
    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.SGLANG

    def __init__(self, cfg: SGLangConfig) -> None:
        super().__init__()
        self.cfg = cfg
        self.weight_version = 0

    def required_cuda_devices(self) -> int:
        return self.cfg.tp_size

    def build_engine(self) -> "Engine":
        from sglang import Engine

        return Engine(
            model_path=self.cfg.model_path,
            tp_size=self.cfg.tp_size,
            dtype=self.cfg.dtype,
            mem_fraction_static=self.cfg.mem_fraction_static,
            context_length=self.cfg.context_length,
            random_seed=self.cfg.random_seed,
        )

    def release_engine(self, engine: "Engine") -> None:
        engine.shutdown()

    def generate(self, message_log_batch: Sequence[MessageLog], sampling: SamplingParameters) -> GenerationReturn:
        """As the interface says; ``sampling.seed`` is not used, since SGLang seeds the engine, not a request."""
        check_message_logs(message_log_batch)
        tokenizer = self.engine.tokenizer_manager.tokenizer
        prompts = [
            tokenizer.apply_chat_template(list(message_log), add_generation_prompt=True, tokenize=False)
            for message_log in message_log_batch
        ]
        outputs: list[dict[str, Any]] = self.engine.generate(
            prompt=prompts, sampling_params=sampling_dict(sampling), return_logprob=True
        )
        return generation_return(outputs, self.weight_version)

    def update_weights(self, checkpoint_path: str, weight_version: int) -> None:
        """As the interface says.

        Raises:
            EngineError: SGLang could not load the checkpoint; the weights are what they were.
        """
        result = self.engine.update_weights_from_disk(checkpoint_path)
        if not result[0]:
            raise EngineError(f"SGLang could not load {checkpoint_path}: {result[1]}")
        self.engine.flush_cache()
        self.weight_version = weight_version


def sampling_dict(sampling: SamplingParameters) -> dict[str, Any]:
    """The same parameters under SGLang's names; ``top_k`` -1 means all tokens."""
    return {
        "max_new_tokens": sampling.max_new_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": -1 if sampling.top_k is None else sampling.top_k,
        "stop": list(sampling.stop_strings),
    }


def generation_return(outputs: list[dict[str, Any]], weight_version: int) -> GenerationReturn:
    """What SGLang answered, in the form that all generation workers share.

    Args:
        outputs: ``[B]`` dictionaries with ``text`` and ``meta_info``; its ``output_token_logprobs`` holds
            ``(log probability, token, text)`` for each token.
        weight_version: of the weights that generated them.

    Raises:
        RuntimeError: SGLang gave up on a request.
    """
    metas = [output["meta_info"] for output in outputs]
    return GenerationReturn(
        texts=[output["text"] for output in outputs],
        token_ids=[[token[1] for token in meta["output_token_logprobs"]] for meta in metas],
        log_probabilities=[[token[0] for token in meta["output_token_logprobs"]] for meta in metas],
        finish_reasons=[finish_reason((meta["finish_reason"] or {}).get("type")) for meta in metas],
        weight_version=weight_version,
    )


@ray.remote(num_cpus=1)
class SGLangGenerationWorker(SGLangGenerationWorkerImpl):
    """The Ray actor of :class:`SGLangGenerationWorkerImpl`."""
