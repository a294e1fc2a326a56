"""The gate from baseline to verdict: is every guard live?"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_actor_envs.evaluation import guards_for
from pytest_actor_envs.gate.changes import Changes, changes_since
from pytest_actor_envs.gate.claims import claims_of
from pytest_actor_envs.gate.code_mutants import check_can_run
from pytest_actor_envs.gate.layers import Progress, Stopwatch, WantedClaims, WantedCode, Watch, both_layers
from pytest_actor_envs.gate.mutmut_configuration import MutmutTableMissing
from pytest_actor_envs.gate.result import GateResult, LayerResult
from pytest_actor_envs.gate.scope import affected_claims, affected_code
from pytest_actor_envs.gate.store import Stored, load, save, state_of
from pytest_actor_envs.gate.subject_mutants import Bench
from pytest_actor_envs.gate.suppressions import applied, suppressions_of
from pytest_actor_envs.gate.verdicts import LAYERS, Fate, MutantReport
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.model import ConfigurationError, Guard, Outcome, Verdict
from pytest_actor_envs.project import Project


class BaselineFails(Exception):
    """The intact project is not green, so a mutant would prove nothing; `outcomes` are what is not."""

    def __init__(self, outcomes: Sequence[tuple[str, Outcome]]) -> None:
        super().__init__(f"{len(outcomes)} checks are not green on the intact project")
        self.outcomes = tuple(outcomes)


@dataclass(frozen=True, slots=True)
class GateOptions:
    """What to run. No `guards` means all; `jobs` processes share the work; `since` names a commit to look at changes from."""

    layers: tuple[int, ...] = LAYERS
    guards: tuple[str, ...] = ()
    jobs: int = 1
    since: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether every subject mutant is looked at."""
        return 1 in self.layers and not self.guards and self.since is None


def chosen_guards(project: Project, names: Sequence[str]) -> tuple[Guard, ...]:
    """The guards that run on a project, or those of them whose names match. Raises ConfigurationError for no match."""
    guards = guards_for(project)
    unknown = [name for name in names if not any(fnmatchcase(guard.name, name) for guard in guards)]
    if unknown:
        known = [guard.name for guard in guards]
        off = {guard.name for guard in load_guards()}.difference(known)
        why = "is off in this project" if any(fnmatchcase(name, unknown[0]) for name in off) else "is no guard"
        close = difflib.get_close_matches(unknown[0], known, n=1)
        advice = f"did you mean '{close[0]}'?   " if close else ""
        raise ConfigurationError(f"gate: '{unknown[0]}' {why}\n    {advice}guards: {', '.join(known)}")
    return tuple(guard for guard in guards if not names or any(fnmatchcase(guard.name, name) for name in names))


@dataclass(frozen=True, slots=True)
class Start:
    """What a run starts from: the intact project, judged, the guards that it is about, and what is known by then.

    `changes` are those that it is limited to, if it is.
    """

    bench: Bench
    guards: tuple[Guard, ...]
    changes: Changes | None
    stored: Stored
    state: str


def run_gate(
    project: Project, options: GateOptions, progress: Progress, hold: Callable[[], None] = lambda: None
) -> GateResult:
    """Baseline, layers, verdict. A KeyboardInterrupt ends it early, with a result that says what is unknown.

    `hold` is called when nothing is left but to gather what was found: a KeyboardInterrupt would lose that from then on.
    Raises BaselineFails, ConfigurationError, MutantsDoNotApply, CodeMutantsNotConfigured, MutmutMissing.
    """
    root = project.tree.root
    assert root is not None, "a project that the gate is asked for is a folder"
    guards = chosen_guards(project, options.guards)
    changes = None if options.since is None else changes_since(root, options.since)
    seconds, stored = Stopwatch(), load(root)
    left_out = _layer_two_left_out(root, options)
    with seconds.of("baseline"):
        bench = Bench(project, load_guards())
        start = Start(bench, guards, changes, stored, state_of(project, bench.guards))
    failing = [(name, outcome) for name, outcome in bench.outcomes if outcome.verdict is not Verdict.HOLDS]
    if failing:
        raise BaselineFails(failing)
    claims = _wanted_claims(start, options)
    code = _wanted_code(start, options) if 2 in options.layers and not left_out else None
    first, second = both_layers(root, bench, options.jobs, claims, code, Watch(progress, hold, seconds))
    first = _with_suppressions(project, first, claims, options.is_whole and not first.is_interrupted)
    reports = tuple(sorted((*first.reports, *second.reports), key=lambda report: (report.layer, report.identity)))
    return GateResult(
        guards=tuple(guard.name for guard in guards) if 1 in options.layers else (),
        reports=reports,
        unknown=first.unknown + second.unknown,
        is_interrupted=first.unknown > 0 or second.is_interrupted,
        problems=(*first.problems, *second.problems),
        notes=(*left_out, *first.notes, *second.notes, *_remembered(root, start, reports)),
        seconds=seconds.laps,
        idle_tests=second.idle_tests,
        is_part=not options.is_whole,
        is_of_changes=changes is not None,
        failure=second.failure,
    )


def _layer_two_left_out(root: Path, options: GateOptions) -> tuple[str, ...]:
    """Why layer 2 cannot run, if so: a project that configures no code mutants has none.

    Raises CodeMutantsNotConfigured where it is asked for them alone, MutmutMissing.
    """
    if 2 not in options.layers:
        return ()
    try:
        check_can_run(root)
    except MutmutTableMissing as problem:
        if options.layers == (2,):
            raise
        return (f"layer 2 was left out: {problem}",)
    return ()


def _wanted_claims(start: Start, options: GateOptions) -> WantedClaims:
    """The subject mutants of the guards, or those of them that the changes can affect. Raises MutantsDoNotApply."""
    claims = claims_of(start.bench.project, start.guards) if 1 in options.layers else []
    if start.changes is None or not claims:
        return WantedClaims(claims)
    known = start.stored.known(start.state)
    affected = affected_claims(start.bench, claims, start.changes, start.stored.killed)
    reports = tuple(known[claim.identity] for claim in affected if claim.identity in known)
    note = (
        f"since {options.since}: {len(affected)} of {len(claims)} subject mutants can be affected, "
        f"{len(reports)} of them are known from a run in this very state"
    )
    return WantedClaims([claim for claim in affected if claim.identity not in known], reports, (note,))


def _wanted_code(start: Start, options: GateOptions) -> WantedCode:
    """The code mutants of the guards' modules where guards were chosen, of the changes where it is limited to some."""
    modules = [f"{guard.check.__module__}.*" for guard in start.guards] if options.guards else None
    affected = None if start.changes is None else affected_code(start.bench, start.changes, start.stored.killed)
    if modules is None or affected is None:
        names = affected if modules is None else modules
    else:
        names = [name for name in affected if any(fnmatchcase(name, module) for module in modules)]
    return WantedCode(None if names is None else tuple(names), start.stored.code_killers)


def _with_suppressions(project: Project, found: LayerResult, wanted: WantedClaims, is_complete: bool) -> LayerResult:
    """Layer 1 with its suppressions: survivors that may survive are marked so, and what is wrong with the comments."""
    touched = (path for claim in wanted.claims for path in claim.mutant.files)
    paths = project.tree.files() if is_complete else touched  # only the whole can tell a comment that nothing needs
    marked, problems = applied(found.reports, suppressions_of(project, paths), is_complete)
    return replace(found, reports=tuple(marked), problems=tuple(problems))


KEPT = frozenset({Fate.KILLED, Fate.SURVIVED, Fate.SUPPRESSED})


def _remembered(root: Path, start: Start, reports: Sequence[MutantReport]) -> tuple[str, ...]:
    """Keeps the verdicts for the next run; why that cannot be done, if so."""
    try:
        save(root, start.state, [report for report in reports if report.fate in KEPT], start.stored)
    except OSError as error:
        return (f"what was found is not remembered for --since: {error}",)
    return ()
