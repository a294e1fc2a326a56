"""The subject mutants of a project: which guard claims to kill each, and what each changes."""

from __future__ import annotations

import difflib
import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_actor_envs.model import Blocked, Guard, Mutant, MutantDoesNotApply
from pytest_actor_envs.project import Project


@dataclass(frozen=True, slots=True)
class Claim:
    """One mutant and the guard that claims to kill it; `identity` is unique and stable between runs."""

    guard: str
    mutant: Mutant
    identity: str


class MutantsDoNotApply(Exception):
    """A guard's mutants cannot be made from this project; the argument names every fault."""


def claims_of(project: Project, guards: Sequence[Guard]) -> list[Claim]:
    """The mutants of `guards` over a project. Raises MutantsDoNotApply with every guard that has none or a stale one."""
    claims, problems = [], []
    for guard in guards:
        try:
            mutants = list(guard.mutants(project))
        except MutantDoesNotApply as error:
            problems.append(f"{guard.name}: a mutant does not apply: {error}")
            continue
        except Blocked as guard_before:
            problems.append(
                f"{guard.name}: its mutants cannot be made where {guard_before} does not hold\n"
                f"    mend that first: pytest pyproject.toml::{guard_before}"
            )
            continue
        except (Exception, SystemExit) as error:  # a fault of one guard must not hide the others'
            problems.append(
                f"{guard.name}: making its mutants raised {type(error).__name__}: {error}{_place(error, project)}\n"
                f"    mend what makes them; they alone are made by: actor-envs gate --list --guard {guard.name}"
            )
            continue
        if not mutants:
            problems.append(f"{guard.name}: it has no mutants, so nothing shows that it can fail")
        seen: dict[tuple[str, str], int] = {}
        for mutant in mutants:
            if not _is_mutant(mutant):
                problems.append(f"{guard.name}: it makes what is no Mutant with texts of files: {_shown(mutant)}")
                continue
            if all(_text(project, path) == text for path, text in mutant.files.items()):
                problems.append(f"{guard.name}: its mutant {mutant.shape} of {mutant.subject} changes nothing")
            key = (mutant.subject, mutant.shape)
            seen[key] = seen.get(key, 0) + 1
            number = f"#{seen[key]}" if seen[key] > 1 else ""
            claims.append(Claim(guard.name, mutant, f"{guard.name}/{mutant.subject}/{mutant.shape}{number}"))
    if problems:
        raise MutantsDoNotApply("\n".join(problems))
    return claims


def _is_mutant(made: object) -> bool:
    """Whether a guard, which anybody may have written, gave a mutant whose files can be written."""
    if not isinstance(made, Mutant) or not isinstance(made.files, Mapping):
        return False
    return all(
        isinstance(path, str) and (text is None or (isinstance(text, str) and _is_utf8(text)))
        for path, text in made.files.items()
    )


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(made: object) -> str:
    return f"{made.shape} of {made.subject}" if isinstance(made, Mutant) else repr(made)


def _place(error: BaseException, project: Project) -> str:
    """Where the guard's own code was when making mutants raised: the last line of the file that was called first."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    if not frames:
        return ""
    last = [frame for frame in frames if frame.filename == frames[0].filename][-1]
    path = Path(last.filename).resolve()
    root = None if project.tree.root is None else project.tree.root.resolve()
    shown = path.relative_to(root).as_posix() if root is not None and path.is_relative_to(root) else str(path)
    return f" at {shown}:{last.lineno}"


def _text(project: Project, path: str) -> str | None:
    """A file's text; a page need not be UTF-8."""
    return project.tree.read_bytes(path).decode(errors="replace") if project.tree.exists(path) else None


def diff_of(project: Project, mutant: Mutant) -> str:
    """The mutant as a unified diff against the project."""
    parts: list[str] = []
    for path, text in mutant.files.items():
        before, after = _text(project, path), text
        parts.extend(
            difflib.unified_diff(
                _lines(before),
                _lines(after),
                f"a/{path}" if before is not None else "/dev/null",
                f"b/{path}" if after is not None else "/dev/null",
                n=1,
            )
        )
    return "".join(parts)


def _lines(text: str | None) -> list[str]:
    return [f"{line}\n" for line in text.split("\n")] if text else []


HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def changed_lines(diff: str) -> Iterator[tuple[str, int]]:
    """(path, line) of each line of the project that a unified diff changes; of an insertion, the lines around it.

    What stands in a hunk is told from headers by the hunk's own count of lines, since a line may look like a header.
    """
    path, line, is_told = "", 0, False  # of an insertion, whether the lines around it were given already
    before = after = 0  # lines that are left of the hunk, of the file as it was and as it will be
    for text in diff.split("\n"):
        if before <= 0 and after <= 0:
            if text.startswith("--- "):
                path = text.removeprefix("--- ").removeprefix("a/")
            elif match := HUNK.match(text):
                line, is_told = int(match[1]), False
                before, after = int(match[2] or 1), int(match[3] or 1)
        elif text.startswith("-"):
            yield path, line
            line, is_told, before = line + 1, True, before - 1
        elif text.startswith("+"):
            if not is_told:
                yield from ((path, line - 1), (path, line))
            is_told, after = True, after - 1
        else:
            line, is_told, before, after = line + 1, False, before - 1, after - 1
