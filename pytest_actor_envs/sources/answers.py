"""Answers that know what they were made from, so that a changed project keeps those which the change cannot touch."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Read = tuple[Hashable, ...]
"""One thing that an answer was made from: ("bytes", path), ("exists", path), ("files",), ("imports", path), ..."""

ANY_CHANGE: Read = ("any change",)
"""What an answer was made from that does not know better: every change touches it."""

Answer = TypeVar("Answer")
Making = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class _Compared:
    """An answer that is made again for a changed project: how, and the keys that were asked for if it is a mapping."""

    make: Making
    keys: frozenset[Hashable] = frozenset()


class Answers:
    """The answers about one state of a project; those of `base` hold as far as nothing in `changed` went into them.

    `project` is what settled answers are made from.
    """

    def __init__(self, base: Answers | None = None, changed: frozenset[Read] = frozenset()) -> None:
        self._base = base
        self._changed = {*changed, ANY_CHANGE}
        self._known: dict[Hashable, tuple[Any, frozenset[Read]]] = {}
        self._compared: dict[Hashable, _Compared] = {} if base is None else {**base._compared}
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

    def settled(self, question: Hashable, make: Making) -> Any:
        """The same, for an answer that may well come out equal after a change: then what is made from it is kept too.

        `make` is given the project that the answer is about, maybe a changed one.
        """
        answer = self._made(question, make)
        self._compared.setdefault(question, _Compared(make))  # behind those that it was made from
        self.note(("settled", question))
        return answer

    def part(self, question: Hashable, key: Hashable, make: Making) -> Any:
        """What a settled answer, which is a mapping, has for one key, or `None`: who asks depends on that alone."""
        answer: Mapping[Hashable, Any] = self._made(question, make)
        compared = self._compared.setdefault(question, _Compared(make))
        if key not in compared.keys:
            self._compared[question] = _Compared(make, compared.keys | {key})
        self.note(("part", question, key))
        return answer.get(key)

    def _made(self, question: Hashable, make: Making) -> Any:
        found = self._find(question)
        if found is None:
            found = self._known[question] = self.traced(lambda: make(self.project))
        return found[0]

    def keeps(self, reads: frozenset[Read]) -> bool:
        """Whether what the base made from `reads` holds here as well."""
        return self._base is not None and self.changed.isdisjoint(reads)

    @property
    def takes_over(self) -> bool:
        """Whether there is a base, so that anything may hold here without being asked again."""
        return self._base is not None

    @property
    def changed(self) -> set[Read]:
        """What an answer of the base has to be free of to hold here."""
        if not self._has_compared and self._base is not None:
            self._has_compared = True
            self._compare(self._base)
        return self._changed

    def _compare(self, base: Answers) -> None:
        """Finds which of the base's settled answers are others here; those that others are made from come first."""
        for question, compared in list(base._compared.items()):
            known = base._find(question)
            if known is None or self._changed.isdisjoint(known[1]):
                continue
            before = known[0]
            try:
                after = self._made(question, compared.make)
            except Exception:  # whoever needs the answer is judged again, and says so
                after = _Raised()
            if after != before:
                self._changed.add(("settled", question))
            for key in compared.keys:
                if isinstance(after, _Raised) or after.get(key) != before.get(key):
                    self._changed.add(("part", question, key))

    def _find(self, question: Hashable) -> tuple[Any, frozenset[Read]] | None:
        found = self._known.get(question)
        if found is None and self._base is not None:
            found = self._base._find(question)
            if found is None or not self.keeps(found[1]):
                return None
            self._known[question] = found
        return found


class _Raised:
    """Stands for an answer that cannot be given; it is equal to none."""


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
