"""A policy of Megatron Core, tensor and data parallel."""

from typing import TYPE_CHECKING, ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.models.engine_owner import EngineOwner, EngineRequirements
from nemo_rl.models.policy.interfaces import PolicyInterface
from nemo_rl.models.policy.megatron_engine import (
    MegatronConfig,
    MegatronEngine,
    build_megatron_engine,
    predict_log_probabilities,
    release_megatron,
)
from nemo_rl.models.policy.published_folder import published_folder
from nemo_rl.models.policy.token_batch import PolicyBatch, TokenBatch, TrainStepReturn
from nemo_rl.models.policy.torch_engine import counting_positions

if TYPE_CHECKING:
    import torch


class MegatronPolicyWorkerImpl(EngineOwner[MegatronEngine], PolicyInterface):
    """Owns a Megatron model with its optimizer. The plain class; others build on it.

    Needs a CUDA device. The loss is code that was run on a CPU; Megatron itself was never run here: what it is called
    with was checked against the names in the wheels (``make check-engines``), no more.
    """

    REQUIREMENTS = EngineRequirements(
        packages=("megatron.bridge", "megatron.core", "torch"), extras=("mcore",), cuda_devices=1
    )
    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.MCORE

    def __init__(self, cfg: MegatronConfig) -> None:
        super().__init__()
        self.cfg = cfg

    def build_engine(self) -> MegatronEngine:
        from megatron.bridge import AutoBridge

        bridge = AutoBridge.from_hf_pretrained(self.cfg.model)
        return build_megatron_engine(bridge, self.cfg, predict_log_probabilities)

    def release_engine(self, engine: MegatronEngine) -> None:
        release_megatron()

    def train_step(self, batch: PolicyBatch) -> TrainStepReturn:
        engine = self.engine
        from nemo_rl.models.policy.torch_losses import policy_loss_of

        def loss_of(log_probabilities: "torch.Tensor") -> "torch.Tensor":
            return policy_loss_of(batch, log_probabilities, self.cfg.clip)

        return engine.train(batch, loss_of, counting_positions(batch.loss_mask))

    def score(self, batch: TokenBatch) -> list[list[float]]:
        return self.engine.score(batch)

    def save_weights(self, checkpoint_path: str) -> str:
        engine = self.engine
        import torch

        rank = torch.distributed.get_rank()
        with published_folder(checkpoint_path, rank, torch.distributed.barrier) as folder:
            engine.bridge.save_hf_pretrained(engine.model, folder)
        return checkpoint_path


@ray.remote
class MegatronPolicyWorker(MegatronPolicyWorkerImpl):
    """The Ray actor of :class:`MegatronPolicyWorkerImpl`."""
