"""Answers that know what they were made from, so that a changed project keeps those which the change cannot touch."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar

Read = tuple[Hashable, ...]
"""One thing that an answer was made from: ("bytes", path), ("exists", path), ("files",), ("imports", path), ..."""

ANY_CHANGE: Read = ("any change",)
"""What an answer was made from that does not know better: every change touches it."""

Answer = TypeVar("Answer")
Settled = Callable[[Any], Any]


class Answers:
    """The answers about one state of a project; those of `base` hold as far as nothing in `changed` went into them.

    `project` is what settled answers are made from.
    """

    def __init__(self, base: Answers | None = None, changed: frozenset[Read] = frozenset()) -> None:
        self._base = base
        self._changed = {*changed, ANY_CHANGE}
        self._known: dict[Hashable, tuple[Any, frozenset[Read]]] = {}
        self._settled: dict[Read, Settled] = {}
        self._has_compared = base is None
        self.project: Any = None
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

    def settled(self, question: Hashable, make: Settled) -> Any:
        """The same, for an answer that may well come out equal after a change: then what is made from it is kept too.

        `make` is given the project that the answer is about, maybe a changed one.
        """
        read: Read = ("settled", question)
        found = self._find(question)
        if found is None:
            found = self._known[question] = self.traced(lambda: make(self.project))
        self._settled.setdefault(read, make)  # behind those that it was made from
        self.note(read)
        return found[0]

    def keeps(self, reads: frozenset[Read]) -> bool:
        """Whether what the base made from `reads` holds here as well."""
        if self._base is None:
            return False
        if not self._has_compared:
            self._has_compared = True
            self._compare(self._base)
        return self._changed.isdisjoint(reads)

    def _compare(self, base: Answers) -> None:
        """Finds which of the base's settled answers are others here; those that others are made from come first."""
        for read, make in list(base._settled.items()):
            known = base._known.get(read[1])
            if known is None or self._changed.isdisjoint(known[1]):
                continue
            try:
                same = self.traced(partial(self.settled, read[1], make))[0] == known[0]
            except Exception:  # whoever needs the answer is judged again, and says so
                same = False
            if not same:
                self._changed.add(read)

    def _find(self, question: Hashable) -> tuple[Any, frozenset[Read]] | None:
        found = self._known.get(question)
        if found is None and self._base is not None:
            found = self._base._find(question)
            if found is None or not self.keeps(found[1]):
                return None
            self._known[question] = found
        return found


UNTRACED = frozenset({ANY_CHANGE})


class UntracedAnswers(Answers):
    """Answers about a project that is looked at as it is: nobody notes what they were made from, so a change touches all.

    Noting takes as long as judging, and more for each file that an actor reaches.
    """

    def note(self, read: Read) -> None:
        return

    def note_all(self, reads: set[Read] | frozenset[Read]) -> None:
        return

    def traced(self, make: Callable[[], Answer]) -> tuple[Answer, frozenset[Read]]:
        return make(), UNTRACED

    def get(self, question: Hashable, make: Callable[[], Answer]) -> Answer:
        found = self._known.get(question)
        if found is None:
            found = self._known[question] = make(), UNTRACED
        answer: Answer = found[0]
        return answer
