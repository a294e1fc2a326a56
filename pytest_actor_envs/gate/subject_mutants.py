"""Layer 1: every guard against mutants of the project at hand, for each of its subjects."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing

from pytest_actor_envs.evaluation import Case, Evaluation, guards_for
from pytest_actor_envs.gate.claims import Claim, diff_of
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from pytest_actor_envs.gate.workers import Lost, shared
from pytest_actor_envs.model import ConfigurationError, Guard, Mutant, Verdict
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
        return _judged(claim, evaluation, idle, diff)


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
    crashes, met = [], False
    for guard in evaluation.guards.values():
        if guard.name in idle:
            continue
        for case in evaluation.cases(guard):
            outcome = evaluation.outcome(case)
            aims = guard.name != claim.guard or _is_subject(case, claim.mutant)
            met = met or (guard.name == claim.guard and aims)
            if outcome.verdict is Verdict.BROKEN and aims and guard.name not in killers:
                killers.append(guard.name)
            elif outcome.verdict is Verdict.CRASHED and guard.name == claim.guard:
                crashes.append(outcome.reason)
    found = tuple(killers)
    if claim.guard in killers:
        return _made(claim, Fate.KILLED, found, diff, "")
    if crashes:
        return _made(claim, Fate.CRASHED, found, diff, f"{claim.guard} crashed: {crashes[0]}")
    reason = "" if met else f"{claim.guard} has no subject {claim.mutant.subject} in the mutant"
    return _made(claim, Fate.KILLED if killers else Fate.SURVIVED, found, diff, reason)


def _is_subject(case: Case, mutant: Mutant) -> bool:
    return case.subject.name == mutant.subject


def _made(claim: Claim, fate: Fate, killers: tuple[str, ...], diff: str, reason: str) -> MutantReport:
    mutant = claim.mutant
    return MutantReport(1, claim.identity, claim.guard, mutant.subject, mutant.shape, fate, killers, diff, reason)
