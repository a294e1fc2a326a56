import os
import time

import psutil
import pytest
import ray

from nemo_rl.environments.math_environment import (
    MathEnvironment,
    MathEnvironmentConfig,
    MathEnvironmentImpl,
    MathMultiRewardConfig,
    MathMultiRewardEnvironment,
    MathMultiRewardEnvironmentImpl,
)
from nemo_rl.environments.time_limited_pool import Outcome, TimeLimitedPool

HANGING = "\\boxed{9^{9^{9^{9}}}}"


@pytest.fixture(scope="module")
def environment():
    environment = MathEnvironmentImpl(MathEnvironmentConfig(num_workers=1, time_limit=5.0))
    yield environment
    environment.shutdown()


@pytest.fixture(scope="module")
def multi_reward():
    environment = MathMultiRewardEnvironmentImpl(
        MathMultiRewardConfig(num_workers=1, correctness_weight=1.0, format_weight=0.25)
    )
    yield environment
    environment.shutdown()


def truth(text):
    return {"ground_truth": text}


@pytest.mark.parametrize(
    ("response", "reference"),
    [
        ("so it is \\boxed{\\frac{1}{2}}", "0.5"),
        ("\\boxed{x^2+2x+1}", "(x+1)^2"),
        ("\\boxed{\\sqrt{8}}", "2\\sqrt{2}"),
        ("first \\boxed{3}. That is wrong, so \\boxed{4}", "4"),
        ("<think>6 times 7</think><answer>42</answer>", "\\boxed{42}"),
        ("<answer>\\frac{3}{4}</answer>", "0.75"),
        ("the answer is 7.", "7"),
        ("\\boxed{1,000}", "1000"),
        ("\\boxed{\\{1, 2\\}}", "\\{2, 1\\}"),
        ("\\boxed{" * 1000 + "5" + "}" * 1000, "5"),
    ],
)
def test_an_answer_that_equals_the_reference_is_rewarded(environment, conversation, response, reference):
    result = environment.step([conversation(response)], [truth(reference)])
    assert result.rewards == [1.0]
    assert result.terminateds == [True]
    assert result.metadata == [None]
    assert result.observations[0] == {"role": "environment", "content": "Environment: correct"}


@pytest.mark.parametrize(
    ("response", "reference", "verdict"),
    [
        ("\\boxed{3}", "4", "incorrect"),
        ("\\boxed{4}, or rather \\boxed{3}", "4", "incorrect"),
        ("I cannot tell", "4", "incorrect: no answer found"),
        ("", "4", "incorrect: no answer found"),
        ("a" * 1_000_000, "4", "incorrect: no answer found"),
        ("<answer>" + "9" * 1_000_000 + "</answer>", "4", "incorrect"),
        ("(" * 5000 + "4" + ")" * 5000, "4", "incorrect"),
        ("\\frac{" * 1000 + "1" + "}" * 1000, "4", "incorrect"),
        ("{" * 1000, "4", "incorrect: no answer found"),
    ],
)
def test_every_other_response_has_reward_zero(environment, conversation, response, reference, verdict):
    result = environment.step([conversation(response)], [truth(reference)])
    assert result.rewards == [0.0]
    assert result.observations[0]["content"].startswith(f"Environment: {verdict}")


def test_an_answer_that_hangs_in_c_code_is_interrupted_and_the_others_are_judged(conversation):
    environment = MathEnvironmentImpl(MathEnvironmentConfig(num_workers=1, time_limit=1.0))
    try:
        environment.step([conversation("\\boxed{1}")], [truth("1")])
        started = time.monotonic()
        result = environment.step(
            [conversation("\\boxed{2}"), conversation(HANGING), conversation("\\boxed{3}")],
            [truth("2"), truth("1"), truth("3")],
        )
        taken = time.monotonic() - started
    finally:
        environment.shutdown()
    assert result.rewards == [1.0, 0.0, 1.0]
    assert result.answers == ["2", None, "3"]
    assert result.observations[1]["content"] == "Environment: incorrect: the comparison took longer than 1 s"
    # Without an interruption it would take for ever; the limit is for a machine that is busy otherwise.
    assert taken < 30


def test_a_call_that_takes_too_much_memory_or_crashes_is_a_failure_and_the_others_return():
    pool = TimeLimitedPool(1, time_limit=20.0, memory_limit=2**30)
    try:
        assert pool.map(bytearray, [2**34, 2]) == [Outcome(None, "needed too much memory"), Outcome(bytearray(2))]
        assert pool.map(os._exit, [3]) == [Outcome(None, "its process ended with exit code 3")]
        assert pool.map(abs, [-1]) == [Outcome(1)]
        with pytest.raises(ValueError, match="invalid literal"):
            pool.map(int, ["x"])
    finally:
        pool.shutdown()


def test_no_process_is_left_after_shutdown(conversation):
    before = set(psutil.Process().children(recursive=True))
    environment = MathEnvironmentImpl(MathEnvironmentConfig(num_workers=2, time_limit=5.0))
    environment.step([conversation("\\boxed{1}")], [truth("1")])
    workers = [
        child
        for child in set(psutil.Process().children(recursive=True)) - before
        if "spawn_main" in " ".join(child.cmdline())
    ]
    assert len(workers) == 2
    environment.shutdown()
    environment.shutdown()
    assert not any(worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE for worker in workers)


def test_a_batch_split_in_two_gives_the_same(environment, conversation):
    logs = [conversation(text) for text in ("\\boxed{1}", "\\boxed{2}", "nothing", "<answer>4</answer>")]
    metadata = [truth("1"), truth("3"), truth("3"), truth("4")]
    whole = environment.step(logs, metadata)
    first, second = environment.step(logs[:1], metadata[:1]), environment.step(logs[1:], metadata[1:])
    assert whole.rewards == first.rewards + second.rewards == [1.0, 0.0, 0.0, 1.0]
    assert whole.answers == first.answers + second.answers
    assert whole.observations == first.observations + second.observations


def test_a_reference_that_is_no_expression_is_an_error(environment, conversation):
    with pytest.raises(ValueError, match="reference answer '' is no mathematical expression"):
        environment.step([conversation("\\boxed{1}")], [truth("")])


def test_an_empty_batch_is_an_error(environment):
    with pytest.raises(ValueError, match="batch is empty"):
        environment.step([], [])


def test_unequal_lengths_are_an_error(environment, conversation):
    with pytest.raises(ValueError, match="2 conversations and 1 metadata"):
        environment.step([conversation("1")] * 2, [truth("1")])


def test_a_conversation_without_messages_is_an_error(environment):
    with pytest.raises(ValueError, match="conversation 0 of 1 has no message"):
        environment.step([[]], [truth("1")])


def test_only_what_the_model_wrote_last_is_judged(environment):
    log = [
        {"role": "assistant", "content": "\\boxed{1}"},
        {"role": "user", "content": "really? \\boxed{2}"},
        {"role": "assistant", "content": "then \\boxed{3}"},
    ]
    assert environment.step([log, log[:2]], [truth("3"), truth("2")]).rewards == [1.0, 0.0]


@pytest.mark.parametrize(
    ("response", "reference", "correctness", "well_formed", "integer"),
    [
        ("<think>2+2</think><answer>4</answer>", "4", 1.0, 1.0, 1.0),
        ("<think>2+2</think> <answer>1,000.0</answer>\n", "1000", 1.0, 1.0, 1.0),
        ("<think>2+2</think><answer>5</answer>", "4", 0.0, 1.0, 1.0),
        ("<think>2+2</think><answer>4.5</answer>", "4.5", 1.0, 1.0, 0.0),
        ("<answer>4</answer>", "4", 1.0, 0.0, 1.0),
        ("<think></think><answer>4</answer><answer>4</answer>", "4", 1.0, 0.0, 1.0),
        ("\\boxed{4}", "4", 1.0, 0.0, 1.0),
        ("nothing", "4", 0.0, 0.0, 0.0),
    ],
)
def test_multi_reward_judges_each_thing_apart(
    multi_reward, conversation, response, reference, correctness, well_formed, integer
):
    result = multi_reward.step([conversation(response)], [truth(reference)])
    assert dict(result.reward_components) == {
        "correctness": [correctness],
        "format": [well_formed],
        "integer": [integer],
    }
    assert result.rewards == [correctness + 0.25 * well_formed + 0.5 * integer]


def test_multi_reward_of_a_batch_split_in_two_is_the_same(multi_reward, conversation):
    logs = [conversation(text) for text in ("<think>a</think><answer>4</answer>", "\\boxed{4.5}", "nothing")]
    metadata = [truth("4")] * 3
    whole = multi_reward.step(logs, metadata)
    parts = [multi_reward.step([log], [item]) for log, item in zip(logs, metadata, strict=True)]
    assert whole.rewards == [part.rewards[0] for part in parts]
    assert (
        whole.reward_components["format"] == [part.reward_components["format"][0] for part in parts] == [1.0, 0.0, 0.0]
    )


@pytest.mark.parametrize("bad", [{"num_workers": 0}, {"time_limit": 0.0}, {"memory_limit": 0}])
def test_limits_have_to_be_positive(bad):
    with pytest.raises(ValueError, match="positive"):
        MathEnvironmentImpl(MathEnvironmentConfig(**bad))


@pytest.mark.xdist_group("ray")
def test_through_ray_answers_are_judged_interrupted_and_nothing_is_left_after_a_kill(ray_cluster, conversation):
    actor = MathEnvironment.remote(MathEnvironmentConfig(num_workers=1, time_limit=1.0))
    pid = ray.get(actor.__ray_call__.remote(lambda _: __import__("os").getpid()))
    result = ray.get(
        actor.step.remote([conversation("\\boxed{0.5}"), conversation(HANGING)], [truth("\\frac12"), truth("1")])
    )
    assert result.rewards == [1.0, 0.0]
    children = psutil.Process(pid).children(recursive=True)
    assert children
    psutil.Process(pid).kill()
    _, alive = psutil.wait_procs(children, timeout=20)
    assert not alive


@pytest.mark.xdist_group("ray")
def test_through_ray_multi_reward_gives_components(ray_cluster, conversation):
    actor = MathMultiRewardEnvironment.remote(MathMultiRewardConfig(num_workers=1))
    result = ray.get(actor.step.remote([conversation("<think>a</think><answer>4</answer>")], [truth("4")]))
    assert result.rewards == [2.0]
    ray.get(actor.shutdown.remote())
    ray.kill(actor)
