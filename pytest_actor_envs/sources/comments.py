"""Exemptions in comments: `# actor-envs: ignore[guard] reason`, on the line or alone on the line above.

Above a class or a function the line above is that above its decorators, as for any comment; other comments may follow.

In a page of documentation the comment is the markup's own, and has its line for itself or ends it:
`<!-- actor-envs: ignore[guard] reason -->`, `.. actor-envs: ignore[guard] reason`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

PATTERN = re.compile(r"#\s*actor-envs:\s*ignore\[([\w-]*)\][ \t]*(.*?)\s*$")
IN_MARKDOWN = re.compile(r"<!--\s*actor-envs:\s*ignore\[([\w-]*)\][ \t]*(.*?)\s*-->\s*$")
IN_RESTRUCTURED_TEXT = re.compile(r"(?<!\S)\.\.\s*actor-envs:\s*ignore\[([\w-]*)\][ \t]*(.*?)\s*$")
DECORATED = ("class ", "def ", "async def ")


@dataclass(frozen=True, slots=True)
class CommentExemption:
    """One comment: the guard, the lines (from 1) that it exempts, the reason (may be empty), and where it stands."""

    guard: str
    lines: range
    reason: str
    path: str
    comment_line: int
    column: int


def comment_exemptions(path: str, content: bytes) -> tuple[CommentExemption, ...]:
    """The exemptions that a file's comments make, in order."""
    if b"actor-envs: ignore[" not in content:
        return ()
    pattern = IN_MARKDOWN if path.endswith(".md") else IN_RESTRUCTURED_TEXT if path.endswith(".rst") else PATTERN
    found = []
    lines = content.decode(errors="replace").split("\n")
    for number, line in enumerate(lines, start=1):
        match = pattern.search(line)
        if match:
            alone = not line[: match.start()].strip()
            exempted = _below(lines, number) if alone else range(number, number + 1)
            found.append(CommentExemption(match[1], exempted, match[2], path, number, match.start() + 1))
    return tuple(found)


def _below(lines: Sequence[str], number: int) -> range:
    """The lines that a comment alone on line `number` is above of: the next one, with what it decorates."""
    below = range(number, len(lines))
    first = next((index for index in below if not lines[index].lstrip().startswith("#")), len(lines))
    last, depth = first, 0
    for last in range(first, len(lines)):
        line = lines[last].lstrip()
        if line.startswith(DECORATED) or not (depth > 0 or line.startswith("@")):  # a bracket in a string was counted
            break
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
    return range(first + 1, last + 2)
