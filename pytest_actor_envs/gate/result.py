"""What a run of the gate came to, as frozen data, and the exit code that says it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_actor_envs.gate.matrix import GuardProof, guard_proofs
from pytest_actor_envs.gate.verdicts import Fate, MutantReport


class ExitCode(enum.IntEnum):
    """What the process says. Where several hold, `BASELINE_FAILS`, else the first of `NOT_PROVEN`, `TIMEOUT`, `NO_VERDICT`."""

    ALL_LIVE = 0
    NOT_PROVEN = 1
    USAGE = 2
    TIMEOUT = 3
    BASELINE_FAILS = 4
    NO_VERDICT = 5


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a layer came to no result, in words, and the exit code that says so."""

    text: str
    exit_code: ExitCode


@dataclass(frozen=True, slots=True)
class LayerResult:
    """What one layer came to: its part of a GateResult.

    `unknown` counts the mutants that an interruption left without a verdict: 0 where there were none by then, and
    where all had one.
    """

    reports: tuple[MutantReport, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    idle_tests: tuple[str, ...] = ()
    unknown: int = 0
    is_interrupted: bool = False
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class GateResult:
    """A finished or interrupted run.

    `guards` are the names that had to be proven; `unknown` counts the mutants that an interruption left without a
    verdict (0 where it came before there were any); `problems` are suppressions that cannot stand; `notes` say what was
    left out and why; `seconds` is the time that each part took. `idle_tests` are tests that reached code mutants and
    killed none. `is_part` says that not every mutant of the guards was looked at, so that a guard is not called dead for
    what was left out; `is_of_changes`, that only what changes can affect was, which may be nothing. `failure` is that of
    layer 2.
    """

    guards: tuple[str, ...]
    reports: tuple[MutantReport, ...]
    unknown: int = 0
    is_interrupted: bool = False
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] | None = None
    idle_tests: tuple[str, ...] = ()
    is_part: bool = False
    is_of_changes: bool = False
    failure: Failure | None = None

    @property
    def proofs(self) -> tuple[GuardProof, ...]:
        """How each guard stands."""
        return guard_proofs(self.guards, self.reports)

    @property
    def failures(self) -> tuple[MutantReport, ...]:
        """The mutants that prove nothing and are not suppressed."""
        return tuple(report for report in self.reports if not report.is_proof and report.fate is not Fate.SUPPRESSED)

    @property
    def exit_code(self) -> ExitCode:
        if self.failure is not None and self.failure.exit_code is ExitCode.BASELINE_FAILS:
            return ExitCode.BASELINE_FAILS
        fates = {report.fate for report in self.failures}
        if self.problems or fates & {Fate.SURVIVED, Fate.CRASHED, Fate.KILLED}:
            return ExitCode.NOT_PROVEN
        if Fate.TIMED_OUT in fates:
            return ExitCode.TIMEOUT
        if Fate.NO_VERDICT in fates or self.is_interrupted or self.failure is not None:
            return ExitCode.NO_VERDICT
        if any(self.is_dead(proof) for proof in self.proofs):
            return ExitCode.NOT_PROVEN
        return ExitCode.ALL_LIVE if self.reports or self.is_of_changes else ExitCode.NO_VERDICT

    def is_dead(self, proof: GuardProof) -> bool:
        """Whether a guard is not live; one that kills none of its mutants may kill those that were left out."""
        if self.is_of_changes and proof.killed + proof.suppressed == proof.claimed:
            return False
        return not proof.is_live and (proof.claimed > 0 or not self.is_part)
