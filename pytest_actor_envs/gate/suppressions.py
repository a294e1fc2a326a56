"""Subject mutants that need not die: a comment at the line that they change, with a reason.

`# actor-envs: survives[guard] reason` stands on the line, or alone on the line above; in a page within `<!-- -->`.
"""

from __future__ import annotations

import contextlib
import io
import re
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pytest_actor_envs.gate.claims import changed_lines
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from pytest_actor_envs.project import Project

SURVIVES_COMMENT = r"\s*actor-envs:\s*survives\[([\w-]*)\][ \t]*(.*?)\s*"
PATTERN = re.compile(rf"#{SURVIVES_COMMENT}$")
IN_A_PAGE = re.compile(rf"<!--{SURVIVES_COMMENT}-->")
"""Pages show comments of code to their readers."""
LARGEST_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment: `guard`'s mutants that change line `line` of `path` may survive."""

    guard: str
    path: str
    line: int
    comment_line: int
    reason: str

    def covers(self, report: MutantReport) -> bool:
        """Whether the mutant is that guard's and changes that line, or inserts something beside the comment."""
        places = {(self.path, self.line), (self.path, self.comment_line)}
        return report.claimed_by == self.guard and not places.isdisjoint(changed_lines(report.diff))


def suppressions_of(project: Project, paths: Iterable[str]) -> list[Suppression]:
    """The suppressions in the given files of a project, in order."""
    found = []
    for path in sorted(set(paths)):
        content = project.tree.read_bytes(path) if project.tree.exists(path) else b""
        if b"survives[" not in content:
            continue
        text = content.decode(errors="replace")
        lines = text.split("\n")
        for number, start in _comments(text) if path.endswith(".py") else ((at, 0) for at in range(1, len(lines) + 1)):
            line = lines[number - 1]
            match = (IN_A_PAGE if path.endswith(".md") else PATTERN).search(line, start)
            if match:
                alone = not line[: match.start()].strip()
                found.append(Suppression(match[1], path, number + alone, number, match[2]))
    return found


def _comments(text: str) -> list[tuple[int, int]]:
    """Line and column of each comment of a Python file, as far as it can be read: a string may say the same words."""
    found = []
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                found.append(token.start)
    return found


def applied(
    reports: Sequence[MutantReport], suppressions: Sequence[Suppression], complete: bool
) -> tuple[list[MutantReport], list[str]]:
    """The reports, those that may survive marked so, and what is wrong with the suppressions.

    Only a `complete` run of every mutant can tell a stale one, and whether they are too many.
    """
    problems = []
    suppressed: dict[str, Suppression] = {}
    for suppression in suppressions:
        place = f"{suppression.path}:{suppression.comment_line}:1: gate"
        if not suppression.reason:
            problems.append(
                f"{place}: lets mutants of {suppression.guard} survive without a reason\n"
                f"    write it behind the bracket: # actor-envs: survives[{suppression.guard}] why they change nothing"
            )
            continue
        covered = [report for report in reports if report.fate is Fate.SURVIVED and suppression.covers(report)]
        suppressed.update((report.identity, suppression) for report in covered)
        if complete and not covered:
            problems.append(
                f"{place}: no mutant of {suppression.guard} survives at line {suppression.line}\n    remove the comment"
            )
    marked = [
        replace(report, fate=Fate.SUPPRESSED, reason=suppressed[report.identity].reason)
        if report.identity in suppressed
        else report
        for report in reports
    ]
    if complete:
        problems.extend(too_many_suppressed(marked, "kill some of them: make the guard see what they change"))
    return marked, problems


def too_many_suppressed(reports: Sequence[MutantReport], advice: str) -> list[str]:
    """What is wrong where more of all the mutants of a layer are let be than may be."""
    suppressed = sum(report.fate is Fate.SUPPRESSED for report in reports)
    if suppressed <= LARGEST_SHARE * len(reports):
        return []
    layer = f"layer {reports[0].layer}"
    return [
        f"gate: {layer}: {suppressed} of {len(reports)} mutants are suppressed, more than {LARGEST_SHARE:.0%}\n    {advice}"
    ]
