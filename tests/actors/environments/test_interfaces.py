import pytest

from nemo_rl.environments.code_jaccard_environment import CodeJaccardEnvironmentImpl
from nemo_rl.environments.interfaces import EnvironmentReturn, RolloutBatch, last_response
from nemo_rl.models.interfaces import GenerationReturn, SamplingParameters


def answer(**changes):
    parts = {
        "observations": [{"role": "environment", "content": ""}],
        "metadata": [None],
        "rewards": [0.0],
        "terminateds": [True],
        "next_stop_strings": [None],
        "answers": [None],
    }
    return EnvironmentReturn(**{**parts, **changes})


@pytest.mark.parametrize(
    "changes", [{"rewards": []}, {"answers": [None, None]}, {"reward_components": {"format": [1.0, 0.0]}}]
)
def test_an_environment_has_to_answer_every_conversation_once(changes):
    assert answer().rewards == [0.0]
    with pytest.raises(ValueError, match="answer every conversation once"):
        answer(**changes)


def test_metrics_summarize_a_batch_and_leave_it_as_it_is():
    batch = RolloutBatch([[], []], [1.0, 0.0], [True, True])
    metrics = {"mean_reward": 0.5, "fraction_terminated": 1.0}
    assert CodeJaccardEnvironmentImpl().global_post_process_and_metrics(batch) == (batch, metrics)


def test_an_empty_batch_of_rollouts_has_no_metrics():
    batch = RolloutBatch([], [], [])
    assert CodeJaccardEnvironmentImpl().global_post_process_and_metrics(batch) == (batch, {})


def test_a_batch_of_rollouts_needs_equal_lengths():
    with pytest.raises(ValueError, match="2 message logs, 1 rewards and 2 terminateds"):
        RolloutBatch([[], []], [1.0], [True, True])


@pytest.mark.parametrize(
    ("roles", "response"), [("ua", "1"), ("uaa", "12"), ("aua", "2"), ("au", ""), ("a", "0"), ("aea", "2")]
)
def test_the_last_response_is_what_the_model_wrote_since_somebody_else_did(roles, response):
    names = {"u": "user", "a": "assistant", "e": "environment"}
    log = [{"role": names[role], "content": str(index)} for index, role in enumerate(roles)]
    assert last_response(log) == response


def test_a_generation_has_to_answer_every_conversation_once():
    assert GenerationReturn(["a"], [[]], [[]], ["stop"]).weight_version == 0
    with pytest.raises(ValueError, match=r"\[1, 1, 0, 1\]"):
        GenerationReturn(["a"], [[]], [], ["stop"])


@pytest.mark.parametrize(
    "bad", [{"max_new_tokens": 0}, {"temperature": -0.1}, {"top_p": 0.0}, {"top_p": 1.1}, {"top_k": 0}]
)
def test_sampling_parameters_have_ranges(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        SamplingParameters(**{"max_new_tokens": 1, **bad})
