"""A policy of Hugging Face transformers, sharded by Accelerate with FSDP2."""

import dataclasses
from typing import TYPE_CHECKING, ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.models.engine_owner import EngineOwner, EngineRequirements
from nemo_rl.models.policy.interfaces import PolicyInterface
from nemo_rl.models.policy.published_folder import published_folder
from nemo_rl.models.policy.token_batch import PolicyBatch, TokenBatch, TrainStepReturn
from nemo_rl.models.policy.torch_engine import TorchEngine

if TYPE_CHECKING:
    from accelerate import Accelerator


@dataclasses.dataclass(frozen=True)
class DTensorPolicyConfig:
    """How to build and train the policy.

    Attributes:
        model: folder of a checkpoint in Hugging Face format.
        device: ``"cuda"`` shards the model over all ranks; ``"cpu"`` runs it on one rank, for small models.
        learning_rate: of AdamW.
        weight_decay: of AdamW.
        ratio_clip: epsilon of the clipped surrogate.
        max_gradient_norm: gradients are scaled down to it.

    Raises:
        ValueError: another device.
    """

    model: str
    device: str = "cuda"
    learning_rate: float = 1e-6
    weight_decay: float = 0.01
    ratio_clip: float = 0.2
    max_gradient_norm: float = 1.0

    def __post_init__(self) -> None:
        if self.device not in ("cuda", "cpu"):
            raise ValueError(f"device must be 'cuda' or 'cpu', got {self.device!r}")


@dataclasses.dataclass
class AcceleratedEngine(TorchEngine):
    """A model that Accelerate has prepared, with the accelerator that did it (never ``None`` once built)."""

    accelerator: "Accelerator | None" = None


class DTensorPolicyWorkerImpl(EngineOwner[AcceleratedEngine], PolicyInterface):
    """Owns a transformers model with its optimizer. The plain class of the actor.

    On ``"cpu"`` it was run and tested with a small model. Sharding over CUDA devices was never run here.
    """

    REQUIREMENTS = EngineRequirements(
        packages=("torch", "transformers", "accelerate"), extras=("fsdp",), cuda_devices=1
    )
    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.FSDP

    def __init__(self, cfg: DTensorPolicyConfig) -> None:
        super().__init__()
        self.cfg = cfg

    def required_cuda_devices(self) -> int:
        return 1 if self.cfg.device == "cuda" else 0

    def build_engine(self) -> AcceleratedEngine:
        import torch
        from accelerate import Accelerator, FullyShardedDataParallelPlugin
        from transformers import AutoModelForCausalLM, AutoTokenizer

        if self.cfg.device == "cuda":
            plugin = FullyShardedDataParallelPlugin(fsdp_version=2, auto_wrap_policy="transformer_based_wrap")
            accelerator = Accelerator(fsdp_plugin=plugin, mixed_precision="bf16")
        else:
            accelerator = Accelerator(cpu=True)
        model = AutoModelForCausalLM.from_pretrained(self.cfg.model, dtype=torch.float32)
        optimizer = torch.optim.AdamW(model.parameters(), lr=self.cfg.learning_rate, weight_decay=self.cfg.weight_decay)
        model, optimizer = accelerator.prepare(model, optimizer)
        return AcceleratedEngine(
            model=model,
            optimizer=optimizer,
            device=accelerator.device,
            tokenizer=AutoTokenizer.from_pretrained(self.cfg.model),
            backward=accelerator.backward,
            clip_gradients=lambda norm: float(accelerator.clip_grad_norm_(model.parameters(), norm)),
            accelerator=accelerator,
        )

    def release_engine(self, engine: AcceleratedEngine) -> None:
        if engine.accelerator is not None:
            engine.accelerator.free_memory()
            engine.accelerator.end_training()

    def train_step(self, batch: PolicyBatch) -> TrainStepReturn:
        return self.engine.train_policy(batch, self.cfg.ratio_clip, self.cfg.max_gradient_norm)

    def score(self, batch: TokenBatch) -> list[list[float]]:
        return self.engine.score_policy(batch)

    def save_weights(self, checkpoint_path: str) -> str:
        engine = self.engine
        accelerator = engine.accelerator
        assert accelerator is not None, "build_engine sets it"
        with published_folder(checkpoint_path, accelerator.process_index, accelerator.wait_for_everyone) as folder:
            state = accelerator.get_state_dict(engine.model)
            if accelerator.is_main_process:
                accelerator.unwrap_model(engine.model).save_pretrained(folder, state_dict=state)
                engine.tokenizer.save_pretrained(folder)
        return checkpoint_path


@ray.remote
class DTensorPolicyWorker(DTensorPolicyWorkerImpl):
    """The Ray actor of :class:`DTensorPolicyWorkerImpl`."""
