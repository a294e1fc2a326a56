"""Which code mutants `make gate-full` asks for, and the run of mutmut over those that have no verdict yet."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_actor_envs.gate.code_mutants import CodeMutantsResult, idle_tests, judged, result_of_all, result_of_some
from pytest_actor_envs.gate.code_suppressions import CodeSuppression
from pytest_actor_envs.gate.mutmut_diffs import Change, diffs_of
from pytest_actor_envs.gate.mutmut_process import MutantNotFound, Progress, run_mutmut
from pytest_actor_envs.gate.mutmut_results import CodeMutant, read_results
from tools.kept_state import Asking
from tools.mutant_sample import drawn

SECONDS_BETWEEN_REPORTS = 60.0


@dataclass(frozen=True, slots=True)
class Selection:
    """The mutants asked for; `words` says which: `300 of 23500 code mutants, drawn with seed 1`."""

    names: tuple[str, ...]
    words: str
    is_whole: bool = False
    is_drawn: bool = False


def selected(mutants: Sequence[CodeMutant], patterns: Sequence[str], sample: int | None, seed: int) -> Selection:
    """All mutants, those whose names fit a pattern, or `sample` of these.

    Raises MutantNotFound for a pattern that fits none, and SampleTooSmall where a sample cannot have one of each file.
    """
    unknown = [pattern for pattern in patterns if not any(fnmatchcase(m.name, pattern) for m in mutants)]
    if unknown:
        raise MutantNotFound(
            f"no code mutant is named {' or '.join(unknown)}\n"
            "    a name is like package.module.x_function__mutmut_1; * stands for anything"
        )
    fitting = [m for m in mutants if not patterns or any(fnmatchcase(m.name, pattern) for pattern in patterns)]
    named = f", named {' or '.join(patterns)}" if patterns else ""
    if sample is None:
        of = f" of {len(mutants)}" if patterns else ""
        return Selection(
            tuple(m.name for m in fitting), f"{len(fitting)}{of} code mutants{named}", is_whole=not patterns
        )
    by_file: dict[str, list[str]] = {}
    for mutant in fitting:
        by_file.setdefault(mutant.path, []).append(mutant.name)
    names = tuple(name for found in drawn(by_file, sample, seed).values() for name in found)
    words = f"{len(names)} of {len(fitting)} code mutants{named}, drawn with seed {seed}"
    return Selection(names, words, is_drawn=True)


def ask(
    project: Path,
    selection: Selection,
    suppressions: Sequence[CodeSuppression],
    asking: Asking,
    progress: Progress,
    show: Callable[[CodeMutantsResult], None],
) -> CodeMutantsResult:
    """Runs mutmut over the mutants of the selection that have no verdict yet; reports of all that have one.

    `asking` says how each is asked. `progress(done, of)` counts those of the selection. `show` gets what is known by then
    once a minute. A KeyboardInterrupt ends the run, with what it found. Raises SuiteNotCollected, SuiteFails, MutmutFailed.
    """
    shown_at = time.monotonic()
    diffs: dict[str, Change] = {}
    wanted = set(selection.names)
    mutants = read_results(project / "mutants").mutants
    missing = [mutant.name for mutant in mutants if mutant.status is None and mutant.name in wanted]
    known_before = sum(mutant.status is not None for mutant in mutants)

    def progress_and_show(done: int, of: int) -> None:
        nonlocal shown_at
        # mutmut counts all mutants that it knows, also those that it is not asked for.
        progress(len(wanted) - len(missing) + done - known_before, len(wanted))
        if time.monotonic() - shown_at > SECONDS_BETWEEN_REPORTS:
            show(known(project, selection, suppressions, asking.every_killer, diffs))
            shown_at = time.monotonic()

    if missing:
        names = () if selection.is_whole else missing
        with contextlib.suppress(KeyboardInterrupt):
            run_mutmut(project, names, asking.variables, progress_and_show)
    return known(project, selection, suppressions, asking.every_killer, diffs)


def known(
    project: Path,
    selection: Selection,
    suppressions: Sequence[CodeSuppression],
    every_killer: bool,
    diffs: dict[str, Change],
) -> CodeMutantsResult:
    """Reports of those mutants of the selection that have a verdict by now.

    `diffs` has those made before, and gets the new ones: those of twenty thousand take long.
    """
    results = read_results(project / "mutants")
    wanted = set(selection.names)
    mutants = [mutant for mutant in results.mutants if mutant.status is not None and mutant.name in wanted]
    complete = selection.is_whole and len(mutants) == len(wanted)
    diffs.update(diffs_of(project, [(mutant.name, mutant.path) for mutant in mutants if mutant.name not in diffs]))
    reports = judged(mutants, diffs, suppressions, results)
    if not complete:
        return result_of_some(reports, suppressions)
    return result_of_all(reports, suppressions, idle_tests(reports, results) if every_killer else None)
