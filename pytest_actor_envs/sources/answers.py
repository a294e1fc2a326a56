"""Answers that know what they were made from, so that a changed project keeps those which the change cannot touch."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Read = tuple[str, ...]
"""One thing that an answer was made from: ("bytes", path), ("exists", path), ("files",), ("imports", path), ..."""

ANY_CHANGE: Read = ("any change",)
"""What an answer was made from that does not know better: every change touches it."""

Answer = TypeVar("Answer")


class Answers:
    """The answers about one state of a project; those of `base` hold as far as nothing in `changed` went into them."""

    def __init__(self, base: Answers | None = None, changed: frozenset[Read] = frozenset()) -> None:
        self._base = base
        self.changed = changed | {ANY_CHANGE}
        self._known: dict[Hashable, tuple[Any, frozenset[Read]]] = {}
        self._reads: list[set[Read]] = []

    def note(self, read: Read) -> None:
        """Says that the answer which is being made was made from `read`."""
        if self._reads:
            self._reads[-1].add(read)

    def traced(self, make: Callable[[], Answer]) -> tuple[Answer, frozenset[Read]]:
        """What `make` gives, and what it was made from. Whoever is asking is not told; see `note_all`."""
        reads: set[Read] = set()
        self._reads.append(reads)
        try:
            answer = make()
        except BaseException:
            self._reads.pop()
            self.note_all(reads)  # what raised is an answer too, of whoever handles it
            raise
        self._reads.pop()
        return answer, frozenset(reads)

    def note_all(self, reads: set[Read] | frozenset[Read]) -> None:
        """`note` for each."""
        if self._reads:
            self._reads[-1] |= reads

    def get(self, question: Hashable, make: Callable[[], Answer]) -> Answer:
        """The answer to `question`, made at most once for everything that it is made from."""
        found = self._find(question)
        if found is None:
            found = self._known[question] = self.traced(make)
        self.note_all(found[1])
        answer: Answer = found[0]
        return answer

    def keeps(self, reads: frozenset[Read]) -> bool:
        """Whether what the base made from `reads` holds here as well."""
        return self._base is not None and self.changed.isdisjoint(reads)

    def _find(self, question: Hashable) -> tuple[Any, frozenset[Read]] | None:
        found = self._known.get(question)
        if found is None and self._base is not None:
            found = self._base._find(question)
            if found is None or not self.keeps(found[1]):
                return None
            self._known[question] = found
        return found
