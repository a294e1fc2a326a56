"""A policy of NeMo AutoModel, sharded over a mesh of data and tensor parallel ranks."""

from typing import TYPE_CHECKING, ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.models.engine_owner import EngineOwner, EngineRequirements
from nemo_rl.models.policy.automodel_engine import (
    AutoModelConfig,
    distributed_setup,
    leave_process_group,
    torch_engine,
)
from nemo_rl.models.policy.interfaces import PolicyInterface
from nemo_rl.models.policy.published_folder import published_folder
from nemo_rl.models.policy.token_batch import PolicyBatch, TokenBatch, TrainStepReturn
from nemo_rl.models.policy.torch_engine import TorchEngine

if TYPE_CHECKING:
    import torch


class DTensorPolicyWorkerV2Impl(EngineOwner[TorchEngine], PolicyInterface):
    """Owns a model of NeMo AutoModel with its optimizer. The plain class; others build on it.

    Needs a CUDA device. Losses and steps are code that was run on a CPU, through :class:`TorchEngine`; building,
    sharding and saving with AutoModel were never run here.
    """

    REQUIREMENTS = EngineRequirements(packages=("nemo_automodel", "torch"), extras=("automodel",), cuda_devices=1)
    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.AUTOMODEL
    HUGGING_FACE_IMPLEMENTATION: ClassVar[bool] = False
    """Whether the model's layers are those of transformers, even where AutoModel has faster ones of its own."""

    def __init__(self, cfg: AutoModelConfig) -> None:
        super().__init__()
        self.cfg = cfg

    def build_model(self) -> "torch.nn.Module":
        """Load and shard the model."""
        from nemo_automodel import NeMoAutoModelForCausalLM

        model: torch.nn.Module = NeMoAutoModelForCausalLM.from_pretrained(
            self.cfg.model,
            torch_dtype="bfloat16",
            force_hf=self.HUGGING_FACE_IMPLEMENTATION,
            distributed_setup=distributed_setup(self.cfg),
        )
        return model

    def build_engine(self) -> TorchEngine:
        return torch_engine(self.cfg, self.build_model())

    def release_engine(self, engine: TorchEngine) -> None:
        leave_process_group()

    def train_step(self, batch: PolicyBatch) -> TrainStepReturn:
        return self.engine.train_policy(batch, self.cfg.clip, self.cfg.max_gradient_norm)

    def score(self, batch: TokenBatch) -> list[list[float]]:
        return self.engine.score_policy(batch)

    def save_weights(self, checkpoint_path: str) -> str:
        engine = self.engine
        import torch
        from nemo_automodel.components.checkpoint.config import CheckpointingConfig

        rank = torch.distributed.get_rank()
        config = CheckpointingConfig(model_repo_id=self.cfg.model, save_consolidated="every")
        checkpointer = config.build(
            dp_rank=rank // self.cfg.tensor_parallel_size, tp_rank=rank % self.cfg.tensor_parallel_size, pp_rank=0
        )
        with published_folder(checkpoint_path, rank, torch.distributed.barrier) as folder:
            engine.model.save_pretrained(str(folder), checkpointer=checkpointer, tokenizer=engine.tokenizer)
        return f"{checkpoint_path}/model/consolidated"


@ray.remote
class DTensorPolicyWorkerV2(DTensorPolicyWorkerV2Impl):
    """The Ray actor of :class:`DTensorPolicyWorkerV2Impl`."""
