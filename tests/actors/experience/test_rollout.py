"""Rollouts: turn by turn, in order, independent over the batch, and clear about bad input."""

import pytest
import ray
from conversation_partners import SAMPLING, CountingWriter, EvenJudge, prompts

from nemo_rl.experience.rollout import run_rollouts
from nemo_rl.experience.sync_rollout_actor import SyncRolloutActor, SyncRolloutActorImpl


def test_each_conversation_goes_on_until_the_environment_ends_it() -> None:
    writer = CountingWriter()
    answer = run_rollouts(writer, EvenJudge(), prompts(0, 2), [{"goal": 1}, {"goal": 5}], SAMPLING, max_turns=9)
    short, long = answer.rollouts
    assert [message["content"] for message in short.message_log] == ["start at 0", "count 1", "got 1"]
    assert [turn.token_ids for turn in long.turns] == [[3], [4], [5]]
    assert [turn.reward for turn in long.turns] == [0.0, 1.0, 0.0] and long.reward == 1.0
    assert short.terminated and long.terminated
    assert [count for count, _ in writer.calls] == [2, 1, 1], "a conversation that ended must not be generated again"
    assert answer.metrics == {"mean_reward": 0.5, "fraction_terminated": 1.0}


def test_the_limit_of_turns_cuts_a_conversation_off() -> None:
    rollout = run_rollouts(CountingWriter(), EvenJudge(), prompts(0), [{"goal": 50}], SAMPLING, 3).rollouts[0]
    assert len(rollout.turns) == 3
    assert not rollout.terminated


def test_a_batch_in_one_call_equals_the_batch_split_in_two() -> None:
    starts, goals = [0, 5, 2, 9], [{"goal": 3}, {"goal": 9}, {"goal": 4}, {"goal": 10}]
    whole = run_rollouts(CountingWriter(), EvenJudge(), prompts(*starts), goals, SAMPLING, 5).rollouts
    first = run_rollouts(CountingWriter(), EvenJudge(), prompts(*starts[:1]), goals[:1], SAMPLING, 5).rollouts
    rest = run_rollouts(CountingWriter(), EvenJudge(), prompts(*starts[1:]), goals[1:], SAMPLING, 5).rollouts
    assert whole == first + rest


def test_the_environment_chooses_stop_strings_for_each_conversation() -> None:
    writer = CountingWriter()
    run_rollouts(
        writer, EvenJudge(), prompts(0, 0, 0), [{"goal": 2}, {"goal": 2, "stop": ["</a>"]}, {"goal": 2}], SAMPLING, 2
    )
    assert writer.calls == [(3, ("!",)), (2, ("!",)), (1, ("</a>",))]


def test_prompts_are_not_changed() -> None:
    given = prompts(0)
    run_rollouts(CountingWriter(), EvenJudge(), given, [{"goal": 1}], SAMPLING, 2)
    assert given == prompts(0)


def test_the_oldest_weights_count() -> None:
    writer = CountingWriter(weight_version=7)

    class Updating(EvenJudge):
        def step(self, message_log_batch, metadata):  # type: ignore[no-untyped-def]
            writer.update_weights("", writer.weight_version + 1)
            return super().step(message_log_batch, metadata)

    rollout = run_rollouts(writer, Updating(), prompts(0), [{"goal": 2}], SAMPLING, 5).rollouts[0]
    assert [turn.weight_version for turn in rollout.turns] == [7, 8]
    assert rollout.weight_version == 7


@pytest.mark.parametrize(
    ("logs", "metadata", "turns", "message"),
    [
        ([], [], 1, "batch is empty"),
        (prompts(1, 2), [{"goal": 3}], 1, "2 conversations and 1 metadata"),
        ([[]], [{"goal": 3}], 1, "conversation 0 of 1 has no message"),
        (prompts(1), [{"goal": 3}], 0, "max_turns must be at least 1"),
    ],
)
def test_bad_input_is_named(logs: list, metadata: list, turns: int, message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(ValueError, match=message):
        run_rollouts(CountingWriter(), EvenJudge(), logs, metadata, SAMPLING, turns)


def test_a_worker_that_answers_for_another_number_is_caught() -> None:
    class Forgetful(CountingWriter):
        def generate(self, message_log_batch, sampling):  # type: ignore[no-untyped-def]
            return super().generate(message_log_batch[:1], sampling)

    with pytest.raises(ValueError, match="got 2 conversations and answered 1"):
        run_rollouts(Forgetful(), EvenJudge(), prompts(0, 1), [{"goal": 2}] * 2, SAMPLING, 1)


@pytest.mark.xdist_group("ray")
def test_the_actor_talks_to_actors_and_gives_the_same_as_in_process(ray_cluster: None) -> None:
    writer = ray.remote(num_cpus=0)(CountingWriter).remote()
    judge = ray.remote(num_cpus=0)(EvenJudge).remote()
    arguments = (prompts(0, 4), [{"goal": 3}, {"goal": 5}], SAMPLING, 4)
    actor = SyncRolloutActor.options(num_cpus=0).remote(writer, judge)
    remote = ray.get(actor.run.remote(*arguments))
    assert remote == SyncRolloutActorImpl(CountingWriter(), EvenJudge()).run(*arguments)


@pytest.mark.xdist_group("ray")
def test_what_an_actor_raises_reaches_the_caller(ray_cluster: None) -> None:
    writer = ray.remote(num_cpus=0)(CountingWriter).remote()
    judge = ray.remote(num_cpus=0)(EvenJudge).remote()
    actor = SyncRolloutActor.options(num_cpus=0).remote(writer, judge)
    with pytest.raises(RuntimeError, match="the judge broke down"):
        ray.get(actor.run.remote(prompts(0), [{"goal": 1, "fail": True}], SAMPLING))
