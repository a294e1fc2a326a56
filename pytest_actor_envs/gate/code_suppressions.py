"""Code mutants that need not die: mutmut's own comment at the line that they change, with a reason behind it.

`# pragma: no mutate: reason` at the end of the line. The gate lifts these comments in its copy, so that it sees what
would survive there: a comment that hides nothing is stale.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_actor_envs.model import ConfigurationError, Location
from pytest_actor_envs.sources.modules import syntax_error_place

PRAGMA = re.compile(r"#\s*pragma:\s*no mutate(?P<rest>[^#\n]*)")
REASON = re.compile(r"^:\s*(?P<reason>\S.*?)\s*$")
WIDE = frozenset({"block", "start", "end", "function", "class", "file"})


@dataclass(frozen=True, slots=True)
class CodeSuppression:
    """One comment: mutants that change line `line` of `path` may survive, for `reason` (empty where it has none)."""

    path: str
    line: int
    column: int
    reason: str
    is_wide: bool = False

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: gate"


def check_can_be_mutated(root: Path, paths: Iterable[str]) -> None:
    """Raises ConfigurationError with the place of what mutmut would fail on: no UTF-8, or no Python."""
    for path in paths:
        content = (root / path).read_bytes()
        try:
            ast.parse(content.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            place = Location(path, content[: error.start].count(b"\n") + 1)
            raise ConfigurationError(
                f"{place}: gate: not UTF-8, so mutmut cannot read it\n    save it as UTF-8"
            ) from None
        except SyntaxError as error:
            place = syntax_error_place(error, path)
            raise ConfigurationError(
                f"{place}: gate: not valid Python, so there are no code mutants: {error.msg}\n    mend the syntax"
            ) from None


def code_suppressions(root: Path, paths: Iterable[str]) -> list[CodeSuppression]:
    """The comments in the given files, in order."""
    found: list[CodeSuppression] = []
    for path in paths:
        text = (root / path).read_bytes().decode()
        if "no mutate" in text:
            found.extend(_in_file(path, text))
    return found


def _in_file(path: str, text: str) -> Iterable[CodeSuppression]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        match = PRAGMA.search(token.string) if token.type == tokenize.COMMENT else None
        if match:
            reason = REASON.match(match["rest"])
            words = match["rest"].lstrip(": ").split()
            stands_alone = not token.line[: token.start[1]].strip()
            wide = stands_alone or bool(words and words[0].rstrip(",:") in WIDE)
            yield CodeSuppression(path, token.start[0], token.start[1] + 1, reason["reason"] if reason else "", wide)


def lift(root: Path, suppressions: Iterable[CodeSuppression]) -> None:
    """Makes the comments of a copy of the project say nothing to mutmut; lines stay where they are."""
    for path in {suppression.path for suppression in suppressions}:
        file = root / path
        file.write_bytes(PRAGMA.sub("# lifted", file.read_bytes().decode()).encode())


def problems_of(suppressions: Sequence[CodeSuppression]) -> list[str]:
    """What is wrong with the comments themselves, each with its place."""
    problems = []
    for suppression in suppressions:
        if suppression.is_wide:
            problems.append(
                f"{suppression.place}: hides mutants of more than its line\n"
                "    write it at the end of the one line: # pragma: no mutate: why nobody can notice the change"
            )
        elif not suppression.reason:
            problems.append(
                f"{suppression.place}: lets mutants survive without a reason\n"
                "    write it behind a colon: # pragma: no mutate: why nobody can notice the change"
            )
    return problems


def stale(suppressions: Sequence[CodeSuppression], needed: Collection[str]) -> list[str]:
    """The comments that no survivor needs, each with its place; those needed are at the lines `needed`, `path:line`."""
    return [
        f"{suppression.place}: no mutant survives at this line\n    remove the comment"
        for suppression in suppressions
        if suppression.reason and not suppression.is_wide and f"{suppression.path}:{suppression.line}" not in needed
    ]
