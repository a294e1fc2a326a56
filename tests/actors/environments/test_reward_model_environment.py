import math
import time

import pytest
import ray

from nemo_rl.environments.reward_model_environment import (
    RewardModelConfig,
    RewardModelEnvironment,
    RewardModelEnvironmentImpl,
    reward_of_score,
)

pytestmark = pytest.mark.xdist_group("ray")


@ray.remote(num_cpus=0)
class LengthScorer:
    """Scores a conversation by the length of its last message; some lengths mean trouble."""

    def score(self, message_log_batch):
        scores = [float(len(log[-1]["content"])) for log in message_log_batch]
        if 13.0 in scores:
            raise RuntimeError("thirteen")
        if 14.0 in scores:
            time.sleep(60)
        if 15.0 in scores:
            return [*scores, 1.0]
        return [math.nan if score == 16.0 else score for score in scores]


@pytest.fixture(scope="module")
def scorer(ray_cluster):
    actor = LengthScorer.remote()
    yield actor
    ray.kill(actor)


@pytest.mark.parametrize(
    ("mapping", "score", "reward"),
    [
        ("identity", -3.0, -3.0),
        ("sigmoid", 0.0, 0.5),
        ("sigmoid", 1e6, 1.0),
        ("sigmoid", -1e6, 0.0),
        ("linear", 5.0, 0.5),
        ("linear", -1.0, 0.0),
        ("linear", 11.0, 1.0),
    ],
)
def test_a_score_becomes_a_reward(mapping, score, reward):
    cfg = RewardModelConfig(scorer=None, mapping=mapping, lowest_score=0.0, highest_score=10.0)
    assert reward_of_score(score, cfg) == reward


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_score_that_is_not_finite_is_an_error(score):
    with pytest.raises(ValueError, match="not finite"):
        reward_of_score(score, RewardModelConfig(scorer=None))


def test_a_bad_configuration_is_an_error():
    with pytest.raises(ValueError, match="unknown mapping 'log'"):
        RewardModelConfig(scorer=None, mapping="log")
    with pytest.raises(ValueError, match=r"lowest_score 1.0 has to be below highest_score 1.0"):
        RewardModelConfig(scorer=None, lowest_score=1.0)


def test_through_ray_scores_are_rewards_and_a_batch_split_in_two_gives_the_same(scorer, conversation):
    actor = RewardModelEnvironment.remote(RewardModelConfig(scorer, mapping="linear", highest_score=10.0))
    logs = [conversation("x" * length) for length in (2, 5, 20, 1_000_000)] + [[{"role": "user", "content": "?"}]]
    whole, first, second = ray.get(
        [
            actor.step.remote(logs, [{}] * 5),
            actor.step.remote(logs[:2], [{}] * 2),
            actor.step.remote(logs[2:], [{}] * 3),
        ]
    )
    assert whole.rewards == first.rewards + second.rewards == [0.2, 0.5, 1.0, 1.0, 0.1]
    assert whole.answers[0] == "xx"
    assert whole.answers[4] is None
    ray.kill(actor)


@pytest.mark.parametrize(
    ("length", "error", "message"),
    [
        (13, RuntimeError, "thirteen"),
        (15, ValueError, "2 scores for 1 conversations"),
        (16, ValueError, "not finite"),
    ],
)
def test_a_scorer_that_fails_is_an_error_and_no_reward(scorer, conversation, length, error, message):
    environment = RewardModelEnvironmentImpl(RewardModelConfig(scorer))
    with pytest.raises(error, match=message):
        environment.step([conversation("x" * length)], [{}])


def test_a_scorer_that_hangs_is_an_error(ray_cluster, conversation):
    actor = LengthScorer.remote()
    ray.get(actor.score.remote([conversation("x")]))
    environment = RewardModelEnvironmentImpl(RewardModelConfig(actor, time_limit=0.5))
    with pytest.raises(TimeoutError, match=r"no scores for 1 conversations within 0.5 s"):
        environment.step([conversation("x" * 14)], [{}])
    ray.kill(actor)


def test_a_scorer_that_died_is_an_error(ray_cluster, conversation):
    actor = LengthScorer.remote()
    ray.get(actor.score.remote([conversation("x")]))
    ray.kill(actor)
    wait_until_dead(actor)
    with pytest.raises(ray.exceptions.RayActorError):
        RewardModelEnvironmentImpl(RewardModelConfig(actor)).step([conversation("x")], [{}])


def wait_until_dead(actor):
    """`ray.kill` returns before the actor has ended."""
    for _ in range(300):
        try:
            ray.get(actor.__ray_ready__.remote())
        except ray.exceptions.RayActorError:
            return
        time.sleep(0.1)
    raise AssertionError("the killed actor still answers")


def test_an_empty_batch_and_unequal_lengths_are_errors(conversation):
    environment = RewardModelEnvironmentImpl(RewardModelConfig(None))
    with pytest.raises(ValueError, match="batch is empty"):
        environment.step([], [])
    with pytest.raises(ValueError, match="1 conversations and 0 metadata"):
        environment.step([conversation("x")], [])
