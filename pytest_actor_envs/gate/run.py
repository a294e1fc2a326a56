"""The gate from baseline to verdict: is every guard live?"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pytest_actor_envs.evaluation import guards_for
from pytest_actor_envs.gate.claims import Claim, claims_of
from pytest_actor_envs.gate.result import GateResult
from pytest_actor_envs.gate.subject_mutants import Bench, run_claims
from pytest_actor_envs.gate.suppressions import applied, suppressions_of
from pytest_actor_envs.gate.verdicts import MutantReport
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.model import ConfigurationError, Guard, Outcome, Verdict
from pytest_actor_envs.project import Project

LAYERS = (1,)
Progress = Callable[[str, int, int], None]
"""Called with what is counted, how many are done, and of how many."""


class BaselineFails(Exception):
    """The intact project is not green, so a mutant would prove nothing; `outcomes` are what is not."""

    def __init__(self, outcomes: Sequence[tuple[str, Outcome]]) -> None:
        super().__init__(f"{len(outcomes)} checks are not green on the intact project")
        self.outcomes = tuple(outcomes)


@dataclass(frozen=True, slots=True)
class GateOptions:
    """What to run. No `guards` means all; `jobs` processes share the work."""

    layers: tuple[int, ...] = LAYERS
    guards: tuple[str, ...] = ()
    jobs: int = 1


def chosen_guards(project: Project, names: Sequence[str]) -> tuple[Guard, ...]:
    """The guards that run on a project, or those of them whose names match. Raises ConfigurationError for no match."""
    guards = guards_for(project)
    unknown = [name for name in names if not any(fnmatchcase(guard.name, name) for guard in guards)]
    if unknown:
        off = {guard.name for guard in load_guards()} - {guard.name for guard in guards}
        why = "is off in this project" if unknown[0] in off else "is no guard"
        known = ", ".join(guard.name for guard in guards)
        raise ConfigurationError(f"gate: '{unknown[0]}' {why}\n    guards: {known}")
    return tuple(guard for guard in guards if not names or any(fnmatchcase(guard.name, name) for name in names))


def run_gate(project: Project, options: GateOptions, progress: Progress) -> GateResult:
    """Baseline, layers, verdict. A KeyboardInterrupt ends it early, with a result that says what is unknown.

    Raises BaselineFails, ConfigurationError, MutantsDoNotApply.
    """
    guards = chosen_guards(project, options.guards)
    started = time.monotonic()
    bench = Bench(project, load_guards())
    failing = [(name, outcome) for name, outcome in bench.outcomes if outcome.verdict is not Verdict.HOLDS]
    if failing:
        raise BaselineFails(failing)
    seconds = {"baseline": time.monotonic() - started}
    claims = claims_of(project, guards) if 1 in options.layers else []
    reports: list[MutantReport] = []
    unknown = 0
    try:
        started = time.monotonic()
        with closing(_layer_one(bench, claims, options.jobs, progress)) as running:
            reports.extend(running)
    except KeyboardInterrupt:
        unknown = len(claims) - len(reports)
    finally:
        seconds["layer 1"] = time.monotonic() - started
    paths = {path for claim in claims for path in claim.mutant.files}
    complete = not unknown and not options.guards
    marked, problems = applied(reports, suppressions_of(project, paths), complete)
    names = tuple(guard.name for guard in guards) if claims else ()
    ordered = sorted(marked, key=lambda report: (report.layer, report.identity))
    return GateResult(names, tuple(ordered), unknown, tuple(problems), (), seconds)


def _layer_one(
    bench: Bench, claims: Sequence[Claim], jobs: int, progress: Progress
) -> Generator[MutantReport, None, None]:
    progress("subject mutants", 0, len(claims))
    with closing(run_claims(bench, claims, jobs)) as running:
        for number, report in enumerate(running, start=1):
            yield report
            progress("subject mutants", number, len(claims))
