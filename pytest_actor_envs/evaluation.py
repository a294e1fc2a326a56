"""Evaluates guards over a project: subjects, verdicts, blocking, exemptions."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_actor_envs.guards import active_families, active_guards, load_guards
from pytest_actor_envs.guards.exemptions import commented, exemption_guard
from pytest_actor_envs.model import Blocked, Finding, Guard, Location, Outcome, Place, Subject, Undecided, Verdict
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.comments import comment_exemptions

NO_SUBJECT = "(no subject)"
ALL_SUBJECTS = "(all subjects)"


@dataclass(frozen=True, slots=True)
class Case:
    """One guard and one subject: one pytest item. `settled` is an outcome that is known without a check."""

    guard: Guard
    subject: Subject
    settled: Outcome | None = None

    @property
    def name(self) -> str:
        return self.subject.name.replace("::", ":")


class Evaluation:
    """The guards over one project; outcomes are remembered, since guards block each other."""

    def __init__(self, project: Project, guards: Sequence[Guard]) -> None:
        self.project = project
        self.guards = {guard.name: guard for guard in guards}
        self._outcomes: dict[tuple[str, str], Outcome] = {}
        self._cases: dict[str, tuple[Case, ...]] = {}
        self._by_subject: dict[str, dict[str, list[Case]]] = {}
        self._running: set[str] = set()
        project.is_broken = self._is_broken

    def cases(self, guard: Guard) -> tuple[Case, ...]:
        """The guard's cases, sorted by name; one settled case where its subjects cannot be known or are none."""
        if guard.name not in self._cases:
            self._cases[guard.name] = self._find_cases(guard)
        return self._cases[guard.name]

    def _cases_of(self, guard: str, subject: str) -> Sequence[Case]:
        if guard not in self._by_subject:
            by_subject = self._by_subject[guard] = {}
            for case in self.cases(self.guards[guard]):
                by_subject.setdefault(case.subject.name, []).append(case)
        return self._by_subject[guard].get(subject, ())

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
        if key not in self._outcomes:
            self._outcomes[key] = self._exempted(case, self.raw_outcome(case))
        return self._outcomes[key]

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
        if guard not in self.guards or guard in self._running:
            return False
        self._running.add(guard)
        try:
            cases = self.cases(self.guards[guard]) if subject is None else self._cases_of(guard, subject)
            return any(self.outcome(case).verdict is Verdict.BROKEN for case in cases)
        finally:
            self._running.discard(guard)

    def raw_outcomes(self, guard: Guard) -> list[tuple[str, Outcome]]:
        """(subject, outcome as if nothing were exempt) of each of the guard's cases."""
        return [(case.subject.name, case.settled or self.raw_outcome(case)) for case in self.cases(guard)]

    def all_cases(self) -> Iterable[Case]:
        """Every case of every guard, guards in the order given."""
        for guard in self.guards.values():
            yield from self.cases(guard)


def _raw(project: Project, guards: Sequence[Guard], name: str) -> list[tuple[str, Outcome]]:
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
