"""The two layers of a run of the gate, at work at the same time, each from what is wanted of it to its own result."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_actor_envs.gate.claims import Claim
from pytest_actor_envs.gate.code_mutants import CodeMutantsResult, RunningCodeMutants, started_code_mutants
from pytest_actor_envs.gate.kept_session import note_likely_killers
from pytest_actor_envs.gate.mutmut_process import MutantNotFound, MutmutFailed, SuiteFails, SuiteNotCollected
from pytest_actor_envs.gate.result import ExitCode, Failure, LayerResult
from pytest_actor_envs.gate.subject_mutants import Bench, run_claims
from pytest_actor_envs.gate.verdicts import MutantReport

NOTHING_AFFECTED = "layer 2: no code mutant can be affected"
NO_CODE_MUTANTS_YET = "layer 2: interrupted before there were code mutants, so none was looked at"
SHOWN_NAMES = 3
Progress = Callable[[str, int, int], None]
"""Called with what is counted, how many are done, and of how many."""


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


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told how a run goes on. `hold` is called when nothing is left but to gather what was found."""

    progress: Progress
    hold: Callable[[], None]
    seconds: Stopwatch


@dataclass(frozen=True, slots=True)
class WantedClaims:
    """The subject mutants that a run looks at, the reports of those that are known already, and why others are not."""

    claims: Sequence[Claim]
    known: tuple[MutantReport, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WantedCode:
    """The code mutants that a run looks at: those with these `names`, `*` allowed, all for `None`.

    `likely_killers` are the tests that killed each mutant in an earlier run.
    """

    names: tuple[str, ...] | None
    likely_killers: Mapping[str, Sequence[str]]


def both_layers(
    root: Path, bench: Bench, jobs: int, claims: WantedClaims, code: WantedCode | None, watch: Watch
) -> tuple[LayerResult, LayerResult]:
    """The results of layer 1 and of layer 2, which does nothing for `None`. A KeyboardInterrupt ends both early.

    Raises CodeMutantsNotConfigured and MutmutMissing.
    """
    with ExitStack() as stack:
        running: RunningCodeMutants | LayerResult = LayerResult()
        if code is not None:
            stack.enter_context(watch.seconds.of("layer 2"))
            running = _started_layer_two(stack, root, code, jobs, watch)
        if isinstance(running, RunningCodeMutants) or not running.is_interrupted:
            with watch.seconds.of("layer 1"):
                first = _layer_one(bench, jobs, claims, watch)
        else:
            first = LayerResult(claims.known, unknown=len(claims.claims), is_interrupted=True)
        second = _followed_layer_two(running, first.is_interrupted, watch)
        watch.hold()
    return replace(first, notes=claims.notes), second


def _layer_one(bench: Bench, jobs: int, wanted: WantedClaims, watch: Watch) -> LayerResult:
    """Looks at the subject mutants; suppressions are not applied yet."""
    found: list[MutantReport] = []
    is_interrupted = False
    try:
        if wanted.claims:
            watch.progress("subject mutants", 0, len(wanted.claims))
            with closing(run_claims(bench, wanted.claims, jobs)) as running:
                for report in running:
                    found.append(report)
                    watch.progress("subject mutants", len(found), len(wanted.claims))
    except KeyboardInterrupt:
        watch.hold()
        is_interrupted = True
    left = len(wanted.claims) - len(found)
    return LayerResult((*wanted.known, *found), unknown=left, is_interrupted=is_interrupted)


def _started_layer_two(
    stack: ExitStack, root: Path, wanted: WantedCode, jobs: int, watch: Watch
) -> RunningCodeMutants | LayerResult:
    """Code mutants at work until the end of `stack`; else why there are none."""
    if wanted.names == ():
        return LayerResult(notes=(NOTHING_AFFECTED,))

    def prepare(folder: Path) -> dict[str, str]:
        return note_likely_killers(folder.with_name("likely-killers.json"), wanted.likely_killers)

    try:
        # One more, since one starts while another is taken note of.
        return stack.enter_context(started_code_mutants(root, wanted.names, prepare, jobs + 1))
    except MutantNotFound:
        return _not_found(wanted.names)
    except KeyboardInterrupt:
        watch.hold()
        return LayerResult(notes=(NO_CODE_MUTANTS_YET,), is_interrupted=True)


def _followed_layer_two(running: RunningCodeMutants | LayerResult, is_interrupted: bool, watch: Watch) -> LayerResult:
    """What comes out of the code mutants, or why nothing does; of an interrupted run, what there is by now."""
    if isinstance(running, LayerResult):
        return running
    try:
        if is_interrupted:
            return _as_layer(running.interrupted())
        result = running.result(lambda done, total: watch.progress("code mutants", done, total), watch.hold)
    except MutantNotFound:
        return _not_found(running.names)
    except (SuiteFails, SuiteNotCollected) as problem:
        return LayerResult(failure=Failure(str(problem), ExitCode.BASELINE_FAILS))
    except MutmutFailed as problem:
        return LayerResult(failure=Failure(str(problem), ExitCode.NO_VERDICT))
    return _as_layer(result)


def _as_layer(result: CodeMutantsResult) -> LayerResult:
    is_early = result.unknown == 0 and not result.reports
    return LayerResult(
        result.reports,
        result.problems,
        notes=(NO_CODE_MUTANTS_YET,) if is_early else (),
        idle_tests=result.idle_tests or (),
        unknown=result.unknown or 0,
        is_interrupted=result.unknown is not None,
    )


def _not_found(names: Sequence[str] | None) -> LayerResult:
    return LayerResult(notes=(f"layer 2: no code mutant is named {_some(names or ())}",))


def _some(names: Sequence[str]) -> str:
    """Names joined, the first of many only."""
    more = [f"{len(names) - SHOWN_NAMES} more"] if len(names) > SHOWN_NAMES else []
    return " or ".join([*names[:SHOWN_NAMES], *more])
