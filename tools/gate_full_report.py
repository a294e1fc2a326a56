"""What `make gate-full` says: each mutant that was not killed, the share by file, and in all."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence

from pytest_actor_envs.gate.code_mutants import CodeMutantsResult
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from tools.asked_mutants import Selection
from tools.mutant_sample import wilson_interval


def summary(result: CodeMutantsResult, selection: Selection) -> str:
    """Each mutant that was not killed with what it would take, files with such ones, and the totals."""
    parts = []
    for report in result.reports:
        if report.fate not in {Fate.KILLED, Fate.SUPPRESSED}:
            parts.append(
                f"{report.subject}:1: {report.fate.value}: {report.identity}\n    {report.reason}\n{report.diff}"
            )
    parts += [*_by_file(result.reports), *result.problems]
    if result.idle_tests is not None:
        parts.append(f"{len(result.idle_tests)} tests that reach mutants kill none")
    counted = Counter(report.fate.value for report in result.reports)
    counted["not looked at"] = len(selection.names) - len(result.reports)
    words = ", ".join(f"{count} {word}" for word, count in counted.most_common() if count)
    return "\n".join([*parts, f"{selection.words}: {words}; {_share(result.reports, selection)}"])


def killed_share(reports: Sequence[MutantReport]) -> float:
    """Killed mutants among those that are not suppressed; 0 where there is none."""
    counted = _counted(reports)
    return sum(report.fate is Fate.KILLED for report in counted) / len(counted) if counted else 0.0


def as_json(result: CodeMutantsResult, selection: Selection) -> str:
    """`asked` in words, `not_looked_at`, and `mutants` with all that is known of each."""
    mutants = [{**dataclasses.asdict(report), "fate": report.fate.value} for report in result.reports]
    unknown = len(selection.names) - len(mutants)
    return json.dumps({"asked": selection.words, "not_looked_at": unknown, "mutants": mutants}, indent=1)


def _share(reports: Sequence[MutantReport], selection: Selection) -> str:
    share = f"{killed_share(reports):.1%} killed"
    if len(reports) < len(selection.names):
        return f"{share} so far; mutmut comes to the quickest first, so that says nothing about the rest"
    if not selection.is_drawn:
        return share
    counted = _counted(reports)
    low, high = wilson_interval(sum(report.fate is Fate.KILLED for report in counted), len(counted))
    return f"{share}, of all with 95 % certainty {low:.1%} to {high:.1%}"


def _by_file(reports: Sequence[MutantReport]) -> list[str]:
    """`path: killed of asked` for each file with a mutant that was not killed."""
    counted = _counted(reports)
    asked = Counter(_path(report) for report in counted)
    killed = Counter(_path(report) for report in counted if report.fate is Fate.KILLED)
    return [
        f"{path}: {killed[path]} of {count} killed" for path, count in sorted(asked.items()) if killed[path] < count
    ]


def _counted(reports: Sequence[MutantReport]) -> list[MutantReport]:
    return [report for report in reports if report.fate is not Fate.SUPPRESSED]


def _path(report: MutantReport) -> str:
    return report.subject.rpartition(":")[0]
