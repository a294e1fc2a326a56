"""Evaluates guards over a project: subjects, verdicts, blocking, exemptions."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pytest_actor_envs.guards import active_families, active_guards, load_guards
from pytest_actor_envs.guards.exemptions import commented, exemption_guard
from pytest_actor_envs.model import Blocked, Finding, Guard, Location, Outcome, Place, Subject, Undecided, Verdict
from pytest_actor_envs.project import OBSERVATION, Project
from pytest_actor_envs.sources.answers import ANY_CHANGE, Answers, Read
from pytest_actor_envs.sources.comments import comment_exemptions
from pytest_actor_envs.sources.table import Entry

NO_SUBJECT = "(no subject)"
ALL_SUBJECTS = "(all subjects)"
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Case:
    """One guard and one subject: one pytest item. `settled` is an outcome that is known without a check."""

    guard: Guard
    subject: Subject
    settled: Outcome | None = None

    @property
    def name(self) -> str:
        return self.subject.name.replace("::", ":")


@dataclass(frozen=True, slots=True)
class _Judged:
    """An outcome, what it was made from, the guards' outcomes among that, and whether nothing had to be exempted."""

    outcome: Outcome
    reads: frozenset[Read]
    others: frozenset[tuple[str, str | None]]
    plain: bool


@dataclass(frozen=True, slots=True)
class _Found:
    """A guard's cases, and what they were found from."""

    cases: tuple[Case, ...]
    by_name: Mapping[str, Case]
    reads: frozenset[Read]
    others: frozenset[tuple[str, str | None]]


class Evaluation:
    """The guards over one project; outcomes are remembered, since guards block each other.

    `base` is the evaluation of the project that this one is an overlay of: what holds there and was not made from
    anything that the overlay changes holds here, and is not looked at again.
    """

    def __init__(self, project: Project, guards: Sequence[Guard], base: Evaluation | None = None) -> None:
        self.project = project
        self.guards = {guard.name: guard for guard in guards}
        self._base = base
        self._judged: dict[tuple[str, str], _Judged] = {}
        self._cases: dict[str, _Found] = {}
        self._running: set[str] = set()
        self._asked: list[set[tuple[str, str | None]]] = []
        project.is_broken = self._is_broken

    def cases(self, guard: Guard) -> tuple[Case, ...]:
        """The guard's cases, sorted by name; one settled case where its subjects cannot be known or are none."""
        return self._found(guard).cases

    def _found(self, guard: Guard) -> _Found:
        if guard.name not in self._cases:
            found = self._base._cases.get(guard.name) if self._base else None
            if found is None or self._is_touched(found.reads, found.others):
                cases, reads, others = self._traced(lambda: self._find_cases(guard))
                found = _Found(cases, {case.subject.name: case for case in cases}, reads, others)
            self._cases[guard.name] = found
        return self._cases[guard.name]

    def _is_touched(self, reads: frozenset[Read], others: Iterable[tuple[str, str | None]]) -> bool:
        return not self._answers.keeps(reads) or any(self._is_broken(*other) for other in others)

    def _traced(self, make: Callable[[], Answer]) -> tuple[Answer, frozenset[Read], frozenset[tuple[str, str | None]]]:
        """What `make` gives, what it was made from, and the outcomes that it asked for."""
        others: set[tuple[str, str | None]] = set()
        self._asked.append(others)
        try:
            answer, reads = self._answers.traced(make)
        finally:
            self._asked.pop()
        return answer, reads, frozenset(others)

    @property
    def _answers(self) -> Answers:
        return self.project.tree.answers

    def runs_code(self, guard: Guard) -> bool:
        """Whether the guard had project code run for its subjects or for one of the cases that were judged."""
        judged = (found.reads for (name, _), found in self._judged.items() if name == guard.name)
        return any(OBSERVATION in reads for reads in (self._found(guard).reads, *judged))

    def _find_cases(self, guard: Guard) -> tuple[Case, ...]:
        whole = Place(ALL_SUBJECTS, Location(self.project.config.leaf))
        try:
            subjects: list[Subject] = sorted(guard.subjects(self.project), key=lambda subject: subject.name)
        except Blocked as blocked:
            return (Case(guard, whole, Outcome(Verdict.BLOCKED, reason=str(blocked))),)
        except Undecided as undecided:
            return (Case(guard, whole, Outcome(Verdict.UNDECIDED, reason=str(undecided))),)
        except Exception:  # any bug of a guard is its own item's crash, so that the other guards still run
            return (Case(guard, whole, Outcome(Verdict.CRASHED, reason=traceback.format_exc())),)
        if not subjects:
            place = Place(NO_SUBJECT, Location(self.project.config.leaf))
            finding = Finding(
                place.location,
                "found no place to look at, so it proves nothing",
                (f"see what it looks for: actor-envs explain {guard.name}",),
            )
            return (Case(guard, place, Outcome(Verdict.BROKEN, (finding,))),)
        return tuple(Case(guard, subject) for subject in subjects)

    def outcome(self, case: Case) -> Outcome:
        """The verdict of one case, with exemptions applied."""
        if case.settled is not None:
            return case.settled
        key = (case.guard.name, case.subject.name)
        if key not in self._judged:
            self._judged[key] = self._inherited(case) or self._judge(case)
        return self._judged[key].outcome

    def held(self, guard: Guard) -> tuple[Case, ...] | None:
        """The guard's cases where all of them were judged, and hold; else `None`. Judges nothing."""
        found = self._cases.get(guard.name)
        cases = () if found is None else found.cases
        judged = [self._judged.get((guard.name, case.subject.name)) for case in cases]
        holds = all(one is not None and one.outcome.verdict is Verdict.HOLDS for one in judged)
        return cases if cases and holds else None

    def is_looked_at_again(self, case: Case) -> bool:
        """Whether a case of the base is touched by what differs from it, so that its outcome does not hold here."""
        if self._base is None or case.settled is not None:
            return True
        found = self._base._judged.get((case.guard.name, case.subject.name))
        return found is None or self._is_touched(found.reads, found.others)

    def _judge(self, case: Case) -> _Judged:
        def judged() -> tuple[Outcome, bool]:
            raw = self.raw_outcome(case)
            exempted = self._exempted(case, raw)
            return exempted, exempted is raw

        (outcome, plain), reads, others = self._traced(judged)
        return _Judged(outcome, reads, others, plain)

    def _inherited(self, case: Case) -> _Judged | None:
        """What the base came to, where that holds here as well."""
        if self._base is None:
            return None
        found = self._base._judged.get((case.guard.name, case.subject.name))
        if found is None or not found.plain or found.outcome.verdict is not Verdict.HOLDS:
            return None
        if not self._base._has_same(case) or self._is_touched(found.reads, found.others):
            return None
        return found

    def _has_same(self, case: Case) -> bool:
        """Whether a case of an overlay's evaluation is one of this one's: its subject says the same, maybe elsewhere."""
        own = self._found(case.guard).by_name.get(case.subject.name)
        if own is None or own.settled is not None:
            return False
        if isinstance(own.subject, Entry) and isinstance(case.subject, Entry):
            return own.subject.meaning == case.subject.meaning
        return own.subject == case.subject

    def raw_outcome(self, case: Case) -> Outcome:
        """The verdict of one case as if nothing were exempt."""
        findings: list[Finding] = []
        try:
            findings.extend(case.guard.check(self.project, case.subject))
        except Blocked as blocked:
            return Outcome(Verdict.BLOCKED, reason=str(blocked))
        except Undecided as undecided:
            return Outcome(Verdict.UNDECIDED, reason=str(undecided))
        except Exception:  # a crash is a verdict of its own: never a pass, never a kill
            return Outcome(Verdict.CRASHED, reason=traceback.format_exc())
        return Outcome(Verdict.BROKEN, tuple(dict.fromkeys(findings))) if findings else Outcome(Verdict.HOLDS)

    def _exempted(self, case: Case, outcome: Outcome) -> Outcome:
        if outcome.verdict is Verdict.UNDECIDED and self._is_ignored(case):
            return Outcome(Verdict.HOLDS)
        if outcome.verdict is not Verdict.BROKEN:
            return outcome
        if self._is_ignored(case):
            return Outcome(Verdict.HOLDS)
        left = tuple(finding for finding in outcome.findings if not self._has_comment(case.guard.name, finding))
        return Outcome(Verdict.BROKEN, left) if left else Outcome(Verdict.HOLDS)

    def _is_ignored(self, case: Case) -> bool:
        return any(
            exemption.guard == case.guard.name and exemption.subject == case.subject.name
            for exemption in self.project.config.ignore
        )

    def _has_comment(self, guard: str, finding: Finding) -> bool:
        path = finding.location.path
        if not self.project.tree.exists(path):
            return False
        exemptions = comment_exemptions(path, self.project.tree.read_bytes(path))
        return any(
            found.guard == guard and found.reason and finding.location.line == found.line for found in exemptions
        )

    def _is_broken(self, guard: str, subject: str | None) -> bool:
        if self._asked:
            self._asked[-1].add((guard, subject))
        if guard not in self.guards or guard in self._running:
            return False
        self._running.add(guard)
        try:
            return self._traced(lambda: self._has_broken_case(guard, subject))[0]
        finally:
            self._running.discard(guard)

    def _has_broken_case(self, guard: str, subject: str | None) -> bool:
        found = self._found(self.guards[guard])
        if subject is None:
            return any(self.outcome(case).verdict is Verdict.BROKEN for case in found.cases)
        case = found.by_name.get(subject)
        return case is not None and self.outcome(case).verdict is Verdict.BROKEN

    def raw_outcomes(self, guard: Guard) -> list[tuple[str, Outcome]]:
        """(subject, outcome as if nothing were exempt) of each of the guard's cases."""
        return [(case.subject.name, case.settled or self.raw_outcome(case)) for case in self.cases(guard)]

    def all_cases(self) -> Iterable[Case]:
        """Every case of every guard, guards in the order given."""
        for guard in self.guards.values():
            yield from self.cases(guard)


def _raw(project: Project, guards: Sequence[Guard], name: str) -> list[tuple[str, Outcome]]:
    project.tree.answers.note(ANY_CHANGE)  # an exemption is judged by other guards' outcomes, whatever those look at
    evaluation = Evaluation(project, guards)
    return evaluation.raw_outcomes(evaluation.guards[name])


def guards_for(project: Project, loaded: Sequence[Guard] | None = None) -> tuple[Guard, ...]:
    """The guards that run on a project: of the families that it has a source for, and over its exemptions if it has any.

    `loaded` are all guards there are, by default those that `load_guards` finds. Raises ConfigurationError for a guard
    that cannot be registered.
    """
    guards = active_guards(project, load_guards(active_families(project)) if loaded is None else loaded)
    has_exemptions = project.config.ignore or commented(project)
    return (*guards, exemption_guard(guards, _raw)) if has_exemptions else guards
