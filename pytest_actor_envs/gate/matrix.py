"""The kill matrix, guard by mutant, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_actor_envs.gate.verdicts import Fate, MutantReport


@dataclass(frozen=True, slots=True)
class GuardProof:
    """How one guard stands: its own subject mutants, those it killed of them, and those that only it killed."""

    guard: str
    claimed: int
    killed: int
    only_killer: int
    also_killed: int
    suppressed: int = 0

    @property
    def is_live(self) -> bool:
        """A guard is live when it claims mutants and kills every one of them but those that are suppressed."""
        return self.killed > 0 and self.killed + self.suppressed == self.claimed


def guard_proofs(guards: Iterable[str], reports: Sequence[MutantReport]) -> tuple[GuardProof, ...]:
    """One proof for each guard, in the order given."""
    return tuple(
        GuardProof(
            guard,
            claimed=sum(report.claimed_by == guard for report in reports),
            killed=sum(report.claimed_by == guard and report.is_proof for report in reports),
            only_killer=sum(report.killers == (guard,) for report in reports),
            also_killed=sum(report.claimed_by != guard and guard in report.killers for report in reports),
            suppressed=sum(report.claimed_by == guard and report.fate is Fate.SUPPRESSED for report in reports),
        )
        for guard in guards
    )


def kill_matrix(reports: Sequence[MutantReport]) -> Mapping[str, tuple[str, ...]]:
    """Killer -> identities of the mutants that it killed, sorted."""
    matrix: dict[str, list[str]] = {}
    for report in reports:
        if report.fate is Fate.KILLED:
            for killer in report.killers:
                matrix.setdefault(killer, []).append(report.identity)
    return {killer: tuple(sorted(matrix[killer])) for killer in sorted(matrix)}
