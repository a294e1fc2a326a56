"""Layer 2: every code mutant that mutmut makes of the functions that `[tool.mutmut]` names, and who kills it."""

from __future__ import annotations

import contextlib
import os
import tempfile
import tomllib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_actor_envs.gate.code_suppressions import (
    CodeSuppression,
    check_can_be_mutated,
    code_suppressions,
    lift,
    problems_of,
    stale,
)
from pytest_actor_envs.gate.kill_recorder import EVERY_KILLER, SECONDS, seconds_allowed
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
from pytest_actor_envs.gate.processor_time import LIMIT_OF_TIME
from pytest_actor_envs.gate.suppressions import too_many_suppressed
from pytest_actor_envs.gate.verdicts import Fate, MutantReport

TEMPORARY_FOLDERS = "PYTEST_DEBUG_TEMPROOT"
"""pytest's variable for where tests get their folders: those of children that are killed go with the copy."""


NO_LIMIT = 1e6
"""mutmut's `timeout_multiplier` by which its own limit of time never comes.

It ends a mutant by the number of its process, also when that has ended: after so many mutants the number is another
process's, of anybody.
"""
SECONDS_OF_ONE = "60"
"""Processor time for the tests of one mutant, instead of that limit: all tests together take a third of it."""


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


@contextlib.contextmanager
def started_code_mutants(
    root: Path,
    names: Sequence[str] | None,
    prepare: Callable[[Path], dict[str, str]] | None = None,
    at_once: int | None = None,
) -> Generator[RunningCodeMutants, None, None]:
    """mutmut at work over a copy of the project at `root`: on all mutants, or on those whose names fit `names` (`*` allowed).

    `prepare` may change the copy, and gives variables for the run, which looks at so many mutants `at_once`. At the end
    mutmut is ended and the copy removed. Raises CodeMutantsNotConfigured, ConfigurationError, MutmutMissing, MutantNotFound.
    """
    check_can_run(root)
    with tempfile.TemporaryDirectory(prefix="actor-envs-gate-") as temporary:
        folder = copied(root, Path(temporary))
        prepared = {} if prepare is None else prepare(folder)
        variables = {TEMPORARY_FOLDERS: temporary, **_limit_of_time(folder), **prepared}
        suppressions = code_suppressions(folder, _mutated_files(folder, names))
        lift(folder, suppressions)
        every_killer = {**os.environ, **variables}.get(EVERY_KILLER) == "1"
        with started_mutmut(folder, tuple(names or ()), variables, at_once) as mutmut:
            yield RunningCodeMutants(folder, mutmut, suppressions, tuple(names or ()), every_killer)


@dataclass(frozen=True, slots=True)
class RunningCodeMutants:
    """mutmut at work in the copy `folder`, on the mutants with these `names`, on all if there are none."""

    folder: Path
    mutmut: RunningMutmut
    suppressions: Sequence[CodeSuppression]
    names: tuple[str, ...]
    every_killer: bool

    def result(self, progress: Progress, hold: Callable[[], None] = lambda: None) -> CodeMutantsResult:
        """What mutmut has found when it ends, or when a KeyboardInterrupt ends it; `hold` is called before that is read.

        Raises SuiteNotCollected, SuiteFails, MutantNotFound, MutmutFailed.
        """
        try:
            self.mutmut.follow(progress)
            hold()
        except KeyboardInterrupt:
            hold()
            return self.interrupted()
        results = read_results(self.folder / "mutants")
        return self._judged(self._asked(results), results, is_complete=not self.names)

    def interrupted(self) -> CodeMutantsResult:
        """Ends mutmut; what it has found by now, the other mutants only counted. Raises MutmutFailed."""
        self.mutmut.end()
        results = read_results(self.folder / "mutants")
        asked = self._asked(results)
        seen = [mutant for mutant in asked if mutant.status is not None]
        if seen and len(seen) == len(asked):  # the interruption came too late to take anything away
            return self._judged(seen, results, is_complete=not self.names)
        return replace(self._judged(seen, results, is_complete=False), unknown=len(asked) - len(seen))

    def _asked(self, results: Results) -> list[CodeMutant]:
        """The mutants that were asked for; mutmut makes all those of a file.

        One that was not asked all tests, since its time was over, is no survivor.
        """
        return [
            replace(mutant, status=LIMIT_OF_TIME) if mutant.has_unasked_tests else mutant
            for mutant in results.mutants
            if not self.names or any(fnmatchcase(mutant.name, name) for name in self.names)
        ]

    def _judged(self, mutants: Sequence[CodeMutant], results: Results, is_complete: bool) -> CodeMutantsResult:
        changes = diffs_of(self.folder, [(mutant.name, mutant.path) for mutant in mutants])
        reports = judged(mutants, changes, self.suppressions, results)
        if not is_complete:
            return result_of_some(reports, self.suppressions)
        return result_of_all(reports, self.suppressions, idle_tests(reports, results) if self.every_killer else None)


def check_can_run(root: Path) -> None:
    """Raises CodeMutantsNotConfigured, ConfigurationError or MutmutMissing where a project can have no code mutants."""
    configuration = read_configuration(root)
    check_files(root, configuration)
    check_can_be_mutated(root, configuration.mutated_files(root))
    mutmut_command()


def _limit_of_time(folder: Path) -> dict[str, str]:
    """Takes mutmut's own limit of time away from the copy, unless the project sets it; the variable with ours.

    Raises ConfigurationError where the variable is set to what is no limit.
    """
    seconds_allowed(os.environ)
    pyproject = folder / "pyproject.toml"
    text = pyproject.read_bytes().decode()
    if not {"timeout_multiplier", "timeout_constant"}.isdisjoint(tomllib.loads(text)["tool"]["mutmut"]):
        return {}
    pyproject.write_bytes(changed(text, {"timeout_multiplier": NO_LIMIT}).encode())
    return {SECONDS: os.environ.get(SECONDS, SECONDS_OF_ONE)}


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
    changes: Mapping[str, Change],
    suppressions: Sequence[CodeSuppression],
    results: Results,
) -> tuple[MutantReport, ...]:
    """The reports of these mutants of a run, survivors that a comment at their line lets be marked so."""
    by_line = {(suppression.path, suppression.line): suppression for suppression in suppressions}
    reports = []
    for mutant in mutants:
        change = changes[mutant.name]
        fate, reason = mutant.fate, mutant.reason
        suppression = by_line.get((mutant.path, change.line))
        if fate is Fate.SURVIVED and suppression is not None:
            fate, reason = Fate.SUPPRESSED, suppression.reason
        elif fate is Fate.SURVIVED and not reason:
            reason = f"reached by {', '.join(results.tests_of(mutant.name)[:5])}"
        place = f"{mutant.path}:{change.line}"
        reports.append(
            MutantReport(2, mutant.name, "", place, change.function, fate, mutant.killers, change.diff, reason)
        )
    return tuple(reports)


def result_of_some(reports: tuple[MutantReport, ...], suppressions: Sequence[CodeSuppression]) -> CodeMutantsResult:
    """What the reports of some mutants say; only those of all can tell whether a suppression is stale."""
    return CodeMutantsResult(reports, tuple(problems_of(suppressions)), None)


def result_of_all(
    reports: tuple[MutantReport, ...], suppressions: Sequence[CodeSuppression], idle: tuple[str, ...] | None
) -> CodeMutantsResult:
    """What the reports of all mutants say; `idle` are the `idle_tests`, `None` where not every killer was asked for."""
    needed = {report.subject for report in reports if report.fate is Fate.SUPPRESSED}
    problems = (
        *problems_of(suppressions),
        *stale(suppressions, needed),
        *too_many_suppressed(reports, "kill some of them: write a test that sees what they change"),
    )
    return CodeMutantsResult(reports, problems, idle)


def idle_tests(reports: Sequence[MutantReport], results: Results) -> tuple[str, ...]:
    """The tests that reached mutants and killed none, sorted."""
    killers = {killer for report in reports for killer in report.killers}
    return tuple(sorted({test for tests in results.reached_by.values() for test in tests} - killers))
