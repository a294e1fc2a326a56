"""Judges one guard over a project, remembering nothing: its cases, their verdicts, and what is exempt."""

from __future__ import annotations

import traceback

from pytest_actor_envs.judgements import Case
from pytest_actor_envs.model import (
    Blocked,
    ConfigurationError,
    Finding,
    Guard,
    Location,
    Outcome,
    Place,
    Subject,
    Undecided,
    Verdict,
)
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.comments import comment_exemptions

NO_SUBJECT = "(no subject)"
ALL_SUBJECTS = "(all subjects)"


def find_cases(project: Project, guard: Guard) -> tuple[Case, ...]:
    """The guard's cases, sorted by name; one settled case where its subjects cannot be known or are none."""
    whole = Place(ALL_SUBJECTS, Location(project.config.leaf))
    try:
        subjects: list[Subject] = sorted(guard.subjects(project), key=lambda subject: subject.name)
    except Blocked as blocked:
        return (Case(guard, whole, Outcome(Verdict.BLOCKED, reason=str(blocked))),)
    except (Undecided, ConfigurationError) as undecided:
        return (Case(guard, whole, Outcome(Verdict.UNDECIDED, reason=str(undecided))),)
    except Exception:  # any bug of a guard is its own item's crash, so that the other guards still run
        return (Case(guard, whole, Outcome(Verdict.CRASHED, reason=traceback.format_exc())),)
    if not subjects:
        place = Place(NO_SUBJECT, Location(project.config.leaf))
        finding = Finding(
            place.location,
            "found no place to look at, so it proves nothing",
            (f"see what it looks for: actor-envs explain {guard.name}",),
        )
        return (Case(guard, place, Outcome(Verdict.BROKEN, (finding,))),)
    return tuple(Case(guard, subject) for subject in subjects)


def raw_outcome(project: Project, case: Case) -> Outcome:
    """The verdict of one case as if nothing were exempt."""
    findings: list[Finding] = []
    try:
        findings.extend(case.guard.check(project, case.subject))
    except Blocked as blocked:
        return Outcome(Verdict.BLOCKED, reason=str(blocked))
    except (Undecided, ConfigurationError) as undecided:
        return Outcome(Verdict.UNDECIDED, reason=str(undecided))
    except Exception:  # a crash is a verdict of its own: never a pass, never a kill
        return Outcome(Verdict.CRASHED, reason=traceback.format_exc())
    return Outcome(Verdict.BROKEN, tuple(dict.fromkeys(findings))) if findings else HOLDS


def exempted(project: Project, case: Case, outcome: Outcome) -> Outcome:
    """The verdict of one case with what the configuration and comments exempt left out."""
    if outcome.verdict in (Verdict.UNDECIDED, Verdict.BROKEN) and _is_ignored(project, case):
        return HOLDS
    if outcome.verdict is not Verdict.BROKEN:
        return outcome
    left = tuple(finding for finding in outcome.findings if not _has_comment(project, case.guard.name, finding))
    return Outcome(Verdict.BROKEN, left) if left else HOLDS


HOLDS = Outcome(Verdict.HOLDS)


def _is_ignored(project: Project, case: Case) -> bool:
    return any(
        exemption.guard == case.guard.name and exemption.subject == case.subject.name
        for exemption in project.config.ignore
    )


def _has_comment(project: Project, guard: str, finding: Finding) -> bool:
    path = finding.location.path
    if not project.tree.exists(path):
        return False
    exemptions = comment_exemptions(path, project.tree.read_bytes(path))
    return any(found.guard == guard and found.reason and finding.location.line in found.lines for found in exemptions)
