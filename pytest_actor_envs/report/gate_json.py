"""The gate's result as JSON, from which other formats can be made; docs/gate.md has the schema."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from pytest_actor_envs.gate.matrix import kill_matrix
from pytest_actor_envs.gate.result import GateResult
from pytest_actor_envs.gate.verdicts import MutantReport

VERSION = 1


def gate_json(result: GateResult) -> str:
    """The document, indented, with a newline at the end."""
    document = {
        "version": VERSION,
        "exit_code": int(result.exit_code),
        "verdict": result.exit_code.name.lower().replace("_", " "),
        "totals": {f"layer {layer}": _totals(result, layer) for layer in (1, 2)},
        "unknown": result.unknown,
        "seconds": {name: round(seconds, 3) for name, seconds in (result.seconds or {}).items()},
        "failure": None if result.failure is None else result.failure.text,
        "problems": list(result.problems),
        "notes": list(result.notes),
        "guards": [
            {
                "guard": proof.guard,
                "live": proof.is_live,
                "claimed": proof.claimed,
                "killed": proof.killed,
                "suppressed": proof.suppressed,
                "only_killer": proof.only_killer,
                "also_killed": proof.also_killed,
            }
            for proof in result.proofs
        ],
        "is_part": result.is_part,
        "idle_tests": list(result.idle_tests),
        "kill_matrix": {killer: list(mutants) for killer, mutants in kill_matrix(result.reports).items()},
        "mutants": [_mutant(report) for report in result.reports],
    }
    return json.dumps(document, indent=2) + "\n"


def _totals(result: GateResult, layer: int) -> dict[str, int]:
    fates = Counter(report.fate.value for report in result.reports if report.layer == layer)
    return {"mutants": sum(fates.values()), **dict(sorted(fates.items()))}


def _mutant(report: MutantReport) -> dict[str, Any]:
    return {
        "identity": report.identity,
        "layer": report.layer,
        "claimed_by": report.claimed_by,
        "subject": report.subject,
        "shape": report.shape,
        "fate": report.fate.value,
        "killers": list(report.killers),
        "proof": report.is_proof,
        "reason": report.reason,
        "diff": report.diff,
    }
