"""What a run of the gate came to, as frozen data, and the exit code that says it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_actor_envs.gate.matrix import GuardProof, guard_proofs
from pytest_actor_envs.gate.verdicts import Fate, MutantReport


class ExitCode(enum.IntEnum):
    """What the process says. Where several hold, the first of `NOT_PROVEN`, `TIMEOUT`, `NO_VERDICT`."""

    ALL_LIVE = 0
    NOT_PROVEN = 1
    USAGE = 2
    TIMEOUT = 3
    BASELINE_FAILS = 4
    NO_VERDICT = 5


@dataclass(frozen=True, slots=True)
class GateResult:
    """A finished or interrupted run.

    `guards` are the names that had to be proven; `unknown` counts the mutants that an interruption left without a
    verdict (0 where it came before there were any); `problems` are suppressions that cannot stand; `notes` say what was
    left out and why; `seconds` is the time that each part took. `idle_tests` are tests that reached code mutants and
    killed none. `is_part` says that not every mutant of the guards was looked at, so that a guard is not called dead for
    what was left out.
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
        fates = {report.fate for report in self.failures}
        if self.problems or fates & {Fate.SURVIVED, Fate.CRASHED, Fate.KILLED}:
            return ExitCode.NOT_PROVEN
        if Fate.TIMED_OUT in fates:
            return ExitCode.TIMEOUT
        if Fate.NO_VERDICT in fates or self.is_interrupted:
            return ExitCode.NO_VERDICT
        dead = [proof for proof in self.proofs if not proof.is_live and (proof.claimed or not self.is_part)]
        return ExitCode.NOT_PROVEN if dead else ExitCode.ALL_LIVE
