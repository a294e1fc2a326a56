"""Putting captured pieces of rollouts together again.

While an agent talks to the model through a server, each answer of the model is captured as one *piece*, with the exact
tokens that the model saw and wrote. Pieces of many rollouts arrive mixed, late or twice. Together, in order, they are
what a policy is trained on: the tokens of the conversation, and which of them the model wrote.
"""

import dataclasses
from collections.abc import Sequence


class ReassemblyError(ValueError):
    """Pieces contradict each other, or some are missing."""


@dataclasses.dataclass(frozen=True)
class CapturedPiece:
    """One answer of the model within a rollout.

    Attributes:
        rollout_id: which rollout it belongs to.
        index: its place in the rollout, from 0.
        total: number of pieces of the rollout; only the last piece has to know.
        content: text that the model wrote.
        prompt_token_ids: ``[P]`` everything that the model saw.
        generation_token_ids: ``[G]`` what it wrote.
        generation_log_probabilities: ``[G]`` natural logarithms.

    Raises:
        ReassemblyError: lengths differ, or the place is none of the rollout.
    """

    rollout_id: str
    index: int
    total: int | None
    content: str
    prompt_token_ids: tuple[int, ...]
    generation_token_ids: tuple[int, ...]
    generation_log_probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.index < 0 or (self.total is not None and self.index >= self.total):
            raise ReassemblyError(f"rollout {self.rollout_id}: there is no piece {self.index} of {self.total}")
        if len(self.generation_token_ids) != len(self.generation_log_probabilities):
            raise ReassemblyError(
                f"rollout {self.rollout_id}: piece {self.index} has {len(self.generation_token_ids)} tokens "
                f"and {len(self.generation_log_probabilities)} log probabilities"
            )


@dataclasses.dataclass(frozen=True)
class ReassembledRollout:
    """A whole rollout.

    Attributes:
        rollout_id: which one.
        contents: one text for each piece.
        token_ids: ``[T]`` the whole conversation, ending with what the model wrote last.
        loss_mask: ``[T]`` 1 where the model wrote the token, else 0.
        log_probabilities: ``[T]`` natural logarithms when the token was sampled; 0 where the mask is 0.
    """

    rollout_id: str
    contents: list[str]
    token_ids: list[int]
    loss_mask: list[float]
    log_probabilities: list[float]


class RolloutReassembler:
    """Collects pieces until rollouts are whole."""

    def __init__(self) -> None:
        self._pieces: dict[str, dict[int, CapturedPiece]] = {}

    def add(self, pieces: Sequence[CapturedPiece]) -> None:
        """Take pieces in any order. A piece that comes again, unchanged, is fine. All are taken, or none.

        Raises:
            ReassemblyError: a piece contradicts another one of its rollout.
        """
        changed: dict[str, dict[int, CapturedPiece]] = {}
        for piece in pieces:
            known = changed.setdefault(piece.rollout_id, dict(self._pieces.get(piece.rollout_id, {})))
            earlier = known.get(piece.index)
            if earlier is not None and earlier != piece:
                raise ReassemblyError(f"rollout {piece.rollout_id}: piece {piece.index} came twice, differently")
            known[piece.index] = piece
            total = _total_of(known)
            beyond = [index for index in known if total is not None and index >= total]
            if beyond:
                raise ReassemblyError(f"rollout {piece.rollout_id}: piece {beyond[0]} of only {total}")
        self._pieces.update(changed)

    def waiting(self) -> dict[str, list[str]]:
        """What every rollout still lacks, by its id, sorted; nothing lacks where the list is empty.

        Returns:
            For each, e.g. ``["piece 1", "piece 3", "the last piece"]``; the last one is said to be missing as long as
            no piece knows how many there are.
        """
        return {rollout_id: _missing(known) for rollout_id, known in sorted(self._pieces.items())}

    def take(self, rollout_id: str) -> ReassembledRollout:
        """Take one whole rollout out.

        Raises:
            ReassemblyError: it is unknown, lacks pieces (each is named), or two neighbours do not fit together. Its
                pieces are kept.
        """
        known = self._pieces.get(rollout_id)
        if known is None:
            raise ReassemblyError(f"no piece of rollout {rollout_id} has come; known are {sorted(self._pieces)}")
        missing = _missing(known)
        if missing:
            raise ReassemblyError(f"rollout {rollout_id} lacks {', '.join(missing)}; it has {sorted(known)}")
        whole = _join(rollout_id, [known[index] for index in sorted(known)])
        del self._pieces[rollout_id]
        return whole

    def take_whole(self) -> list[ReassembledRollout]:
        """Take every whole rollout out, sorted by id; the others keep waiting.

        Raises:
            ReassemblyError: two neighbours of a rollout do not fit together; nothing is taken then.
        """
        whole = [
            _join(rollout_id, [known[index] for index in sorted(known)])
            for rollout_id, known in sorted(self._pieces.items())
            if not _missing(known)
        ]
        for rollout in whole:
            del self._pieces[rollout.rollout_id]
        return whole

    def drop(self, rollout_id: str) -> bool:
        """Forget a rollout that will never be whole; whether there was one."""
        return self._pieces.pop(rollout_id, None) is not None


def _total_of(known: dict[int, CapturedPiece]) -> int | None:
    totals = {piece.total for piece in known.values() if piece.total is not None}
    if len(totals) > 1:
        rollout_id = next(iter(known.values())).rollout_id
        raise ReassemblyError(f"rollout {rollout_id}: pieces disagree on how many there are: {sorted(totals)}")
    return next(iter(totals), None)


def _missing(known: dict[int, CapturedPiece]) -> list[str]:
    total = _total_of(known)
    upper = total if total is not None else max(known)
    gaps = [f"piece {index}" for index in range(upper) if index not in known]
    return gaps if total is not None else [*gaps, "the last piece"]


def _join(rollout_id: str, pieces: list[CapturedPiece]) -> ReassembledRollout:
    token_ids: list[int] = []
    loss_mask: list[float] = []
    log_probabilities: list[float] = []
    for piece in pieces:
        prompt = list(piece.prompt_token_ids)
        if prompt[: len(token_ids)] != token_ids:
            raise ReassemblyError(
                f"rollout {rollout_id}: what the model saw at piece {piece.index} does not go on from piece "
                f"{piece.index - 1}; they differ at token {_first_difference(prompt, token_ids)} of {len(token_ids)}"
            )
        between = len(prompt) - len(token_ids)
        token_ids = [*prompt, *piece.generation_token_ids]
        loss_mask += [0.0] * between + [1.0] * len(piece.generation_token_ids)
        log_probabilities += [0.0] * between + list(piece.generation_log_probabilities)
    return ReassembledRollout(rollout_id, [piece.content for piece in pieces], token_ids, loss_mask, log_probabilities)


def _first_difference(left: list[int], right: list[int]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((index for index, (one, other) in pairs if one != other), min(len(left), len(right)))
