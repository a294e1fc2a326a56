"""Exemptions in comments: `# actor-envs: ignore[guard] reason`, on the line or alone on the line above.

In a page of documentation the comment is the markup's own, and has its line for itself or ends it:
`<!-- actor-envs: ignore[guard] reason -->`, `.. actor-envs: ignore[guard] reason`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PATTERN = re.compile(r"#\s*actor-envs:\s*ignore\[([\w-]*)\][ \t]*(.*?)\s*$")
IN_MARKDOWN = re.compile(r"<!--\s*actor-envs:\s*ignore\[([\w-]*)\][ \t]*(.*?)\s*-->\s*$")
IN_RESTRUCTURED_TEXT = re.compile(r"(?<!\S)\.\.\s*actor-envs:\s*ignore\[([\w-]*)\][ \t]*(.*?)\s*$")


@dataclass(frozen=True, slots=True)
class CommentExemption:
    """One comment: the guard, the line (from 1) that it exempts, the reason (may be empty), and where it stands."""

    guard: str
    line: int
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
    for number, line in enumerate(content.decode("utf-8", errors="replace").split("\n"), start=1):
        match = pattern.search(line)
        if match:
            alone = not line[: match.start()].strip()
            exempted = number + 1 if alone else number
            found.append(CommentExemption(match[1], exempted, match[2], path, number, match.start() + 1))
    return tuple(found)
