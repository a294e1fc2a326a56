"""Supervised fine-tuning of a Megatron policy on texts that Megatron Energon streams from disk."""

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.models.engine_owner import EngineError, EngineRequirements
from nemo_rl.models.policy.megatron_engine import MegatronConfig, MegatronEngine
from nemo_rl.models.policy.token_batch import SupervisedBatch, TrainStepReturn
from nemo_rl.models.policy.torch_engine import counting_positions
from nemo_rl.models.policy.workers.megatron_policy_worker import MegatronPolicyWorkerImpl

if TYPE_CHECKING:
    import torch
    from megatron.energon import SavableDataLoader


@dataclasses.dataclass(frozen=True)
class SFTConfig(MegatronConfig):
    """How to build the policy, and what to train it on.

    Attributes:
        data_path: an Energon data set of text samples, prepared with ``energon prepare``.
        batch_size: texts for each data-parallel rank and step.
        max_tokens: longer texts are cut.
        shuffle_buffer_size: samples to draw from.
        loader_processes: that read ahead for this rank.
    """

    data_path: str = ""
    batch_size: int = 8
    max_tokens: int = 4096
    shuffle_buffer_size: int = 1000
    loader_processes: int = 2

    def __post_init__(self) -> None:
        if not self.data_path:
            raise ValueError("data_path is empty; it names an Energon data set of text samples")


class SFTMegatronPolicyWorkerImpl(MegatronPolicyWorkerImpl):
    """Owns a Megatron model with its optimizer, and a loader of its own. The plain class of the actor.

    Needs a CUDA device; neither Megatron nor Energon was ever run here.
    """

    REQUIREMENTS = EngineRequirements(
        packages=("megatron.bridge", "megatron.core", "megatron.energon", "torch"), extras=("mcore",), cuda_devices=1
    )
    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.MCORE

    def __init__(self, cfg: SFTConfig) -> None:
        super().__init__(cfg)
        self.data = cfg
        self.loader: SavableDataLoader[Any] | None = None

    def build_engine(self) -> MegatronEngine:
        engine = super().build_engine()
        from megatron.core import parallel_state
        from megatron.energon import WorkerConfig, get_savable_loader, get_train_dataset

        workers = WorkerConfig(
            rank=parallel_state.get_data_parallel_rank(),
            world_size=parallel_state.get_data_parallel_world_size(),
            num_workers=self.data.loader_processes,
            data_parallel_group=parallel_state.get_data_parallel_group(),
        )
        dataset = get_train_dataset(
            self.data.data_path,
            worker_config=workers,
            batch_size=self.data.batch_size,
            shuffle_buffer_size=self.data.shuffle_buffer_size,
            max_samples_per_sequence=None,
        )
        self.loader = get_savable_loader(dataset)
        self.samples = iter(self.loader)
        return engine

    def train_on_next_batch(self) -> TrainStepReturn:
        """Take one optimizer step on the negative log likelihood of the next texts, token mean.

        Raises:
            EngineError: the engine is not running.
        """
        engine = self.engine
        from nemo_rl.models.policy.torch_losses import masked_mean, pad_values

        batch = supervised_batch(next(self.samples).text, engine.tokenizer, self.data.max_tokens)

        def loss_of(log_probabilities: "torch.Tensor") -> "torch.Tensor":
            mask = pad_values(batch.loss_mask, log_probabilities.shape[1], log_probabilities.device)
            return masked_mean(-log_probabilities, mask)

        return engine.train(batch, loss_of, counting_positions(batch.loss_mask))

    def data_state(self) -> Any:
        """Where this rank stands in the data; :meth:`restore_data_state` of the same rank takes it."""
        return self._running_loader().save_state_rank()

    def restore_data_state(self, state: Any) -> None:
        """Go on from where :meth:`data_state` was taken."""
        loader = self._running_loader()
        loader.restore_state_rank(state)
        self.samples = iter(loader)

    def _running_loader(self) -> "SavableDataLoader[Any]":
        if self.loader is None:
            raise EngineError(f"{type(self).__name__} has no loader (state: {self.state()}); call start() first")
        return self.loader


def supervised_batch(texts: list[str], tokenizer: Any, max_tokens: int) -> SupervisedBatch:
    """Tokens of texts, all of which count.

    Args:
        texts: ``[B]``; those of fewer than two tokens are left out.
        tokenizer: called with the texts, as those of transformers.
        max_tokens: longer texts are cut.

    Raises:
        ValueError: no text is long enough.
    """
    rows = [row[:max_tokens] for row in tokenizer(texts)["input_ids"]]
    kept = [row for row in rows if len(row) >= 2]
    return SupervisedBatch(token_ids=kept, loss_mask=[[1.0] * len(row) for row in kept])


@ray.remote
class SFTMegatronPolicyWorker(SFTMegatronPolicyWorkerImpl):
    """The Ray actor of :class:`SFTMegatronPolicyWorkerImpl`."""
