"""A value function of Megatron Core: a language model whose output layer gives one number for each token."""

from typing import TYPE_CHECKING, ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.models.engine_owner import EngineOwner, EngineRequirements
from nemo_rl.models.policy.interfaces import ValueInterface
from nemo_rl.models.policy.megatron_engine import (
    MegatronConfig,
    MegatronEngine,
    build_megatron_engine,
    predict_values,
    release_megatron,
    replace_output_by_value_head,
)
from nemo_rl.models.policy.token_batch import TokenBatch, TrainStepReturn, ValueBatch
from nemo_rl.models.policy.torch_engine import counting_positions

if TYPE_CHECKING:
    import torch


class MegatronValueWorkerImpl(EngineOwner[MegatronEngine], ValueInterface):
    """Owns a Megatron model with a value head. The plain class of the actor.

    Needs a CUDA device. The loss is code that was run on a CPU; Megatron itself was never run here.
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
        return build_megatron_engine(bridge, self.cfg, predict_values, adapt=replace_output_by_value_head)

    def release_engine(self, engine: MegatronEngine) -> None:
        release_megatron()

    def train_step(self, batch: ValueBatch) -> TrainStepReturn:
        engine = self.engine
        from nemo_rl.models.policy.torch_losses import value_loss_of

        def loss_of(values: "torch.Tensor") -> "torch.Tensor":
            return value_loss_of(batch, values, self.cfg.clip)

        return engine.train(batch, loss_of, counting_positions(batch.loss_mask))

    def score(self, batch: TokenBatch) -> list[list[float]]:
        return self.engine.score(batch)


@ray.remote
class MegatronValueWorker(MegatronValueWorkerImpl):
    """The Ray actor of :class:`MegatronValueWorkerImpl`."""
