"""Layer 2: every code mutant that mutmut makes of the functions that `[tool.mutmut]` names, and who kills it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_actor_envs.gate.code_suppressions import (
    CodeSuppression,
    check_can_be_mutated,
    code_suppressions,
    lift,
    problems_of,
)
from pytest_actor_envs.gate.kill_recorder import EVERY_KILLER
from pytest_actor_envs.gate.mutmut_configuration import changed, check_files, narrowed, read_configuration
from pytest_actor_envs.gate.mutmut_diffs import Change, diffs_of
from pytest_actor_envs.gate.mutmut_process import (
    MutantNotFound,
    Progress,
    RunningMutmut,
    copied,
    mutmut_command,
    started_mutmut,
)
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
    with started_code_mutants(root, names, prepare) as running:
        return running.result(progress)


@contextlib.contextmanager
def started_code_mutants(
    root: Path, names: Sequence[str] | None, prepare: Callable[[Path], dict[str, str]] | None = None
) -> Generator[RunningCodeMutants, None, None]:
    """mutmut at work on what `run_code_mutants` describes, for something else to be done meanwhile.

    At the end mutmut is ended and the copy removed. Raises CodeMutantsNotConfigured, MutmutMissing, MutantNotFound.
    """
    check_can_run(root)
    with tempfile.TemporaryDirectory(prefix="actor-envs-gate-") as temporary:
        folder = copied(root, Path(temporary))
        variables = {TEMPORARY_FOLDERS: temporary, **({} if prepare is None else prepare(folder))}
        suppressions = code_suppressions(folder, _mutated_files(folder, names))
        lift(folder, suppressions)
        every_killer = {**os.environ, **variables}.get(EVERY_KILLER) == "1"
        with started_mutmut(folder, tuple(names or ()), variables) as mutmut:
            yield RunningCodeMutants(folder, mutmut, suppressions, is_whole=not names, every_killer=every_killer)


@dataclass(frozen=True, slots=True)
class RunningCodeMutants:
    """mutmut at work in the copy `folder`, on all mutants if it `is_whole`."""

    folder: Path
    mutmut: RunningMutmut
    suppressions: Sequence[CodeSuppression]
    is_whole: bool
    every_killer: bool

    def result(self, progress: Progress) -> CodeMutantsResult:
        """What mutmut has found when it ends, or when a KeyboardInterrupt ends it. Raises what `run_code_mutants` does."""
        try:
            self.mutmut.follow(progress)
        except KeyboardInterrupt:
            return self.interrupted()
        results = read_results(self.folder / "mutants")
        asked = results.mutants if self.is_whole else [one for one in results.mutants if one.status is not None]
        return self._judged(asked, results, self.is_whole)

    def interrupted(self) -> CodeMutantsResult:
        """Ends mutmut; what it has found by now, the other mutants only counted."""
        self.mutmut.end()
        results = read_results(self.folder / "mutants")
        seen = [mutant for mutant in results.mutants if mutant.status is not None]
        return replace(self._judged(seen, results, False), unknown=len(results.mutants) - len(seen))

    def _judged(self, mutants: Sequence[CodeMutant], results: Results, complete: bool) -> CodeMutantsResult:
        changes = diffs_of(self.folder, [(mutant.name, mutant.path) for mutant in mutants])
        return judged(mutants, changes, self.suppressions, results, complete, self.every_killer)


def check_can_run(root: Path) -> None:
    """Raises CodeMutantsNotConfigured, ConfigurationError or MutmutMissing where a project can have no code mutants."""
    configuration = read_configuration(root)
    check_files(root, configuration)
    check_can_be_mutated(root, configuration.mutated_files(root))
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
    pyproject.write_bytes(changed(pyproject.read_bytes().decode(), {"only_mutate": paths}).encode())
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
