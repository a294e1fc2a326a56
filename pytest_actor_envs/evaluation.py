"""Evaluates guards over a project, and again over one that differs a little: what nothing of that touches stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from pytest_actor_envs.guards import active_families, active_guards, load_guards
from pytest_actor_envs.guards.exemptions import commented, exemption_guard
from pytest_actor_envs.judgements import Asked, Case, Found, Judged, Judgements, Origin
from pytest_actor_envs.judging import exempted, find_cases, raw_outcome
from pytest_actor_envs.model import Guard, Outcome, Verdict
from pytest_actor_envs.observed import OBSERVATION
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.answers import ANY_CHANGE, Answers

Answer = TypeVar("Answer")


class Evaluation:
    """The guards over one project; outcomes are remembered, since guards block each other.

    `base` is the evaluation of the project that this one is an overlay of: what holds there and was not made from
    anything that the overlay changes holds here, and is not looked at again.
    """

    def __init__(self, project: Project, guards: Sequence[Guard], base: Evaluation | None = None) -> None:
        self.project = project
        self.guards = {guard.name: guard for guard in guards}
        self._base = base
        self._known = Judgements()
        self._touched_by_read: dict[str, set[str]] | None = None
        self._touched: dict[str, set[str]] = {}
        self._running: set[str] = set()
        self._asked: list[set[Asked]] = []
        project.is_broken = self._is_broken

    def cases(self, guard: Guard) -> tuple[Case, ...]:
        """The guard's cases, sorted by name; one settled case where its subjects cannot be known or are none."""
        return self._found(guard).cases

    def unsettled(self, guard: Guard) -> list[Case]:
        """The guard's cases without those that hold because they do in the base, and nothing which differs touches them.

        Most of a project stands; this finds what does not without a look at every case.
        """
        cases = self._found(guard).cases
        if self._base is None or not self._answers.takes_over:
            return list(cases)
        names = set(self._touched_names(guard))
        for asked, subjects in self._base._known.by_asked(guard.name).items():
            if self._is_broken(*asked):
                names.update(subjects)
        return [case for case in cases if case.subject.name in names] if names else []

    def _touched_names(self, guard: Guard) -> set[str]:
        """The names of the guard's subjects for which the base says nothing, other guards' outcomes apart."""
        assert self._base is not None, "asked of an overlay only"
        if guard.name not in self._touched:
            if self._touched_by_read is None:
                self._touched_by_read = self._base._known.touched(self._answers.changed)
            names = {*self._touched_by_read.get(guard.name, ()), *self._base._known.never_standing(guard.name)}
            found, before = self._found(guard), self._base._found(guard)
            if found is not before:
                names.update(case.subject.name for case in found.cases if not before.has_same(case))
            self._touched[guard.name] = names
        return self._touched[guard.name]

    def _found(self, guard: Guard) -> Found:
        known = self._known.found
        if guard.name not in known:
            found = self._base._known.found.get(guard.name) if self._base else None
            if found is None or self._is_touched(found.origin):
                cases, origin = self._traced(lambda: find_cases(self.project, guard))
                found = Found(cases, {case.subject.name: case for case in cases}, origin)
            known[guard.name] = found
        return known[guard.name]

    def _is_touched(self, origin: Origin) -> bool:
        return not self._answers.keeps(origin.reads) or any(self._is_broken(*asked) for asked in origin.asked)

    def _traced(self, make: Callable[[], Answer]) -> tuple[Answer, Origin]:
        """What `make` gives, and what it was made from."""
        asked: set[Asked] = set()
        self._asked.append(asked)
        try:
            answer, reads = self._answers.traced(make)
        finally:
            self._asked.pop()
        return answer, Origin(reads, frozenset(asked))

    @property
    def _answers(self) -> Answers:
        return self.project.tree.answers

    def runs_code(self, guard: Guard) -> bool:
        """Whether the guard had project code run for its subjects or for one of the cases that were judged."""
        judged = (one.origin for (name, _), one in self._known.judged.items() if name == guard.name)
        return any(OBSERVATION in origin.reads for origin in (self._found(guard).origin, *judged))

    def outcome(self, case: Case) -> Outcome:
        """The verdict of one case, with exemptions applied."""
        if case.settled is not None:
            return case.settled
        key, judged = (case.guard.name, case.subject.name), self._known.judged
        if key not in judged:
            judged[key] = self._inherited(case) or self._judge(case)
        return judged[key].outcome

    def held(self, guard: Guard) -> tuple[Case, ...] | None:
        """The guard's cases where all of them were judged, and hold; else `None`. Judges nothing."""
        found = self._known.found.get(guard.name)
        cases = () if found is None else found.cases
        judged = [self._known.judged.get((guard.name, case.subject.name)) for case in cases]
        holds = all(one is not None and one.outcome.verdict is Verdict.HOLDS for one in judged)
        return cases if cases and holds else None

    def is_looked_at_again(self, case: Case) -> bool:
        """Whether a case of the base is touched by what differs from it, so that its outcome does not hold here."""
        if self._base is None or case.settled is not None:
            return True
        found = self._base._known.judged.get((case.guard.name, case.subject.name))
        return found is None or self._is_touched(found.origin)

    def _judge(self, case: Case) -> Judged:
        def judged() -> tuple[Outcome, bool]:
            raw = raw_outcome(self.project, case)
            left = exempted(self.project, case, raw)
            return left, left is raw

        (outcome, plain), origin = self._traced(judged)
        return Judged(outcome, origin, plain)

    def _inherited(self, case: Case) -> Judged | None:
        """What the base came to, where that holds here as well."""
        if self._base is None:
            return None
        found = self._base._known.judged.get((case.guard.name, case.subject.name))
        if found is None or not found.simply_holds or not self._base._found(case.guard).has_same(case):
            return None
        return None if self._is_touched(found.origin) else found

    def _is_broken(self, guard: str, subject: str | None) -> bool:
        if self._asked:
            self._asked[-1].add((guard, subject))
        if guard not in self.guards or guard in self._running:
            return False
        if self._certainly_holds(guard, subject):
            return False
        self._running.add(guard)
        try:
            return self._traced(lambda: self._has_broken_case(guard, subject))[0]
        finally:
            self._running.discard(guard)

    def _certainly_holds(self, guard: str, subject: str | None) -> bool:
        """Whether the base says so of a guard that asks no other: the quick answer to most questions."""
        if subject is None or self._base is None or not self._answers.takes_over or self._base._known.by_asked(guard):
            return False
        return subject not in self._touched_names(self.guards[guard])

    def _has_broken_case(self, guard: str, subject: str | None) -> bool:
        if subject is None:
            cases = self.unsettled(self.guards[guard])
        else:
            case = self._found(self.guards[guard]).by_name.get(subject)
            cases = [] if case is None else [case]
        return any(self.outcome(case).verdict is Verdict.BROKEN for case in cases)

    def raw_outcomes(self, guard: Guard) -> list[tuple[str, Outcome]]:
        """(subject, outcome as if nothing were exempt) of each of the guard's cases."""
        return [(case.subject.name, case.settled or raw_outcome(self.project, case)) for case in self.cases(guard)]

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
    has_exemptions = bool(project.config.ignore) or bool(project.once(commented))
    return (*guards, exemption_guard(guards, _raw)) if has_exemptions else guards
