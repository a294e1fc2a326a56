"""What workers check before they call an engine, and how they read its answer. None of it needs an engine."""

import dataclasses
import pathlib
import threading
from typing import Any

import pytest

from nemo_rl.data.energon.sft_worker import SFTConfig, supervised_batch
from nemo_rl.environments.nemo_gym import NemoGymConfig, NemoGymImpl
from nemo_rl.modelopt.models.generation.vllm_quant_worker import VllmQuantConfig
from nemo_rl.models.engine_owner import EngineError
from nemo_rl.models.generation.message_batch import check_message_logs, finish_reason, sampled_log_probabilities
from nemo_rl.models.generation.sglang.sglang_worker import (
    SGLangConfig,
    SGLangGenerationWorkerImpl,
    generation_return,
    sampling_dict,
)
from nemo_rl.models.generation.vllm.vllm_worker import VllmConfig, VllmGenerationWorkerImpl
from nemo_rl.models.interfaces import SamplingParameters
from nemo_rl.models.policy.published_folder import published_folder
from nemo_rl.models.policy.token_batch import PolicyBatch, SupervisedBatch, TokenBatch, ValueBatch, padded
from nemo_rl.models.policy.torch_engine import counting_positions
from nemo_rl.models.policy.workers.dtensor_policy_worker import DTensorPolicyConfig


@dataclasses.dataclass(frozen=True)
class Candidate:
    logprob: float


@pytest.mark.parametrize(
    ("logs", "message"), [([], "batch is empty"), ([[{"role": "user", "content": "x"}], []], "conversation 1 of 2")]
)
def test_a_batch_that_no_engine_can_continue_is_refused_before_the_engine_is_asked(logs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_message_logs(logs)
    for worker in (VllmGenerationWorkerImpl(VllmConfig("m")), SGLangGenerationWorkerImpl(SGLangConfig("m"))):
        with pytest.raises(ValueError, match=message):
            worker.generate(logs, SamplingParameters(1))


def test_a_worker_without_an_engine_says_so() -> None:
    with pytest.raises(EngineError, match=r"state: new\); call start\(\) first"):
        VllmGenerationWorkerImpl(VllmConfig("m")).generate([[{"role": "user", "content": "x"}]], SamplingParameters(1))


def test_the_sampled_tokens_log_probability_is_picked_from_the_candidates() -> None:
    positions = [{4: Candidate(-0.1), 7: Candidate(-3.0)}, {5: Candidate(-0.2)}]
    assert sampled_log_probabilities([7, 5], positions) == [-3.0, -0.2]
    assert sampled_log_probabilities([7, 5], None) == []
    with pytest.raises(ValueError, match="3 tokens, but log probabilities for 2"):
        sampled_log_probabilities([7, 5, 5], positions)


def test_an_aborted_request_is_an_error_not_an_answer() -> None:
    assert [finish_reason(reason) for reason in ("stop", "length")] == ["stop", "length"]
    for reason in ("abort", None):
        with pytest.raises(RuntimeError, match="without finishing"):
            finish_reason(reason)


def test_sglangs_names_and_answers() -> None:
    sampling = SamplingParameters(5, temperature=0.0, top_p=0.9, stop_strings=("x",))
    assert sampling_dict(sampling) == {
        "max_new_tokens": 5,
        "temperature": 0.0,
        "top_p": 0.9,
        "top_k": -1,
        "stop": ["x"],
    }
    meta = {"output_token_logprobs": [(-0.5, 11, None), (-1.5, 12, None)], "finish_reason": {"type": "length"}}
    answer = generation_return([{"text": "hi", "meta_info": meta}], weight_version=3)
    assert (answer.texts, answer.token_ids, answer.log_probabilities) == (["hi"], [[11, 12]], [[-0.5, -1.5]])
    assert (answer.finish_reasons, answer.weight_version) == (["length"], 3)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: TokenBatch([]), "batch is empty"),
        (lambda: TokenBatch([[1, 2], [3]]), "sequence 1 has 1 token"),
        (lambda: SupervisedBatch([[1, 2]], [[1.0]]), r"loss_mask\[0\] has 1 items, token_ids\[0\] has 2"),
        (lambda: SupervisedBatch([[1, 2]], []), "loss_mask holds 0 sequences, token_ids 1"),
        (lambda: SupervisedBatch([[1, 2]], [[1.0, 0.0]]), "nothing to learn"),
        (lambda: PolicyBatch([[1, 2]], [[0, 1]], [[0.0]], [[0, 0]]), r"advantages\[0\]"),
        (lambda: PolicyBatch([[1, 2]], [[0, 1]], [[0, 1]], [[0]]), r"generation_log_probabilities\[0\]"),
        (lambda: ValueBatch([[1, 2]], [[0, 1]], [[0]], [[0, 0]]), r"returns\[0\]"),
        (lambda: ValueBatch([[1, 2]], [[0, 1]], [[0, 0]], [[0]]), r"old_values\[0\]"),
        (lambda: DTensorPolicyConfig("m", device="tpu"), "device must be 'cuda' or 'cpu'"),
        (lambda: SFTConfig("m"), "data_path is empty"),
        (lambda: VllmQuantConfig("m", enforce_eager=False), "enforce_eager has to be true"),
        (lambda: NemoGymConfig(()), "config_paths is empty"),
    ],
)
def test_bad_input_is_named(build: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


def test_padding_and_counting() -> None:
    assert padded([[1, 2, 3], [4]], 3, 0) == [[1, 2, 3], [4, 0, 0]]
    assert counting_positions([[1, 0, 1], [1, 1]]) == 2


def test_texts_that_are_too_short_to_learn_from_are_left_out() -> None:
    def tokenizer(texts: list[str]) -> dict[str, list[list[int]]]:
        return {"input_ids": [[ord(letter) for letter in text] for text in texts]}

    batch = supervised_batch(["abc", "x", "de"], tokenizer, max_tokens=2)
    assert batch.token_ids == [[97, 98], [100, 101]]
    with pytest.raises(ValueError, match="batch is empty"):
        supervised_batch(["x"], tokenizer, 2)


def test_the_engine_of_vllm_gets_exactly_what_the_configuration_says() -> None:
    arguments = VllmQuantConfig("m", tensor_parallel_size=2).engine_arguments()
    assert arguments["enforce_eager"] is True and arguments["tensor_parallel_size"] == 2
    assert "quantization" not in arguments, "vLLM has a parameter of that name, with another meaning"


class TestPublishedFolder:
    def test_all_ranks_write_and_the_folder_appears_at_the_end(self, tmp_path: pathlib.Path) -> None:
        barrier = threading.Barrier(3)
        target = tmp_path / "weights"
        seen: list[bool] = []

        def write(rank: int) -> None:
            with published_folder(str(target), rank, lambda: barrier.wait(10) and None) as folder:
                (folder / f"rank-{rank}").write_text("x")
                seen.append(target.exists())

        ranks = [threading.Thread(target=write, args=(rank,)) for rank in range(3)]
        for thread in ranks:
            thread.start()
        for thread in ranks:
            thread.join()
        assert sorted(path.name for path in target.iterdir()) == ["rank-0", "rank-1", "rank-2"]
        assert seen == [False, False, False]
        assert [path.name for path in tmp_path.iterdir()] == ["weights"]

    def test_a_failure_leaves_nothing_behind(self, tmp_path: pathlib.Path) -> None:
        with (
            pytest.raises(OSError, match="disk"),
            published_folder(str(tmp_path / "weights"), 0, lambda: None) as folder,
        ):
            (folder / "half").write_text("x")
            raise OSError("disk full")
        assert list(tmp_path.iterdir()) == []

    def test_an_existing_folder_is_not_touched(self, tmp_path: pathlib.Path) -> None:
        (tmp_path / "kept").write_text("x")
        with pytest.raises(FileExistsError, match="choose another"), published_folder(str(tmp_path), 0, lambda: None):
            raise AssertionError("the block must not run")
        assert (tmp_path / "kept").read_text() == "x"


def test_nemo_gym_refuses_what_it_cannot_judge_before_it_asks_a_server() -> None:
    subject = NemoGymImpl(NemoGymConfig(("servers.yaml",)))
    log = [{"role": "assistant", "content": "B"}]
    with pytest.raises(ValueError, match="batch is empty"):
        subject.step([], [])
    with pytest.raises(ValueError, match="1 conversations and 2 metadata"):
        subject.step([log], [{}, {}])
    with pytest.raises(ValueError, match="row 0 names no 'resources_server'"):
        subject.step([log], [{"uuid": "1"}])
    with pytest.raises(ValueError, match="batch is empty"):
        subject.run([])
    with pytest.raises(ValueError, match="row 0 names no 'agent_ref'"):
        subject.run([{"uuid": "1"}])
    with pytest.raises(EngineError, match=r"call start\(\) first"):
        subject.step([log], [{"resources_server": "mcqa"}])
