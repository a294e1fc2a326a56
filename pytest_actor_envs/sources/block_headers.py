"""The headers of the blocks of a Python text, found by their keywords, and which of them belong together.

A keyword in brackets that has its line to itself may be taken for a header. Whoever keeps such a line gets a text that
is no Python.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HEADER = re.compile(
    rb"^( *+)(?:async +)?(def|class|if|elif|else|try|except|finally|with|for|while|match|case)\b", re.MULTILINE
)
CHAINED = frozenset({b"elif", b"else", b"except", b"finally"})


@dataclass(slots=True, eq=False)
class Header:
    """One header: where its line starts, its block's parent, and its neighbours in one `if`, `try` or loop."""

    at: int
    indentation: int
    keyword: bytes
    parent: Header | None
    previous: Header | None
    next: Header | None = None


def headers_of(content: bytes, strings: Sequence[tuple[int, int]]) -> list[Header]:
    """The headers of a text, in order; `strings` are the spans where a line is no code."""
    headers: list[Header] = []
    around: list[Header] = []
    inside = iter([*strings, (len(content), len(content))])
    start, end = next(inside)
    for found in HEADER.finditer(content):
        at = found.start()
        while at >= end:
            start, end = next(inside)
        if at > start:
            continue
        indentation = found.end(1) - at
        while around and around[-1].indentation > indentation:
            around.pop()
        same = around.pop() if around and around[-1].indentation == indentation else None
        header = Header(at, indentation, found[2], around[-1] if around else None, None)
        if same is not None and header.keyword in CHAINED:
            header.previous, same.next = same, header
        around.append(header)
        headers.append(header)
    return headers


def enclosing(headers: Sequence[Header], at: int, indentation: int) -> Header | None:
    """The header of the block that holds the line which starts at `at` and is indented so far."""
    before = bisect_left(headers, at, key=lambda header: header.at) - 1
    header = headers[before] if before >= 0 else None
    while header is not None and header.indentation >= indentation:
        header = header.parent
    return header


def circumstances(innermost: Iterable[Header]) -> dict[Header, bool] | None:
    """The headers that decide when the blocks of some headers run; true for those whose whole block does.

    Those are the blocks around them, what comes before them in the same `if` or loop, and the whole of each `try`. `None`
    where one that has to follow another does not.
    """
    kept: dict[Header, bool] = {}
    for start in innermost:
        header: Header | None = start
        while header is not None and header not in kept:
            first = header
            while first.keyword in CHAINED:
                if first.previous is None:
                    return None
                first = first.previous
            member: Header | None = first
            while member is not None:
                kept[member] = member.keyword == b"except"
                member = member.next if member is not header or first.keyword == b"try" else None
            header = first.parent
    return kept
