"""The syntax tree of a text that differs from a known one within one statement: only that statement is parsed.

Mutants of a file differ in a line or two, and what was read of a statement that two trees share holds in both.
"""

from __future__ import annotations

import ast
import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass

Parse = Callable[[bytes], ast.Module]

OWN_ENCODING = re.compile(rb"\A(?:.*\n)?.*coding[:=]")
"""What may be the declaration of an encoding: in the first line or the second."""


@dataclass(frozen=True)
class KnownTree:
    """A text that could be parsed, as its lines, with its tree."""

    lines: list[bytes]
    tree: ast.Module

    def of(self, content: bytes, parse: Parse) -> ast.Module | None:
        """The tree of another text, with the statements that it shares; `None` where all of it has to be parsed.

        `parse` is what the known tree was made by.
        """
        lines = content.split(b"\n")
        if lines == self.lines:
            return self.tree
        if len(lines) != len(self.lines) or b"\r" in content or has_own_encoding(content):
            return None
        changed = [
            number for number, pair in enumerate(zip(lines, self.lines, strict=True), start=1) if pair[0] != pair[1]
        ]
        # The first two lines may say how all others are to be read.
        index = self._holding(changed[0], changed[-1]) if changed[0] > 2 else None
        if index is None:
            return None
        statement = self.tree.body[index]
        start, end = first_line(statement), last_line(statement)
        try:  # what is complete by itself is complete between complete statements; blank lines keep the numbers
            body = parse(b"\n" * (start - 1) + b"\n".join(lines[start - 1 : end]) + b"\n").body
        except (SyntaxError, ValueError):
            return None
        return ast.Module([*self.tree.body[:index], *body, *self.tree.body[index + 1 :]], [])

    def _holding(self, first: int, last: int) -> int | None:
        """The index of the statement that has all lines from `first` to `last`, and them for itself."""
        body = self.tree.body
        for index, statement in enumerate(body):
            if last <= last_line(statement):
                before = last_line(body[index - 1]) if index else 0
                behind = first_line(body[index + 1]) if body[index + 1 :] else len(self.lines) + 1
                alone = before < first_line(statement) and last_line(statement) < behind
                return index if alone and first_line(statement) <= first else None
        return None


def has_own_encoding(content: bytes) -> bool:
    """Whether a text may say in which encoding it is written."""
    return content.startswith(codecs.BOM_UTF8) or OWN_ENCODING.match(content) is not None


def first_line(statement: ast.stmt) -> int:
    """The line that a statement begins at, that of its first decorator included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def last_line(node: ast.stmt | ast.expr) -> int:
    """The line that a statement or an expression ends at."""
    return node.end_lineno or node.lineno
