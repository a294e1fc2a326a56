"""Layer 1: every guard against mutants of the project at hand, for each of its subjects."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from pytest_actor_envs.evaluation import Case, Evaluation, guards_for
from pytest_actor_envs.gate.claims import Claim, diff_of
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from pytest_actor_envs.gate.workers import Lost, shared
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.model import ConfigurationError, Guard, Mutant, Verdict
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.forks import run_in_fork

OBSERVATIONS_IN_TIME = 4
"""A mutant may take as many times the limit of one observation of project code."""


def static_guards(project: Project, guards: Sequence[Guard]) -> frozenset[str]:
    """Names of the guards that look without running project code, found by watching them look."""
    names = set()
    for guard in guards:
        asked = False

        def watching(request: Mapping[str, object], time_limit: float) -> dict[str, object]:
            nonlocal asked
            asked = True
            return run_in_fork(request, time_limit)

        watched = Project(project.tree, project.config, project.code_root, watching)
        evaluation = Evaluation(watched, guards)
        for case in evaluation.cases(guard):
            evaluation.outcome(case)
            if asked:
                break
        if not asked:
            names.add(guard.name)
    return frozenset(names)


def run_claims(
    project: Project, claims: Sequence[Claim], workers: int, loaded: Sequence[Guard] | None = None
) -> Generator[MutantReport, None, None]:
    """The report of each claim, in any order, as they come; `workers` processes share the work.

    All static guards look at every mutant. Those that run project code look at the mutants that one of them claims,
    since each look costs a process. `loaded` are all guards there are, by default those that `load_guards` finds.
    """
    forked = Project(project.tree, project.config, project.code_root, run_in_fork)
    known = load_guards() if loaded is None else loaded
    guards = guards_for(forked, known)
    baseline = Evaluation(forked, guards)
    for case in baseline.all_cases():
        baseline.outcome(case)
    job = _Job(forked, known, static_guards(forked, guards))
    limit = OBSERVATIONS_IN_TIME * project.config.time_limit
    for claim, result in shared(job.report, claims, workers, limit):
        if isinstance(result, Lost):
            fate = Fate.TIMED_OUT if result.timed_out else Fate.NO_VERDICT
            yield _made(claim, fate, (), diff_of(project, claim.mutant), result.reason)
        else:
            yield result


@dataclass(frozen=True, slots=True)
class _Job:
    project: Project
    loaded: Sequence[Guard]
    static: frozenset[str]

    def report(self, claim: Claim) -> MutantReport:
        mutant = claim.mutant
        diff = diff_of(self.project, mutant)
        try:
            mutated = self.project.with_overlay(mutant.files)
        except ConfigurationError as error:
            return _made(claim, Fate.CRASHED, (), diff, f"the mutant is no valid configuration: {error}")
        evaluation = Evaluation(mutated, guards_for(mutated, self.loaded))
        killers, crashes, met = [], [], False
        for guard in evaluation.guards.values():
            if guard.name not in self.static and claim.guard in self.static:
                continue
            for case in evaluation.cases(guard):
                outcome = evaluation.outcome(case)
                aims = guard.name != claim.guard or _is_subject(case, mutant)
                met = met or (guard.name == claim.guard and aims)
                if outcome.verdict is Verdict.BROKEN and aims and guard.name not in killers:
                    killers.append(guard.name)
                elif outcome.verdict is Verdict.CRASHED:
                    crashes.append(f"{guard.name}: {outcome.reason}")
        if claim.guard in killers:
            return _made(claim, Fate.KILLED, tuple(killers), diff, "")
        own = [text for text in crashes if text.startswith(f"{claim.guard}:")]
        if own:
            return _made(claim, Fate.CRASHED, tuple(killers), diff, own[0])
        reason = "" if met else f"{claim.guard} has no subject {mutant.subject} in the mutant"
        return _made(claim, Fate.KILLED if killers else Fate.SURVIVED, tuple(killers), diff, reason)


def _is_subject(case: Case, mutant: Mutant) -> bool:
    return case.subject.name == mutant.subject


def _made(claim: Claim, fate: Fate, killers: tuple[str, ...], diff: str, reason: str) -> MutantReport:
    mutant = claim.mutant
    return MutantReport(1, claim.identity, claim.guard, mutant.subject, mutant.shape, fate, killers, diff, reason)
