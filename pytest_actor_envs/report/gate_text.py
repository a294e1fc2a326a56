"""What the gate says on a terminal: a summary by guard, and every mutant that proved nothing, with its diff."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_actor_envs.gate.result import ExitCode, GateResult
from pytest_actor_envs.gate.verdicts import Fate, MutantReport

SHOWN_DIFFS = 20
SHORTEST_RUN = 0.05
"""Seconds."""
MEANING = {
    ExitCode.ALL_LIVE: "all live",
    ExitCode.NOT_PROVEN: "not proven: a mutant survived, or a guard is not live",
    ExitCode.TIMEOUT: "not proven: a mutant took too long",
    ExitCode.BASELINE_FAILS: "the baseline fails: tests that are red prove nothing",
    ExitCode.NO_VERDICT: "no verdict on some mutants, so nothing is proven",
}
NO_MUTANT = {
    ExitCode.ALL_LIVE: "no mutant to look at",
    ExitCode.NO_VERDICT: "no verdict: there was no mutant to look at, so nothing is proven",
}


def gate_text(result: GateResult) -> str:
    """The whole summary; the last line is the verdict."""
    parts = [_guard_table(result), _layer_lines(result), _failures(result), "\n".join(result.problems)]
    parts.append("\n".join(result.notes))
    if result.failure is not None:
        parts.append(result.failure.text)
    parts.append(f"gate: {_verdict(result)}")
    return "\n\n".join(part for part in parts if part)


def _verdict(result: GateResult) -> str:
    if result.reports or result.is_interrupted or result.failure is not None:
        return MEANING[result.exit_code]
    return NO_MUTANT.get(result.exit_code, MEANING[result.exit_code])


def _guard_table(result: GateResult) -> str:
    if not result.guards:
        return ""
    width = max(len(guard) for guard in ("GUARD", *result.guards))
    lines = [f"{'GUARD':{width}}  KILLED/CLAIMED  ALONE  ALSO"]
    for proof in result.proofs:
        count = f"{proof.killed}/{proof.claimed}"
        marks = ["not live"] if result.is_dead(proof) else []
        if proof.suppressed:
            marks.append(f"{proof.suppressed} suppressed")
        if proof.is_live and not proof.only_killer:
            marks.append("never the only killer")
        mark = f"  {', '.join(marks)}" if marks else ""
        lines.append(f"{proof.guard:{width}}  {count:>14}  {proof.only_killer:5}  {proof.also_killed:4}{mark}")
    return "\n".join(lines)


def _layer_lines(result: GateResult) -> str:
    lines = []
    for layer in sorted({report.layer for report in result.reports}):
        fates = Counter(report.fate for report in result.reports if report.layer == layer)
        total = sum(fates.values())
        counts = ", ".join(f"{fates[fate]} {fate.value}" for fate in Fate if fates[fate] or fate is Fate.KILLED)
        seconds = (result.seconds or {}).get(f"layer {layer}", 0.0)
        # Less says nothing of the pace; where all is known from before, nothing was looked at.
        pace = f" in {seconds:.1f} s, {total / seconds:.0f}/s" if seconds >= SHORTEST_RUN else ""
        lines.append(f"layer {layer}: {total} mutants: {counts}{pace}")
    if result.idle_tests:
        lines.append(
            f"{len(result.idle_tests)} tests reached code mutants and killed none of them (--report json lists them)"
        )
    if result.unknown:
        lines.append(f"interrupted: {result.unknown} mutants were not looked at; whether they die is unknown")
    return "\n".join(lines)


def _failures(result: GateResult) -> str:
    return "\n\n".join([*map(failure_text, result.failures[:SHOWN_DIFFS]), *_the_rest(result.failures[SHOWN_DIFFS:])])


def failure_text(report: MutantReport) -> str:
    """One mutant that proved nothing: what became of it, who noticed, and the diff."""
    if report.fate is Fate.KILLED:
        said = f"killed only by {', '.join(report.killers)}, not by {report.claimed_by}, which was meant to"
    else:
        said = report.fate.value + (f"; killed by {', '.join(report.killers)}" if report.killers else "")
    lines = [f"{report.identity}: {said}"]
    lines.extend(report.reason.rstrip().splitlines())
    lines.extend(report.diff.splitlines())
    return "\n    ".join(lines)


def _the_rest(failures: Sequence[MutantReport]) -> list[str]:
    if not failures:
        return []
    names = "\n    ".join(f"{report.identity}: {report.fate.value}" for report in failures)
    return [f"and {len(failures)} more (diffs: --report json)\n    {names}"]
