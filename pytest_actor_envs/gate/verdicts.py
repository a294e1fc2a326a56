"""What became of one mutant, as frozen data; of both layers."""

from __future__ import annotations

import enum
from dataclasses import dataclass

LAYERS = (1, 2)
"""Subject mutants and code mutants."""


class Fate(enum.Enum):
    """Verdicts are kept apart: only `KILLED` proves anything, and each of the others needs a different mend.

    `SUPPRESSED` is a survivor that a comment at its line allows, with a reason.
    """

    KILLED = "killed"
    SURVIVED = "survived"
    SUPPRESSED = "suppressed"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    NO_VERDICT = "no verdict"


@dataclass(frozen=True, slots=True)
class MutantReport:
    """One mutant with its fate.

    `layer` is 1 (subject mutant) or 2 (code mutant). `claimed_by` is the guard that was meant to kill it, empty in
    layer 2. `killers` are names of guards, and in layer 2 also ids of tests. `diff` is a unified diff.
    """

    layer: int
    identity: str
    claimed_by: str
    subject: str
    shape: str
    fate: Fate
    killers: tuple[str, ...]
    diff: str
    reason: str = ""

    @property
    def is_proof(self) -> bool:
        """Whether the mutant died by the guard that it was made for (in layer 2: died)."""
        return self.fate is Fate.KILLED and (self.layer == 2 or self.claimed_by in self.killers)
