"""What every environment offers, and the shapes of what goes in and out.

``B`` is the number of conversations in a batch. Every sequence marked ``[B]`` has exactly one item for each of them,
in the order in which they came in. Environments are independent over the batch: a batch in one call, and the same
batch split in two calls, give equal results.
"""

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

Message = dict[str, str]
"""One message of a conversation: ``{"role": "user" | "assistant" | "system" | "environment", "content": text}``."""

MessageLog = list[Message]
"""One conversation, oldest message first."""

MetadataT = TypeVar("MetadataT")


@dataclasses.dataclass(frozen=True)
class EnvironmentReturn(Generic[MetadataT]):
    """The answer of one :meth:`EnvironmentInterface.step`.

    Attributes:
        observations: ``[B]`` messages that the environment appends to the conversations.
        metadata: ``[B]`` what the environment wants back with the next step; ``None`` where the episode ended.
        rewards: ``[B]`` one scalar for each conversation.
        terminateds: ``[B]`` whether the episode ended with this step.
        next_stop_strings: ``[B]`` strings at which the next generation has to stop; ``None`` leaves them as they are.
        answers: ``[B]`` the answer that was read from the conversation; ``None`` where none was found.
        reward_components: name -> ``[B]`` scalars, for environments that judge several things at once;
            ``rewards`` is then their weighted sum. Empty for the others.

    Raises:
        ValueError: two of the sequences differ in length.
    """

    observations: list[Message]
    metadata: list[MetadataT | None]
    rewards: list[float]
    terminateds: list[bool]
    next_stop_strings: list[list[str] | None]
    answers: list[str | None]
    reward_components: Mapping[str, list[float]] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        lengths = {
            "observations": len(self.observations),
            "metadata": len(self.metadata),
            "rewards": len(self.rewards),
            "terminateds": len(self.terminateds),
            "next_stop_strings": len(self.next_stop_strings),
            "answers": len(self.answers),
        } | {f"reward_components[{name!r}]": len(values) for name, values in self.reward_components.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"an environment has to answer every conversation once, but the lengths are {lengths}")


def ended_episodes(
    contents: Sequence[str],
    rewards: list[float],
    answers: list[str | None],
    reward_components: Mapping[str, list[float]] | None = None,
) -> EnvironmentReturn[Any]:
    """The answer of an environment that judges once: every episode has ended.

    Args:
        contents: ``[B]`` texts of the messages that the environment appends.
        rewards: ``[B]``, as in :class:`EnvironmentReturn`.
        answers: ``[B]``, likewise.
        reward_components: name -> ``[B]``, likewise.

    Raises:
        ValueError: two of the sequences differ in length.
    """
    count = len(contents)
    return EnvironmentReturn(
        observations=[{"role": "environment", "content": content} for content in contents],
        metadata=[None] * count,
        rewards=rewards,
        terminateds=[True] * count,
        next_stop_strings=[None] * count,
        answers=answers,
        reward_components=reward_components or {},
    )


@dataclasses.dataclass(frozen=True)
class RolloutBatch:
    """A batch of finished rollouts, as :meth:`EnvironmentInterface.global_post_process_and_metrics` gets it.

    Attributes:
        message_logs: ``[B]`` whole conversations.
        rewards: ``[B]`` the sum of each conversation's rewards.
        terminateds: ``[B]`` ended by the environment, as opposed to cut off by a limit of turns or tokens.
    """

    message_logs: list[MessageLog]
    rewards: list[float]
    terminateds: list[bool]

    def __post_init__(self) -> None:
        if not len(self.message_logs) == len(self.rewards) == len(self.terminateds):
            raise ValueError(
                f"a rollout batch needs equal lengths, got {len(self.message_logs)} message logs, "
                f"{len(self.rewards)} rewards and {len(self.terminateds)} terminateds"
            )


class EnvironmentInterface(abc.ABC, Generic[MetadataT]):
    """A judge of conversations: takes what a model wrote, gives observations and rewards."""

    @abc.abstractmethod
    def step(self, message_log_batch: list[MessageLog], metadata: list[MetadataT]) -> EnvironmentReturn[MetadataT]:
        """Judge the last turn of each conversation.

        Args:
            message_log_batch: ``[B]`` conversations, at least one; each ends with what the model wrote.
            metadata: ``[B]`` what the data set (first step) or this environment (later steps) says about each.

        Returns:
            ``[B]`` results in the same order.

        Raises:
            ValueError: the batch is empty, or the two arguments differ in length.
        """

    def global_post_process_and_metrics(self, batch: RolloutBatch) -> tuple[RolloutBatch, dict[str, float]]:
        """Summarize finished rollouts of this environment.

        Args:
            batch: the finished rollouts; may be empty.

        Returns:
            The batch, changed where an environment has a reason to, and metrics by name. This default leaves the batch
            as it is and reports ``mean_reward`` and ``fraction_terminated``; an empty batch has no metrics.
        """
        count = len(batch.rewards)
        if count == 0:
            return batch, {}
        return batch, {
            "mean_reward": sum(batch.rewards) / count,
            "fraction_terminated": sum(batch.terminateds) / count,
        }

    def shutdown(self) -> None:
        """Release processes and files; calling it twice is fine. This default has nothing to release."""


def check_batch(message_log_batch: list[MessageLog], metadata: list[Any]) -> None:
    """Reject what no environment can answer.

    Raises:
        ValueError: the batch is empty, the lengths differ, or a conversation has no message.
    """
    if not message_log_batch:
        raise ValueError("the batch is empty: step() needs at least one conversation")
    if len(message_log_batch) != len(metadata):
        raise ValueError(
            f"step() needs one metadata item for each conversation, "
            f"got {len(message_log_batch)} conversations and {len(metadata)} metadata items"
        )
    for index, message_log in enumerate(message_log_batch):
        if not message_log:
            raise ValueError(f"conversation {index} of {len(message_log_batch)} has no message")


def last_response(message_log: MessageLog) -> str:
    """Everything that the model wrote since the last message of somebody else, joined.

    Returns:
        The text; empty when the last message is not the model's (role ``assistant``).
    """
    parts: list[str] = []
    for message in reversed(message_log):
        if message["role"] != "assistant":
            break
        parts.append(message["content"])
    return "".join(reversed(parts))
