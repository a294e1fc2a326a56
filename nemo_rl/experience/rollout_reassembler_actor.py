"""Reassembly of what NeMo Gym's servers capture, away from the driver."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.experience.reassembly import CapturedPiece, RolloutReassembler


def captured_piece(rollout_id: str, index: int, total: int | None, message: Mapping[str, Any]) -> CapturedPiece:
    """Read one captured message of NeMo Gym.

    Args:
        rollout_id: which rollout it belongs to.
        index: its place in the rollout, from 0.
        total: number of pieces of the rollout, where it is known.
        message: fields of a ``NeMoGymChatCompletionMessageForTraining``: an assistant's message with
            ``prompt_token_ids``, ``generation_token_ids`` and ``generation_log_probs``.

    Raises:
        pydantic.ValidationError: a field is missing or of a wrong type.
        ReassemblyError: tokens and log probabilities differ in number.
    """
    from nemo_gym.openai_utils import NeMoGymChatCompletionMessageForTraining

    read = NeMoGymChatCompletionMessageForTraining.model_validate(message)
    return CapturedPiece(
        rollout_id=rollout_id,
        index=index,
        total=total,
        content=read.content or "",
        prompt_token_ids=tuple(read.prompt_token_ids),
        generation_token_ids=tuple(read.generation_token_ids),
        generation_log_probabilities=tuple(read.generation_log_probs),
    )


class RolloutReassemblerActorImpl(RolloutReassembler):
    """A :class:`RolloutReassembler` that reads NeMo Gym's messages. The plain class of the actor."""

    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.NEMO_GYM

    def add_messages(
        self, rollout_id: str, first_index: int, total: int | None, messages: Sequence[Mapping[str, Any]]
    ) -> None:
        """Take captured messages that follow each other.

        Args:
            rollout_id: which rollout they belong to.
            first_index: place of the first of them.
            total: number of pieces of the rollout, where it is known.
            messages: as :func:`captured_piece` reads them.

        Raises:
            pydantic.ValidationError: a message cannot be read; none is taken.
            ReassemblyError: as :meth:`RolloutReassembler.add`; none is taken.
        """
        self.add(
            [
                captured_piece(rollout_id, index, total, message)
                for index, message in enumerate(messages, start=first_index)
            ]
        )


@ray.remote
class RolloutReassemblerActor(RolloutReassemblerActorImpl):
    """The Ray actor of :class:`RolloutReassemblerActorImpl`."""
