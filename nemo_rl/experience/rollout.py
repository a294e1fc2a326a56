"""Rollouts: what they are, and how a batch of them is made turn by turn.

``B`` is the number of conversations in a batch. Nothing here knows of Ray: a generation worker and an environment are
objects with the interfaces of their packages, wherever they live.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from nemo_rl.environments.interfaces import EnvironmentInterface, MessageLog, RolloutBatch, check_batch
from nemo_rl.models.interfaces import GenerationInterface, SamplingParameters


@dataclasses.dataclass(frozen=True)
class Turn:
    """One message that the model wrote, and what the environment gave for it.

    Attributes:
        token_ids: ``[T]``; empty where the engine does not tell them.
        log_probabilities: ``[T]`` natural logarithms; empty where the engine does not tell them.
        finish_reason: ``"stop"`` or ``"length"``.
        weight_version: of the weights that wrote it.
        reward: of this turn.
    """

    token_ids: list[int]
    log_probabilities: list[float]
    finish_reason: str
    weight_version: int
    reward: float


@dataclasses.dataclass(frozen=True)
class Rollout:
    """One finished conversation.

    Attributes:
        message_log: all of it, the prompt included.
        turns: one for each message of the model; at least one.
        terminated: ended by the environment, as opposed to cut off by the limit of turns.
    """

    message_log: MessageLog
    turns: list[Turn]
    terminated: bool

    @property
    def reward(self) -> float:
        """Sum over the turns."""
        return sum(turn.reward for turn in self.turns)

    @property
    def weight_version(self) -> int:
        """Version of the oldest weights that wrote any of it."""
        return min(turn.weight_version for turn in self.turns)


@dataclasses.dataclass(frozen=True)
class RolloutReturn:
    """A batch of rollouts, as :func:`run_rollouts` makes it.

    Attributes:
        rollouts: ``[B]`` in the order of the prompts.
        metrics: what the environment says about the batch, by name.
    """

    rollouts: list[Rollout]
    metrics: dict[str, float]


@dataclasses.dataclass
class _Conversation:
    """A conversation under way; ``active`` until the environment ends it."""

    message_log: MessageLog
    metadata: Any
    stop_strings: tuple[str, ...]
    turns: list[Turn] = dataclasses.field(default_factory=list)
    active: bool = True


def run_rollouts(
    generation: GenerationInterface,
    environment: EnvironmentInterface[Any],
    message_log_batch: Sequence[MessageLog],
    metadata: Sequence[Any],
    sampling: SamplingParameters,
    max_turns: int,
) -> RolloutReturn:
    """Let the model and the environment talk until each conversation ends.

    Every turn, all conversations that go on are generated in one call (one for each set of stop strings, where the
    environment asks for different ones) and judged in one call.

    Args:
        generation: writes the model's messages.
        environment: answers them.
        message_log_batch: ``[B]`` prompts, at least one; they are not changed.
        metadata: ``[B]`` what the data set says about each, for the environment.
        sampling: for all turns; its stop strings hold until the environment asks for others.
        max_turns: conversations are cut off after so many messages of the model, at least 1.

    Returns:
        The rollouts in the order of the prompts.

    Raises:
        ValueError: the batch is empty, lengths differ, a prompt has no message, or ``max_turns`` is below 1.
    """
    check_batch(list(message_log_batch), list(metadata))
    if max_turns < 1:
        raise ValueError(f"max_turns must be at least 1, got {max_turns}")
    conversations = [
        _Conversation(list(message_log), item, sampling.stop_strings)
        for message_log, item in zip(message_log_batch, metadata, strict=True)
    ]
    for _ in range(max_turns):
        active = [conversation for conversation in conversations if conversation.active]
        if not active:
            break
        written = _generate(generation, active, sampling)
        _judge(environment, active, written)
    rollouts = [
        Rollout(conversation.message_log, conversation.turns, terminated=not conversation.active)
        for conversation in conversations
    ]
    _, metrics = environment.global_post_process_and_metrics(
        RolloutBatch(
            [rollout.message_log for rollout in rollouts],
            [rollout.reward for rollout in rollouts],
            [rollout.terminated for rollout in rollouts],
        )
    )
    return RolloutReturn(rollouts, metrics)


def _generate(generation: GenerationInterface, active: list[_Conversation], sampling: SamplingParameters) -> list[Turn]:
    """The next message of each conversation, appended to it; as turns without a reward yet."""
    by_stop_strings: dict[tuple[str, ...], list[int]] = {}
    for index, conversation in enumerate(active):
        by_stop_strings.setdefault(conversation.stop_strings, []).append(index)
    written: dict[int, Turn] = {}
    for stop_strings, indices in by_stop_strings.items():
        answer = generation.generate(
            [active[index].message_log for index in indices], dataclasses.replace(sampling, stop_strings=stop_strings)
        )
        if len(answer.texts) != len(indices):
            raise ValueError(f"generate() got {len(indices)} conversations and answered {len(answer.texts)}")
        for position, index in enumerate(indices):
            active[index].message_log.append({"role": "assistant", "content": answer.texts[position]})
            written[index] = Turn(
                token_ids=answer.token_ids[position],
                log_probabilities=answer.log_probabilities[position],
                finish_reason=answer.finish_reasons[position],
                weight_version=answer.weight_version,
                reward=0.0,
            )
    return [written[index] for index in range(len(active))]


def _judge(environment: EnvironmentInterface[Any], active: list[_Conversation], written: list[Turn]) -> None:
    """Let the environment answer; ends the conversations that it ends."""
    answer = environment.step(
        [conversation.message_log for conversation in active], [conversation.metadata for conversation in active]
    )
    if len(answer.rewards) != len(active):
        raise ValueError(f"step() got {len(active)} conversations and answered {len(answer.rewards)}")
    for index, conversation in enumerate(active):
        conversation.message_log.append(answer.observations[index])
        conversation.turns.append(dataclasses.replace(written[index], reward=answer.rewards[index]))
        conversation.metadata = answer.metadata[index]
        stop_strings = answer.next_stop_strings[index]
        if stop_strings is not None:
            conversation.stop_strings = tuple(stop_strings)
        conversation.active = not answer.terminateds[index]
