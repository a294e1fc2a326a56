"""A value function of NeMo AutoModel: a language model with one number for each token."""

from typing import ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.models.engine_owner import EngineOwner, EngineRequirements
from nemo_rl.models.policy.automodel_engine import (
    AutoModelConfig,
    distributed_setup,
    leave_process_group,
    torch_engine,
)
from nemo_rl.models.policy.interfaces import ValueInterface
from nemo_rl.models.policy.token_batch import TokenBatch, TrainStepReturn, ValueBatch
from nemo_rl.models.policy.torch_engine import TorchEngine


class DTensorValueWorkerV2Impl(EngineOwner[TorchEngine], ValueInterface):
    """Owns a token classification model of NeMo AutoModel with one label. The plain class of the actor.

    Needs a CUDA device. Losses and steps are code that was run on a CPU, through :class:`TorchEngine`; building and
    sharding with AutoModel were never run here.
    """

    REQUIREMENTS = EngineRequirements(packages=("nemo_automodel", "torch"), extras=("automodel",), cuda_devices=1)
    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.AUTOMODEL

    def __init__(self, cfg: AutoModelConfig) -> None:
        super().__init__()
        self.cfg = cfg

    def build_engine(self) -> TorchEngine:
        from nemo_automodel import NeMoAutoModelForTokenClassification

        model = NeMoAutoModelForTokenClassification.from_pretrained(
            self.cfg.model, num_labels=1, torch_dtype="bfloat16", distributed_setup=distributed_setup(self.cfg)
        )
        return torch_engine(self.cfg, model)

    def release_engine(self, engine: TorchEngine) -> None:
        leave_process_group()

    def train_step(self, batch: ValueBatch) -> TrainStepReturn:
        return self.engine.train_value(batch, self.cfg.clip, self.cfg.max_gradient_norm)

    def score(self, batch: TokenBatch) -> list[list[float]]:
        return self.engine.score_value(batch)


@ray.remote
class DTensorValueWorkerV2(DTensorValueWorkerV2Impl):
    """The Ray actor of :class:`DTensorValueWorkerV2Impl`."""
