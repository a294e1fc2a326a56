"""The gate from baseline to verdict: is every guard live?"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_actor_envs.evaluation import guards_for
from pytest_actor_envs.gate.changes import changes_since
from pytest_actor_envs.gate.claims import Claim, claims_of
from pytest_actor_envs.gate.code_mutants import RunningCodeMutants, check_can_run, started_code_mutants
from pytest_actor_envs.gate.kept_session import note_likely_killers
from pytest_actor_envs.gate.mutmut_configuration import MutmutTableMissing
from pytest_actor_envs.gate.mutmut_process import MutantNotFound
from pytest_actor_envs.gate.result import GateResult
from pytest_actor_envs.gate.scope import affected_claims, affected_code
from pytest_actor_envs.gate.store import Stored, load, save, state_of
from pytest_actor_envs.gate.subject_mutants import Bench, run_claims
from pytest_actor_envs.gate.suppressions import applied, suppressions_of
from pytest_actor_envs.gate.verdicts import LAYERS, Fate, MutantReport
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.model import ConfigurationError, Guard, Outcome, Verdict
from pytest_actor_envs.project import Project

Progress = Callable[[str, int, int], None]
"""Called with what is counted, how many are done, and of how many."""


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

    Raises BaselineFails, ConfigurationError, MutantsDoNotApply, and what `run_code_mutants` raises.
    """
    root = project.tree.root
    assert root is not None, "a project that the gate is asked for is a folder"
    guards = chosen_guards(project, options.guards)
    changes = None if options.since is None else changes_since(root, options.since)
    seconds, stored, found = Stopwatch(), load(root), Found()
    has_code_mutants = 2 in options.layers and _has_code_mutants(root, options, found)
    with seconds.of("baseline"):
        bench = Bench(project, load_guards())
        state = state_of(project, bench.guards)
    failing = [(name, outcome) for name, outcome in bench.outcomes if outcome.verdict is not Verdict.HOLDS]
    if failing:
        raise BaselineFails(failing)
    claims = claims_of(project, guards) if 1 in options.layers else []
    if changes is not None:
        known = stored.known(state)
        wanted = affected_claims(bench, claims, changes, stored.killed)
        found.reports.extend(known[claim.identity] for claim in wanted if claim.identity in known)
        found.notes.append(
            f"since {options.since}: {len(wanted)} of {len(claims)} subject mutants can be affected, "
            f"{len(found.reports)} of them are known from a run in this very state"
        )
        claims = [claim for claim in wanted if claim.identity not in known]
    is_part = bool(options.guards) or changes is not None
    with ExitStack() as stack:
        names: Sequence[str] | None = None
        if options.guards:
            names = [f"{guard.check.__module__}.*" for guard in guards]
        elif changes is not None and has_code_mutants:
            names = affected_code(bench, changes, stored.killed)
        code_mutants = None
        if has_code_mutants:
            stack.enter_context(seconds.of("layer 2"))
            code_mutants = _started_layer_two(stack, root, names, stored, found)
        with seconds.of("layer 1"):
            _run_layer_one(bench, claims, options.jobs, progress, found)
        suppressions = suppressions_of(project, {path for claim in claims for path in claim.mutant.files})
        marked, problems = applied(found.reports, suppressions, complete=not (found.is_interrupted or is_part))
        found.problems.extend(problems)
        if code_mutants is not None:
            marked.extend(_followed_layer_two(code_mutants, names, progress, found))
    try:
        save(root, state, [report for report in marked if report.fate in KEPT], stored)
    except OSError as error:
        found.notes.append(f"what was found is not remembered for --since: {error}")
    return GateResult(
        guards=tuple(guard.name for guard in guards) if 1 in options.layers else (),
        reports=tuple(sorted(marked, key=lambda report: (report.layer, report.identity))),
        unknown=found.unknown,
        is_interrupted=found.is_interrupted,
        problems=tuple(found.problems),
        notes=tuple(found.notes),
        seconds=seconds.laps,
        idle_tests=tuple(found.idle_tests),
        is_part=is_part or 1 not in options.layers,
    )


KEPT = frozenset({Fate.KILLED, Fate.SURVIVED, Fate.SUPPRESSED})


@dataclass(slots=True)
class Found:
    """What a run has come to so far."""

    reports: list[MutantReport] = field(default_factory=list)
    unknown: int = 0
    is_interrupted: bool = False
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    idle_tests: Sequence[str] = ()


class Stopwatch:
    """Seconds of each part of a run; parts may overlap."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}

    @contextmanager
    def of(self, part: str) -> Generator[None, None, None]:
        """Takes the time of a part."""
        started = time.monotonic()
        yield
        self.laps[part] = time.monotonic() - started


def _run_layer_one(bench: Bench, claims: Sequence[Claim], jobs: int, progress: Progress, found: Found) -> None:
    if not claims:
        return
    known = len(found.reports)
    progress("subject mutants", 0, len(claims))
    try:
        with closing(run_claims(bench, claims, jobs)) as running:
            for report in running:
                found.reports.append(report)
                progress("subject mutants", len(found.reports) - known, len(claims))
    except KeyboardInterrupt:
        found.unknown, found.is_interrupted = len(claims) - (len(found.reports) - known), True


def _has_code_mutants(root: Path, options: GateOptions, found: Found) -> bool:
    """Whether layer 2 can run; a project without `[tool.mutmut]` that is not asked for code mutants alone has none."""
    try:
        check_can_run(root)
    except MutmutTableMissing as problem:
        if options.layers == (2,):
            raise
        found.notes.append(f"layer 2 was left out: {problem}")
        return False
    return True


def _started_layer_two(
    stack: ExitStack, root: Path, names: Sequence[str] | None, stored: Stored, found: Found
) -> RunningCodeMutants | None:
    """Code mutants at work until the end of `stack`; none where nothing can be affected."""
    if names is not None and not names:
        found.notes.append("layer 2: no code mutant can be affected")
        return None

    def prepare(folder: Path) -> dict[str, str]:
        return note_likely_killers(folder.with_name("likely-killers.json"), stored.code_killers)

    try:
        return stack.enter_context(started_code_mutants(root, names, prepare))
    except MutantNotFound:
        found.notes.append(_not_found(names))
        return None


def _followed_layer_two(
    running: RunningCodeMutants, names: Sequence[str] | None, progress: Progress, found: Found
) -> Sequence[MutantReport]:
    """The reports of code mutants, of an interrupted run those that there are by now."""
    try:
        if found.is_interrupted:
            result = running.interrupted()
        else:
            result = running.result(lambda done, total: progress("code mutants", done, total))
    except MutantNotFound:
        found.notes.append(_not_found(names))
        return ()
    found.problems.extend(result.problems)
    found.idle_tests = result.idle_tests or ()
    if result.unknown is not None:
        found.unknown, found.is_interrupted = found.unknown + result.unknown, True
    return result.reports


def _not_found(names: Sequence[str] | None) -> str:
    return f"layer 2: no code mutant is named {' or '.join(names or ())}"
