"""What guards came to over a project and what each outcome was made from, to find what a change can touch."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pytest_actor_envs.model import Guard, Outcome, Subject, Verdict
from pytest_actor_envs.sources.answers import Read
from pytest_actor_envs.sources.table import Entry

Asked = tuple[str, str | None]
"""A guard, and one of its subjects or `None` for any: whether that is broken is what another outcome was made from."""


@dataclass(frozen=True, slots=True)
class Case:
    """One guard and one subject: one pytest item. `settled` is an outcome that is known without a check."""

    guard: Guard
    subject: Subject
    settled: Outcome | None = None

    @property
    def name(self) -> str:
        return self.subject.name.replace("::", ":")


class Origin(NamedTuple):
    """What something was made from: what was read, and which guards were asked whether they are broken."""

    reads: frozenset[Read]
    asked: frozenset[Asked]


@dataclass(frozen=True, slots=True)
class Judged:
    """An outcome, what it was made from, and whether nothing had to be exempted for it."""

    outcome: Outcome
    origin: Origin
    plain: bool

    @property
    def simply_holds(self) -> bool:
        """Whether it holds without an exemption."""
        return self.plain and self.outcome.verdict is Verdict.HOLDS


@dataclass(frozen=True, slots=True)
class Found:
    """A guard's cases, and what they were found from."""

    cases: tuple[Case, ...]
    by_name: Mapping[str, Case]
    origin: Origin

    def has_same(self, case: Case) -> bool:
        """Whether a case of another project is one of these: its subject says the same, maybe elsewhere."""
        own = self.by_name.get(case.subject.name)
        if own is None or own.settled is not None:
            return False
        if isinstance(own.subject, Entry) and isinstance(case.subject, Entry):
            return own.subject.meaning == case.subject.meaning
        return own.subject == case.subject


class Judgements:
    """The cases that were found and the outcomes that were judged, of one project."""

    def __init__(self) -> None:
        self.found: dict[str, Found] = {}
        self.judged: dict[tuple[str, str], Judged] = {}
        self._index: _Index | None = None

    def touched(self, changed: Collection[Read]) -> dict[str, set[str]]:
        """Guard -> names of its subjects whose outcome was made from something in `changed`."""
        found: dict[str, set[str]] = {}
        by_read = self._indexed().by_read
        for read in changed:
            for guard, subject in by_read.get(read, ()):
                found.setdefault(guard, set()).add(subject)
        return found

    def never_standing(self, guard: str) -> Collection[str]:
        """The names of a guard's subjects that do not simply hold, so that nothing follows for another project."""
        return self._indexed().weak.get(guard, ())

    def by_asked(self, guard: str) -> Mapping[Asked, Collection[str]]:
        """What a guard asked of others -> the names of its subjects that it asked it for."""
        return self._indexed().by_asked.get(guard, {})

    def _indexed(self) -> _Index:
        size = len(self.found), len(self.judged)  # both only grow
        if self._index is None or self._index.size != size:
            self._index = _Index(size, self)
        return self._index


class _Index:
    def __init__(self, size: tuple[int, int], of: Judgements) -> None:
        self.size = size
        self.by_read: dict[Read, list[tuple[str, str]]] = {}
        self.by_asked: dict[str, dict[Asked, list[str]]] = {}
        self.weak: dict[str, set[str]] = {}
        for (guard, subject), judged in of.judged.items():
            for read in judged.origin.reads:
                self.by_read.setdefault(read, []).append((guard, subject))
            for asked in judged.origin.asked:
                self.by_asked.setdefault(guard, {}).setdefault(asked, []).append(subject)
        for guard, found in of.found.items():
            self.weak[guard] = set(_not_standing(guard, found, of.judged))


def _not_standing(guard: str, found: Found, judged: Mapping[tuple[str, str], Judged]) -> Iterator[str]:
    for case in found.cases:
        one = judged.get((guard, case.subject.name))
        if case.settled is not None or one is None or not one.simply_holds:
            yield case.subject.name
