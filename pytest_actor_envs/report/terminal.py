"""Findings and verdicts as text for a terminal: data in, text out."""

from __future__ import annotations

from pytest_actor_envs.model import Finding, Outcome, Verdict


def finding_text(guard: str, finding: Finding) -> str:
    """A finding as a compiler would say it, and below it what to do."""
    lines = [f"{finding.location}: {guard}: {finding.message}"]
    lines.extend(f"    {line}" for line in finding.fix)
    lines.append(f"    more: actor-envs explain {guard}")
    return "\n".join(lines)


def outcome_text(guard: str, outcome: Outcome) -> str:
    """What explains a verdict that is not green."""
    if outcome.verdict is Verdict.BROKEN:
        return "\n".join(finding_text(guard, finding) for finding in outcome.findings)
    if outcome.verdict is Verdict.BLOCKED:
        return f"blocked by {outcome.reason}"
    if outcome.verdict is Verdict.UNDECIDED:
        return f"{guard}: undecided: {outcome.reason}"
    return f"{guard} crashed; this is a fault of the guard, not of the project\n{outcome.reason}"
