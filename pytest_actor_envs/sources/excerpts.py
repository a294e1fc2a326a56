"""A Python text without the functions that nobody looks into: quick to parse again, and small to keep.

What is left stands where it stood. The body of each function that holds none of some words becomes an expression of the
same extent, so that every node outside of it has the position that it has in the whole text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

Function = ast.FunctionDef | ast.AsyncFunctionDef
BETWEEN = rb"(?:\s|\\|#[^\n]*\n)+"


def excerpt(content: bytes, tree: ast.Module, words: Sequence[str]) -> bytes:
    """The excerpt of a text, `tree` being the whole of it. Functions that hold an import or one of `words` stay.

    So do those that hold a name under which one of the words is imported.
    """
    if not _has_plain_lines(content):
        return content
    searched = _searched(content, words)
    lines = content.split(b"\n")
    for function in _outermost_functions(tree.body):
        first, column = _start(function.body[0])
        last, end = function.end_lineno or 0, function.end_col_offset or 0
        shares_a_line = lines[first - 1][:column].strip(b" \t")
        if shares_a_line or searched.search(b"\n".join(lines[first - 1 : last])):
            continue
        indentation = lines[first - 1][:column]
        if first == last:
            lines[first - 1] = indentation + b"_" * (end - column)
        else:
            lines[first - 1 : last] = [indentation + b"(_", *[b""] * (last - first - 1), b" " * (end - 1) + b")"]
    return b"\n".join(lines)


def _has_plain_lines(content: bytes) -> bool:
    """Whether columns count bytes of UTF-8, and lines end as `\\n` says."""
    if b"\r" in content or b"\f" in content or content.startswith(b"\xef\xbb\xbf"):
        return False
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _searched(content: bytes, words: Iterable[str]) -> re.Pattern[bytes]:
    """What a function holds that stays: an import, a word, or a name under which one is imported."""
    wanted = [re.escape(word.encode()) for word in words]
    imported_as = re.compile(rb"(?:%s)%s\bas\b%s(\w+)" % (b"|".join(wanted), BETWEEN, BETWEEN)) if wanted else None
    aliases = [re.escape(alias) for alias in imported_as.findall(content)] if imported_as else []
    return re.compile(b"|".join([rb"\bimport\b", *wanted, *aliases]))


def _outermost_functions(body: Iterable[ast.AST]) -> Iterator[Function]:
    """The functions of a module and of its classes, wherever they stand, but none in a function."""
    for node in body:
        if isinstance(node, Function):
            yield node
        elif not isinstance(node, ast.expr):
            yield from _outermost_functions(ast.iter_child_nodes(node))


def _start(node: ast.stmt) -> tuple[int, int]:
    """(line, column) where a statement starts, its decorators included; a decorator stands behind its `@`."""
    decorators = getattr(node, "decorator_list", [])
    return (decorators[0].lineno, node.col_offset) if decorators else (node.lineno, node.col_offset)
