"""Training and scoring with a real, small transformers model on a CPU. Runs where the extra ``fsdp`` is installed."""

import importlib.util
import math
import pathlib
from typing import Any

import pytest
import ray

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("torch", "transformers", "accelerate")),
    reason="the extra fsdp (torch, transformers, accelerate) is not installed in this environment",
)

from nemo_rl.models.policy.token_batch import PolicyBatch, TokenBatch, ValueBatch  # noqa: E402
from nemo_rl.models.policy.workers.dtensor_policy_worker import (  # noqa: E402
    DTensorPolicyConfig,
    DTensorPolicyWorker,
    DTensorPolicyWorkerImpl,
)

TOKENS = [[1, 5, 6, 7], [1, 9], [1, 3, 3, 8, 2, 4]]


def policy_batch() -> PolicyBatch:
    mask = [[0.0] + [1.0] * (len(row) - 1) for row in TOKENS]
    return PolicyBatch(TOKENS, mask, [[1.0] * len(row) for row in TOKENS], [[-3.0] * len(row) for row in TOKENS])


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Llama of 16 hidden units and 32 words with fixed random weights, in Hugging Face format."""
    import tokenizers
    import torch
    import transformers

    folder = str(tmp_path_factory.mktemp("model"))
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({f"w{i}": i for i in range(32)}, unk_token="w0"))
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, eos_token="w2", unk_token="w0").save_pretrained(folder)
    return folder


@pytest.fixture
def policy(checkpoint: str) -> Any:
    worker = DTensorPolicyWorkerImpl(DTensorPolicyConfig(checkpoint, device="cpu", learning_rate=1e-2))
    worker.start()
    yield worker
    worker.shutdown()


def test_scores_are_the_models_log_probabilities(policy: DTensorPolicyWorkerImpl) -> None:
    import torch

    scores = policy.score(TokenBatch(TOKENS))
    assert [len(row) for row in scores] == [4, 2, 6]
    assert [row[0] for row in scores] == [0.0, 0.0, 0.0]
    with torch.no_grad():
        logits = policy.engine.model(input_ids=torch.tensor([TOKENS[1]])).logits
    assert scores[1][1] == pytest.approx(float(torch.log_softmax(logits[0, 0], -1)[9]), abs=1e-5)


def test_a_batch_in_one_call_equals_the_batch_split_in_two(policy: DTensorPolicyWorkerImpl) -> None:
    whole = policy.score(TokenBatch(TOKENS))
    split = policy.score(TokenBatch(TOKENS[:1])) + policy.score(TokenBatch(TOKENS[1:]))
    for one, other in zip(whole, split, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_a_step_makes_tokens_of_positive_advantage_likelier(policy: DTensorPolicyWorkerImpl) -> None:
    batch = policy_batch()
    before = sum(map(sum, policy.score(batch)))
    first = policy.train_step(batch)
    second = policy.train_step(batch)
    assert (first.step, second.step, first.token_count) == (1, 2, 9)
    assert math.isfinite(first.loss) and first.gradient_norm > 0
    assert sum(map(sum, policy.score(batch))) > before


def test_saved_weights_are_the_trained_ones_and_appear_whole(
    policy: DTensorPolicyWorkerImpl, tmp_path: pathlib.Path
) -> None:
    policy.train_step(policy_batch())
    folder = policy.save_weights(str(tmp_path / "step-1"))
    assert [path.name for path in tmp_path.iterdir()] == ["step-1"]
    reloaded = DTensorPolicyWorkerImpl(DTensorPolicyConfig(folder, device="cpu"))
    reloaded.start()
    for one, other in zip(policy.score(TokenBatch(TOKENS)), reloaded.score(TokenBatch(TOKENS)), strict=True):
        assert one == pytest.approx(other, abs=1e-5)
    with pytest.raises(FileExistsError):
        policy.save_weights(folder)


def test_the_clipped_surrogate_by_hand() -> None:
    import torch

    from nemo_rl.models.policy.torch_losses import clipped_policy_loss

    def loss(new: float, advantage: float) -> float:
        rows = [torch.tensor([[0.0, value]]) for value in (new, 0.0, advantage, 1.0)]
        return float(clipped_policy_loss(*rows, ratio_clip=0.2))

    assert loss(math.log(1.1), 2.0) == pytest.approx(-2.2)
    assert loss(math.log(1.5), 2.0) == pytest.approx(-2.4), "a ratio above 1.2 earns no more"
    assert loss(math.log(1.5), -2.0) == pytest.approx(3.0), "but a bad token is not spared"
    assert loss(math.log(0.5), -2.0) == pytest.approx(1.6)


def test_the_clipped_value_loss_by_hand() -> None:
    import torch

    from nemo_rl.models.policy.torch_losses import clipped_value_loss

    def loss(value: float, target: float) -> float:
        rows = [torch.tensor([[9.0, number]]) for number in (value, 0.0, target, 1.0)]
        return float(clipped_value_loss(*rows, value_clip=0.2))

    assert loss(0.1, 1.0) == pytest.approx(0.5 * 0.9**2)
    assert loss(0.9, 1.0) == pytest.approx(0.5 * 0.8**2), "a jump towards the target counts as the clipped one"


def test_a_value_function_learns_its_returns(checkpoint: str) -> None:
    import torch
    import transformers

    from nemo_rl.models.policy.torch_engine import TorchEngine

    model = transformers.AutoModelForTokenClassification.from_pretrained(checkpoint, num_labels=1)
    engine = TorchEngine(
        model=model,
        optimizer=torch.optim.AdamW(model.parameters(), lr=1e-2),
        device=torch.device("cpu"),
        tokenizer=transformers.AutoTokenizer.from_pretrained(checkpoint),
        backward=torch.Tensor.backward,
        clip_gradients=lambda norm: float(torch.nn.utils.clip_grad_norm_(model.parameters(), norm)),
    )
    ones = [[1.0] * len(row) for row in TOKENS]
    batch = ValueBatch(TOKENS, ones, ones, engine.score_value(TokenBatch(TOKENS)))
    losses = [engine.train_value(batch, value_clip=10.0, max_gradient_norm=1.0).loss for _ in range(20)]
    assert losses[-1] < losses[0] / 2


@pytest.mark.xdist_group("ray")
def test_the_actor_does_the_same(ray_cluster: None, checkpoint: str, policy: DTensorPolicyWorkerImpl) -> None:
    actor = DTensorPolicyWorker.options(num_cpus=0).remote(
        DTensorPolicyConfig(checkpoint, device="cpu", learning_rate=1e-2)
    )
    ray.get(actor.start.remote())
    assert ray.get(actor.train_step.remote(policy_batch())).loss == pytest.approx(
        policy.train_step(policy_batch()).loss, abs=1e-5
    )
    ray.get(actor.shutdown.remote())
