"""The collector: fills the buffer in order, waits for room, pauses between generations, and fails aloud."""

import threading
import time
from collections.abc import Callable

import pytest
import ray
from conversation_partners import SAMPLING, CountingWriter, EvenJudge, prompts

from nemo_rl.algorithms.async_trajectory_collector import (
    AsyncTrajectoryCollectorImpl,
    CollectorConfig,
    CollectorError,
)
from nemo_rl.algorithms.async_utils import AsyncTrajectoryCollector, ReplayBuffer
from nemo_rl.algorithms.replay_buffer import ReplayBufferConfig, ReplayBufferImpl


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens in another thread; a test that waits in vain fails."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)


def collector(
    capacity: int, batch_size: int = 2, epochs: int | None = 1, writer: CountingWriter | None = None
) -> tuple[AsyncTrajectoryCollectorImpl, ReplayBufferImpl, CountingWriter]:
    writer = writer or CountingWriter()
    buffer = ReplayBufferImpl(ReplayBufferConfig(capacity=capacity, max_weight_age=9))
    cfg = CollectorConfig(batch_size, SAMPLING, max_turns=2, poll_seconds=0.01, epochs=epochs)
    return AsyncTrajectoryCollectorImpl(cfg, writer, EvenJudge(), buffer), buffer, writer


def test_every_prompt_is_collected_once_for_each_epoch_in_order() -> None:
    subject, buffer, writer = collector(capacity=10, epochs=2)
    subject.start(prompts(0, 10, 20), [{"goal": 1}, {"goal": 11}, {"goal": 21}])
    assert subject.wait(20).collected == 6
    found = buffer.sample(6, 0).rollouts
    assert [item.turns[0].token_ids for item in found] == [[1], [11], [21]] * 2
    assert [count for count, _ in writer.calls] == [2, 1, 2, 1]
    assert not subject.status().running


def test_a_full_buffer_holds_the_collector_up_and_nothing_is_lost() -> None:
    subject, buffer, writer = collector(capacity=3)
    subject.start(prompts(0, 1, 2, 3, 4, 5), [{"goal": 0}] * 6)
    until(lambda: subject.status().collected == 3)
    status = subject.status()
    assert (status.held, status.running) == (1, True)
    assert len(writer.calls) == 2, "no third batch while the second one waits for room"
    seen = []
    while len(seen) < 6:
        seen += buffer.sample(1, 0).rollouts
    assert [item.turns[0].token_ids[0] for item in seen] == [1, 2, 3, 4, 5, 6]
    assert subject.wait(20).collected == 6


def test_a_pause_waits_for_the_generation_under_way_and_begins_no_other() -> None:
    subject, _, writer = collector(capacity=10, batch_size=1)
    writer.gate = threading.Event()
    subject.start(prompts(0, 1, 2), [{"goal": 0}] * 3)
    until(lambda: subject._generating)
    with pytest.raises(TimeoutError, match="still under way"):
        subject.pause(timeout_seconds=0.05)
    writer.gate.set()
    subject.pause(timeout_seconds=20)
    assert len(writer.calls) == 1
    writer.update_weights("", 1)
    time.sleep(0.05)
    assert len(writer.calls) == 1 and subject.status().paused
    subject.resume()
    subject.wait(20)
    assert len(writer.calls) == 3


def test_a_failure_surfaces_at_every_later_call_and_nothing_hangs() -> None:
    subject, buffer, _ = collector(capacity=10, batch_size=1)
    subject.start(prompts(0, 1), [{"goal": 0}, {"goal": 0, "fail": True}])
    calls: list[Callable[[], object]] = [lambda: subject.wait(20), subject.status, subject.pause, subject.resume]
    for call in calls:
        with pytest.raises(CollectorError, match="the judge broke down") as caught:
            call()
        assert isinstance(caught.value.__cause__, RuntimeError)
    assert buffer.size() == 1, "what was collected before stays"
    subject.stop()


def test_stop_ends_a_collector_without_end() -> None:
    subject, _, _ = collector(capacity=2, epochs=None)
    subject.start(prompts(0), [{"goal": 0}])
    until(lambda: subject.status().collected == 2)
    subject.stop()
    subject.stop()
    assert not subject.status().running


def test_stop_ends_a_paused_collector() -> None:
    subject, _, _ = collector(capacity=2, epochs=None)
    subject.pause()
    subject.start(prompts(0), [{"goal": 0}])
    subject.stop()
    assert subject.status().collected == 0


def test_bad_use_is_named() -> None:
    subject, _, _ = collector(capacity=2)
    with pytest.raises(CollectorError, match="not started"):
        subject.wait()
    with pytest.raises(ValueError, match="batch is empty"):
        subject.start([], [])
    with pytest.raises(ValueError, match="1 conversations and 2 metadata"):
        subject.start(prompts(0), [{}, {}])
    subject.start(prompts(0), [{"goal": 0}])
    with pytest.raises(CollectorError, match="started before"):
        subject.start(prompts(0), [{"goal": 0}])
    subject.wait(20)
    for wrong in ({"batch_size": 0}, {"max_turns": 0}, {"poll_seconds": 0.0}, {"epochs": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            CollectorConfig(**{"batch_size": 1, "sampling": SAMPLING, **wrong})  # type: ignore[arg-type]


@pytest.mark.xdist_group("ray")
def test_the_actors_work_together(ray_cluster: None) -> None:
    writer = ray.remote(num_cpus=0)(CountingWriter).remote()
    judge = ray.remote(num_cpus=0)(EvenJudge).remote()
    buffer = ReplayBuffer.options(num_cpus=0).remote(ReplayBufferConfig(capacity=2))
    cfg = CollectorConfig(batch_size=2, sampling=SAMPLING, max_turns=2, poll_seconds=0.01)
    subject = AsyncTrajectoryCollector.options(num_cpus=0).remote(cfg, writer, judge, buffer)
    ray.get(subject.start.remote(prompts(0, 1, 2), [{"goal": 0}] * 3))
    until(lambda: ray.get(subject.status.remote()).collected == 2)
    ray.get(subject.pause.remote())
    ray.get(writer.update_weights.remote("", 1))
    assert len(ray.get(buffer.sample.remote(2, 1)).rollouts) == 2
    ray.get(subject.resume.remote())
    assert ray.get(subject.wait.remote(20)).collected == 3
    ray.get(subject.stop.remote())


@pytest.mark.xdist_group("ray")
def test_a_failure_in_an_actor_surfaces_through_the_collector(ray_cluster: None) -> None:
    judge = ray.remote(num_cpus=0)(EvenJudge).remote()
    buffer = ReplayBuffer.options(num_cpus=0).remote(ReplayBufferConfig(capacity=2))
    subject = AsyncTrajectoryCollector.options(num_cpus=0).remote(
        CollectorConfig(batch_size=1, sampling=SAMPLING), ray.remote(num_cpus=0)(CountingWriter).remote(), judge, buffer
    )
    ray.get(subject.start.remote(prompts(0), [{"goal": 0, "fail": True}]))
    with pytest.raises(CollectorError, match="the judge broke down"):
        ray.get(subject.wait.remote(20))
