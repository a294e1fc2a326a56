"""Every exemption names a guard and a subject that exist, gives its reason, and still exempts a finding.

Why it matters: an exemption that outlived its finding hides the next one of that kind.

How to fix it: remove the entry of `[tool.pytest-actor-envs] ignore`, or the comment.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_actor_envs.config import Exemption
from pytest_actor_envs.guards.edits import with_first_line
from pytest_actor_envs.model import Finding, Guard, Location, Mutant, Outcome, Verdict
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.comments import CommentExemption, comment_exemptions
from pytest_actor_envs.sources.docs import page_paths

UNKNOWN = ("unknown-guard", "no-such-guard")

Raw = Callable[[Project, Sequence[Guard], str], Iterable[tuple[str, Outcome]]]


@dataclass(frozen=True, slots=True)
class InComment:
    """A comment that exempts, as a subject."""

    comment: CommentExemption

    @property
    def name(self) -> str:
        return f"{self.comment.path}:{self.comment.comment_line}"

    @property
    def location(self) -> Location:
        return Location(self.comment.path, self.comment.comment_line, self.comment.column)


def commented(project: Project) -> list[InComment]:
    """The exemptions in comments of the packages, standalone scripts, Dockerfiles and pages."""
    config = project.config
    modules = (path for package in config.packages for path in project.tree.files(package, ".py"))
    paths = (*config.standalone, *config.dockerfiles, *page_paths(project.tree, config.docs), *modules)
    return [comment for path in dict.fromkeys(paths) for comment in project.settled(_comments_in, path)]


def _comments_in(project: Project, path: str) -> list[InComment]:
    if not project.tree.exists(path):
        return []
    return [InComment(comment) for comment in comment_exemptions(path, project.tree.read_bytes(path))]


def exemption_guard(guards: Sequence[Guard], raw: Raw) -> Guard:
    """The guard over the exemptions of `guards`; `raw(project, guards, name)` gives a guard's unexempted outcomes."""

    def subjects(project: Project) -> Iterable[Exemption | InComment]:
        return [*project.config.ignore, *commented(project)]

    def check(project: Project, subject: Exemption | InComment) -> Iterator[Finding]:
        name = subject.guard if isinstance(subject, Exemption) else subject.comment.guard
        reason = subject.reason if isinstance(subject, Exemption) else subject.comment.reason
        names = [guard.name for guard in guards]
        if name not in names:
            close = difflib.get_close_matches(name, names)
            advice = f"did you mean '{close[0]}'?" if close else f"guards: {', '.join(names)}"
            yield Finding(subject.location, f"exempts from '{name}', which is no guard that runs here", (advice,))
            return
        if not reason:
            yield Finding(
                subject.location,
                f"exempts from {name} without a reason",
                (f"write it behind the bracket: # actor-envs: ignore[{name}] why this is right",),
            )
            return
        if not _matches(subject, list(raw(project, guards, name))):
            yield Finding(subject.location, f"exempts nothing: {name} has no finding there", ("remove the exemption",))

    def mutants(project: Project) -> Iterator[Mutant]:
        path = project.config.standalone[0]
        for shape, name in (UNKNOWN, ("stale", guards[0].name)):
            comment = f"# actor-envs: ignore[{name}] why"
            files = with_first_line(project, path, comment)
            number = str(files[path]).split("\n").index(comment) + 1
            yield Mutant(f"{path}:{number}", shape, files)

    return Guard("exemption-needed", subjects, check, mutants)


def _matches(subject: Exemption | InComment, outcomes: Sequence[tuple[str, Outcome]]) -> bool:
    if isinstance(subject, Exemption):
        wanted = (Verdict.BROKEN, Verdict.UNDECIDED)
        return any(name == subject.subject and outcome.verdict in wanted for name, outcome in outcomes)
    return any(
        finding.location.path == subject.comment.path and finding.location.line in subject.comment.lines
        for _, outcome in outcomes
        for finding in outcome.findings
    )
