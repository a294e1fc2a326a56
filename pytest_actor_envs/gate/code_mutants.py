"""Layer 2: every code mutant that mutmut makes of the functions that `[tool.mutmut]` names, and who kills it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_actor_envs.gate.code_suppressions import CodeSuppression, code_suppressions, lift, problems_of
from pytest_actor_envs.gate.kill_recorder import EVERYTHING
from pytest_actor_envs.gate.mutmut_configuration import changed, narrowed, read_configuration
from pytest_actor_envs.gate.mutmut_diffs import Change, diffs_of
from pytest_actor_envs.gate.mutmut_process import MutantNotFound, Progress, copied, mutmut_command, run_mutmut
from pytest_actor_envs.gate.mutmut_results import CodeMutant, Results, read_results
from pytest_actor_envs.gate.verdicts import Fate, MutantReport

NO_CHANGE = Change("", 1, "")
TEMPORARY_FOLDERS = "PYTEST_DEBUG_TEMPROOT"
"""pytest's variable for where tests get their folders: those of children that are killed go with the copy."""


@dataclass(frozen=True, slots=True)
class CodeMutantsResult:
    """All reports of a run, sorted by name, what is wrong with suppressions, and the tests that never killed.

    `idle_tests` is `None` where tests were left out once a mutant was dead: nobody knows what those would have killed.
    `unknown` counts the mutants that an interruption left without a verdict, `None` where nobody interrupted; they have
    no report.
    """

    reports: tuple[MutantReport, ...]
    problems: tuple[str, ...]
    idle_tests: tuple[str, ...] | None
    unknown: int | None = None


def run_code_mutants(
    root: Path,
    names: Sequence[str] | None,
    progress: Progress,
    prepare: Callable[[Path], dict[str, str]] | None = None,
) -> CodeMutantsResult:
    """Runs mutmut over a copy of the project at `root`: all mutants, or those whose names fit `names` (`*` allowed).

    `progress(done, of)` is called as mutmut counts. `prepare` may change the copy, and gives variables for the run.
    After a KeyboardInterrupt the mutants that mutmut did not come to are only counted. Raises CodeMutantsNotConfigured,
    MutmutMissing, SuiteNotCollected, SuiteFails, MutantNotFound, MutmutFailed.
    """
    check_can_run(root)
    with tempfile.TemporaryDirectory(prefix="actor-envs-gate-") as temporary:
        folder = copied(root, Path(temporary))
        variables = {TEMPORARY_FOLDERS: temporary, **({} if prepare is None else prepare(folder))}
        suppressions = code_suppressions(folder, _mutated_files(folder, names))
        lift(folder, suppressions)
        interrupted = False
        try:
            run_mutmut(folder, tuple(names or ()), variables, progress)
        except KeyboardInterrupt:
            interrupted = True
        results = read_results(folder / "mutants")
        seen = [mutant for mutant in results.mutants if mutant.status is not None]
        asked = seen if names or interrupted else results.mutants
        changes = diffs_of(folder, [(mutant.name, mutant.path) for mutant in asked])
    every_killer = {**os.environ, **variables}.get(EVERYTHING) == "1"
    found = judged(asked, changes, suppressions, results, not (names or interrupted), every_killer)
    return replace(found, unknown=len(results.mutants) - len(seen)) if interrupted else found


def check_can_run(root: Path) -> None:
    """Raises CodeMutantsNotConfigured or MutmutMissing where the project at `root` can have no code mutants."""
    read_configuration(root)
    mutmut_command()


def _mutated_files(folder: Path, names: Sequence[str] | None) -> tuple[str, ...]:
    """The files of the copy that are mutated: where mutants were asked for by name, those that can hold them."""
    configuration = read_configuration(folder)
    if not names:
        return configuration.mutated_files(folder)
    paths = narrowed(folder, configuration, names)
    if not paths:
        raise MutantNotFound(f"no code mutant is named {' or '.join(names)}: no file that is mutated has such a name")
    pyproject = folder / "pyproject.toml"
    pyproject.write_text(changed(pyproject.read_text(encoding="utf-8"), {"only_mutate": paths}), encoding="utf-8")
    return paths


def judged(
    mutants: Sequence[CodeMutant],
    changes: dict[str, Change],
    suppressions: Sequence[CodeSuppression],
    results: Results,
    complete: bool,
    every_killer: bool,
) -> CodeMutantsResult:
    """What follows from a run's results for these mutants; whether it was `complete`, and asked `every_killer`."""
    by_line = {(suppression.path, suppression.line): suppression for suppression in suppressions}
    used: list[CodeSuppression] = []
    reports = []
    for mutant in mutants:
        change = changes.get(mutant.name, NO_CHANGE)
        fate, reason = mutant.fate, mutant.reason
        suppression = by_line.get((mutant.path, change.line))
        if fate is Fate.SURVIVED and suppression is not None:
            used.append(suppression)
            fate, reason = Fate.SUPPRESSED, suppression.reason
        elif fate is Fate.SURVIVED and not reason:
            reason = f"reached by {', '.join(results.tests_of(mutant.name)[:5])}"
        place = f"{mutant.path}:{change.line}"
        reports.append(
            MutantReport(2, mutant.name, "", place, change.function, fate, mutant.killers, change.diff, reason)
        )
    idle = _idle_tests(reports, results) if complete and every_killer else None
    return CodeMutantsResult(tuple(reports), tuple(problems_of(suppressions, used, complete)), idle)


def _idle_tests(reports: Sequence[MutantReport], results: Results) -> tuple[str, ...]:
    killers = {killer for report in reports for killer in report.killers}
    return tuple(sorted({test for tests in results.reached_by.values() for test in tests} - killers))
