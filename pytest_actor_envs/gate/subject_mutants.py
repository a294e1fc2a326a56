"""Layer 1: every guard against mutants of the project at hand, for each of its subjects."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing

from pytest_actor_envs.evaluation import Evaluation, guards_for
from pytest_actor_envs.gate.claims import Claim, diff_of
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from pytest_actor_envs.gate.workers import Lost, shared
from pytest_actor_envs.judgements import Case
from pytest_actor_envs.model import ConfigurationError, Guard, Verdict
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.runtime import ChildRunner

OBSERVATIONS_IN_TIME = 4
"""A mutant may take as many times the limit of one observation of project code."""


class Bench:
    """The intact project, judged, for mutants of it to be judged against; what a mutant cannot touch is not judged again."""

    def __init__(self, project: Project, loaded: Sequence[Guard]) -> None:
        self.project = Project(project.tree, project.config, project.code_root, ChildRunner())
        self.loaded = loaded
        self.guards = guards_for(self.project, loaded)
        self.baseline = Evaluation(self.project, self.guards)
        self.outcomes = [(case.guard.name, self.baseline.outcome(case)) for case in self.baseline.all_cases()]
        self.behavioural = frozenset(guard.name for guard in self.guards if self.baseline.runs_code(guard))

    def report(self, claim: Claim) -> MutantReport:
        """What becomes of a mutant: who kills it, and whether whoever claims it does.

        Guards that have project code run look at what one of them claims: each look costs a process.
        """
        diff = diff_of(self.project, claim.mutant)
        try:
            mutated = self.project.with_overlay(claim.mutant.files)
            evaluation = Evaluation(mutated, guards_for(mutated, self.loaded), self.baseline)
        except ConfigurationError as error:
            return _made(claim, Fate.CRASHED, (), diff, f"the mutant is no valid configuration: {error}")
        idle = frozenset() if claim.guard in self.behavioural else self.behavioural
        try:
            return _judged(claim, evaluation, idle, diff)
        finally:
            mutated.release()


def run_claims(bench: Bench, claims: Sequence[Claim], workers: int) -> Generator[MutantReport, None, None]:
    """The report of each claim, in any order, as they come; `workers` processes share the work."""
    limit = OBSERVATIONS_IN_TIME * bench.project.config.time_limit
    with closing(shared(bench.report, claims, workers, limit)) as running:
        for claim, result in running:
            if isinstance(result, Lost):
                fate = Fate.TIMED_OUT if result.timed_out else Fate.NO_VERDICT
                yield _made(claim, fate, (), diff_of(bench.project, claim.mutant), result.reason)
            else:
                yield result


def _judged(claim: Claim, evaluation: Evaluation, idle: frozenset[str], diff: str) -> MutantReport:
    killers: list[str] = []
    crashes: list[str] = []
    for guard in evaluation.guards.values():
        if guard.name in idle:
            continue
        is_own = guard.name == claim.guard
        outcomes = ((case, evaluation.outcome(case)) for case in evaluation.unsettled(guard))
        if any(one.verdict is Verdict.BROKEN and (not is_own or _is_subject(case, claim)) for case, one in outcomes):
            killers.append(guard.name)
        elif is_own:
            judged = (evaluation.outcome(case) for case in evaluation.unsettled(guard))
            crashes.extend(outcome.reason for outcome in judged if outcome.verdict is Verdict.CRASHED)
    found = tuple(killers)
    if claim.guard in killers:
        return _made(claim, Fate.KILLED, found, diff, "")
    if crashes:
        return _made(claim, Fate.CRASHED, found, diff, f"{claim.guard} crashed: {crashes[0]}")
    reason = (
        "" if _has_subject(evaluation, claim) else f"{claim.guard} has no subject {claim.mutant.subject} in the mutant"
    )
    return _made(claim, Fate.KILLED if killers else Fate.SURVIVED, found, diff, reason)


def _has_subject(evaluation: Evaluation, claim: Claim) -> bool:
    guard = evaluation.guards.get(claim.guard)
    return guard is not None and any(_is_subject(case, claim) for case in evaluation.cases(guard))


def _is_subject(case: Case, claim: Claim) -> bool:
    return case.subject.name == claim.mutant.subject


def _made(claim: Claim, fate: Fate, killers: tuple[str, ...], diff: str, reason: str) -> MutantReport:
    mutant = claim.mutant
    return MutantReport(1, claim.identity, claim.guard, mutant.subject, mutant.shape, fate, killers, diff, reason)
