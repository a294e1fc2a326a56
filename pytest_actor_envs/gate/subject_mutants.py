"""Layer 1: every guard against mutants of the project at hand, for each of its subjects."""

from __future__ import annotations

import difflib
import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_actor_envs.evaluation import Case, Evaluation, guards_for
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.model import ConfigurationError, Guard, Mutant, MutantDoesNotApply, Verdict
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.forks import run_in_fork

CHUNK = 8


@dataclass(frozen=True, slots=True)
class Claim:
    """One mutant and the guard that claims to kill it; `identity` is unique and stable between runs."""

    guard: str
    mutant: Mutant
    identity: str


class MutantsDoNotApply(Exception):
    """A guard's mutants cannot be made from this project; the argument is one line for each guard."""


def claims_of(project: Project, guards: Sequence[Guard]) -> list[Claim]:
    """The mutants of `guards` over a project. Raises MutantsDoNotApply with every guard that has none or a stale one."""
    claims, problems = [], []
    for guard in guards:
        try:
            mutants = list(guard.mutants(project))
        except MutantDoesNotApply as error:
            problems.append(f"{guard.name}: a mutant does not apply: {error}")
            continue
        if not mutants:
            problems.append(f"{guard.name}: it has no mutants, so nothing shows that it can fail")
        seen: dict[tuple[str, str], int] = {}
        for mutant in mutants:
            if all(_text(project, path) == text for path, text in mutant.files.items()):
                problems.append(f"{guard.name}: its mutant {mutant.shape} of {mutant.subject} changes nothing")
            key = (mutant.subject, mutant.shape)
            seen[key] = seen.get(key, 0) + 1
            number = f"#{seen[key]}" if seen[key] > 1 else ""
            claims.append(Claim(guard.name, mutant, f"{guard.name}/{mutant.subject}/{mutant.shape}{number}"))
    if problems:
        raise MutantsDoNotApply("\n".join(problems))
    return claims


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


def run_claims(project: Project, claims: Sequence[Claim], workers: int) -> Iterator[MutantReport]:
    """The report of each claim, in any order, as they come; `workers` processes share the work.

    All static guards look at every mutant. Those that run project code look at the mutants that one of them claims,
    since each look costs a process.
    """
    forked = Project(project.tree, project.config, project.code_root, run_in_fork)
    loaded = load_guards()
    guards = guards_for(forked, loaded)
    baseline = Evaluation(forked, guards)
    for case in baseline.all_cases():
        baseline.outcome(case)
    static = static_guards(forked, guards)
    context = multiprocessing.get_context("fork")
    job = _Job(forked, loaded, static)
    if workers <= 1:
        yield from map(job.report, claims)
        return
    with context.Pool(workers, initializer=_set_job, initargs=(job,)) as pool:
        yield from pool.imap_unordered(_report, claims, chunksize=CHUNK)


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


_JOB: list[_Job] = []


def _set_job(job: _Job) -> None:
    _JOB[:] = [job]


def _report(claim: Claim) -> MutantReport:
    return _JOB[0].report(claim)


def _is_subject(case: Case, mutant: Mutant) -> bool:
    return case.subject.name == mutant.subject


def _made(claim: Claim, fate: Fate, killers: tuple[str, ...], diff: str, reason: str) -> MutantReport:
    mutant = claim.mutant
    return MutantReport(1, claim.identity, claim.guard, mutant.subject, mutant.shape, fate, killers, diff, reason)


def _text(project: Project, path: str) -> str | None:
    return project.tree.read_text(path) if project.tree.exists(path) else None


def diff_of(project: Project, mutant: Mutant) -> str:
    """The mutant as a unified diff against the project."""
    parts: list[str] = []
    for path, text in mutant.files.items():
        before = (_text(project, path) or "").splitlines(keepends=True)
        after = (text or "").splitlines(keepends=True)
        parts.extend(
            difflib.unified_diff(before, after, f"a/{path}", f"b/{path}" if text is not None else "/dev/null", n=1)
        )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in parts)
