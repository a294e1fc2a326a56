"""The buffer: bounded, oldest usable weights first, and honest about what it throws away."""

import pytest
import ray

from nemo_rl.algorithms.async_utils import ReplayBuffer
from nemo_rl.algorithms.replay_buffer import ReplayBufferConfig, ReplayBufferImpl
from nemo_rl.experience.rollout import Rollout, Turn


def rollout(weight_version: int, reward: float = 0.0) -> Rollout:
    return Rollout([], [Turn([1], [-0.1], "stop", weight_version, reward)], terminated=True)


def versions(rollouts: list[Rollout]) -> list[int]:
    return [item.weight_version for item in rollouts]


def test_a_full_buffer_takes_what_fits_and_leaves_the_rest_to_the_caller() -> None:
    buffer = ReplayBufferImpl(ReplayBufferConfig(capacity=3))
    assert buffer.add([rollout(0), rollout(0)]) == [0, 1]
    assert buffer.add([rollout(0), rollout(0)]) == [2]
    assert buffer.add([rollout(0)]) == []
    assert (buffer.size(), buffer.free_space()) == (3, 0)


def test_the_oldest_weights_that_are_young_enough_come_first() -> None:
    buffer = ReplayBufferImpl(ReplayBufferConfig(capacity=9, max_weight_age=2))
    first, second = rollout(3, reward=1.0), rollout(3, reward=2.0)
    buffer.add([rollout(4), first, rollout(5), second])
    sample = buffer.sample(3, weight_version=5)
    assert sample.rollouts[:2] == [first, second], "equal weights: in order of arrival"
    assert versions(sample.rollouts) == [3, 3, 4]
    assert sample.available == 4 and sample.evicted == []
    assert buffer.size() == 1


def test_what_is_too_old_is_thrown_away_and_reported() -> None:
    buffer = ReplayBufferImpl(ReplayBufferConfig(capacity=9, max_weight_age=1))
    buffer.add([rollout(0, reward=7.0), rollout(2), rollout(1)])
    sample = buffer.sample(1, weight_version=3)
    assert [(item.ticket, item.weight_version, item.age, item.reward) for item in sample.evicted] == [
        (0, 0, 3, 7.0),
        (2, 1, 2, 0.0),
    ]
    assert versions(sample.rollouts) == [2]
    assert buffer.evict(3) == [], "nothing is reported twice"


def test_a_batch_is_never_short() -> None:
    buffer = ReplayBufferImpl(ReplayBufferConfig(capacity=4))
    buffer.add([rollout(0), rollout(0)])
    sample = buffer.sample(3, weight_version=0)
    assert (sample.rollouts, sample.available, buffer.size()) == ([], 2, 2)


def test_adding_in_one_call_equals_adding_in_two() -> None:
    items = [rollout(2), rollout(1), rollout(2)]
    whole, split = (ReplayBufferImpl(ReplayBufferConfig(capacity=5, max_weight_age=9)) for _ in range(2))
    whole.add(items)
    split.add(items[:1])
    split.add(items[1:])
    assert whole.sample(3, 2) == split.sample(3, 2)


def test_bad_input_is_named_and_changes_nothing() -> None:
    buffer = ReplayBufferImpl(ReplayBufferConfig(capacity=2))
    with pytest.raises(ValueError, match="at least one rollout"):
        buffer.add([])
    with pytest.raises(ValueError, match="between 1 and the capacity 2, got 3"):
        buffer.sample(3, 0)
    buffer.add([rollout(0), rollout(6)])
    with pytest.raises(ValueError, match="weight version 6, newer than 5"):
        buffer.sample(1, 5)
    assert buffer.size() == 2
    with pytest.raises(ValueError, match="capacity must be at least 1"):
        ReplayBufferConfig(capacity=0)
    with pytest.raises(ValueError, match="max_weight_age"):
        ReplayBufferConfig(capacity=1, max_weight_age=-1)


@pytest.mark.xdist_group("ray")
def test_the_actor_does_the_same(ray_cluster: None) -> None:
    buffer = ReplayBuffer.options(num_cpus=0).remote(ReplayBufferConfig(capacity=2, max_weight_age=0))
    assert ray.get(buffer.add.remote([rollout(0), rollout(1), rollout(1)])) == [0, 1]
    sample = ray.get(buffer.sample.remote(1, 1))
    assert versions(sample.rollouts) == [1]
    assert [item.ticket for item in sample.evicted] == [0]
