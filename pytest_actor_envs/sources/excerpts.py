"""A Python text without the functions that nobody looks into: quick to parse again, and small to keep.

What is left stands where it stood. Of each function that holds none of some words the name is left, and an expression
that ends where it ended, so that every node outside of it has the position that it has in the whole text.
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
        first, last = function.lineno, function.end_lineno or 0
        if not searched.search(b"\n".join(lines[first - 1 : last])):
            indentation = lines[first - 1][: function.col_offset]
            lines[first - 1 : last] = _stub(function, indentation) or lines[first - 1 : last]
    return b"\n".join(lines)


def _stub(function: Function, indentation: bytes) -> list[bytes] | None:
    """The lines of a function of the same name and extent that does nothing; `None` where it would be longer."""
    keyword = "async def" if isinstance(function, ast.AsyncFunctionDef) else "def"
    header = indentation + f"{keyword} {function.name}():".encode()
    end = function.end_col_offset or 0
    between = (function.end_lineno or 0) - function.lineno
    if between:
        return [header + b"(_", *[b""] * (between - 1), b" " * (end - 1) + b")"]
    return [header + b"_" * (end - len(header))] if end > len(header) else None


def _has_plain_lines(content: bytes) -> bool:
    """Whether columns count bytes of UTF-8, and lines end as `\\n` says."""
    if b"\r" in content or b"\f" in content or content.startswith(b"\xef\xbb\xbf"):
        return False
    try:
        content.decode()
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
