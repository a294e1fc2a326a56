"""What every worker offers, and the shapes of what goes in and out.

``B`` is the number of conversations in a batch, ``T_b`` the number of tokens generated for conversation ``b``.
"""

import abc
import dataclasses
from collections.abc import Sequence

from nemo_rl.environments.interfaces import MessageLog


class WorkerInterface(abc.ABC):
    """An actor that owns something which starts, lives and has to be released."""

    @abc.abstractmethod
    def is_alive(self) -> bool:
        """Whether the worker can take work now."""

    @abc.abstractmethod
    def shutdown(self) -> None:
        """Release what the worker owns; afterwards :meth:`is_alive` is false. Calling it twice is fine."""


@dataclasses.dataclass(frozen=True)
class SamplingParameters:
    """How to sample from a model.

    Attributes:
        max_new_tokens: at most that many tokens for each conversation, at least 1.
        temperature: 0 is greedy.
        top_p: mass of the nucleus, in (0, 1].
        top_k: number of the most likely tokens to sample from; ``None`` for all.
        stop_strings: generation ends before the first of them.
        seed: for repeatable sampling, where the engine supports it.

    Raises:
        ValueError: a value is outside its range.
    """

    max_new_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int | None = None
    stop_strings: tuple[str, ...] = ()
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens must be at least 1, got {self.max_new_tokens}")
        if self.temperature < 0:
            raise ValueError(f"temperature must not be negative, got {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be in (0, 1], got {self.top_p}")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k must be at least 1, or None for all tokens, got {self.top_k}")


@dataclasses.dataclass(frozen=True)
class GenerationReturn:
    """What a model wrote for each conversation.

    Attributes:
        texts: ``[B]`` the generated text, without stop strings.
        token_ids: ``[B][T_b]`` the generated tokens; empty where the engine does not tell them.
        log_probabilities: ``[B][T_b]`` natural logarithm of each token's probability when it was sampled; empty where
            the engine does not tell them.
        finish_reasons: ``[B]`` ``"stop"`` (end of text or a stop string) or ``"length"``.
        weight_version: version of the weights that generated all of it.

    Raises:
        ValueError: two of the sequences differ in length.
    """

    texts: list[str]
    token_ids: list[list[int]]
    log_probabilities: list[list[float]]
    finish_reasons: list[str]
    weight_version: int = 0

    def __post_init__(self) -> None:
        lengths = [len(self.texts), len(self.token_ids), len(self.log_probabilities), len(self.finish_reasons)]
        if len(set(lengths)) > 1:
            raise ValueError(
                "a generation has to answer every conversation once, but the lengths of texts, token_ids, "
                f"log_probabilities and finish_reasons are {lengths}"
            )


class GenerationInterface(WorkerInterface):
    """A worker that writes the next message of conversations."""

    @abc.abstractmethod
    def generate(self, message_log_batch: Sequence[MessageLog], sampling: SamplingParameters) -> GenerationReturn:
        """Write the next message of each conversation, with the model's own chat template.

        Args:
            message_log_batch: ``[B]`` conversations, at least one.
            sampling: for all of them.

        Returns:
            ``[B]`` results in the same order.

        Raises:
            ValueError: the batch is empty.
        """

    @abc.abstractmethod
    def update_weights(self, checkpoint_path: str, weight_version: int) -> None:
        """Load other weights; generations that start afterwards carry ``weight_version``.

        Args:
            checkpoint_path: folder of a checkpoint that the engine reads, visible on the worker's node.
            weight_version: grows with every update.
        """
