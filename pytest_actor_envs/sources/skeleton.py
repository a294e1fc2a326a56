"""A Python text with everything blanked that says nothing about its imports, at a fraction of the cost of parsing it.

What is left stands where it stood: import statements, the headers of the blocks around them, the headers before them in
the same `if` or loop, and whole `except` blocks of a `try` around them. A block whose statements are gone says `pass`.
What this reader does not understand it refuses, and the whole text has to be parsed. So has a skeleton that is no Python.

Only valid texts are judged: a syntax error in what is blanked is not seen.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from pytest_actor_envs.sources.block_headers import Header, circumstances, enclosing, headers_of

IMPORT = re.compile(rb"\bimport\b")
FROM = re.compile(rb"[ \t]*from[ \t.][\w. \t]*")
CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=]", re.MULTILINE)
QUOTED = rb"\"(?!\"\")(?:[^\"\\\n]++|\\[^\n])*+\"|'(?!'')(?:[^'\\\n]++|\\[^\n])*+'"
PLAIN_CODE = rb"(?:[^\"'#]++|#[^\n]*+|" + QUOTED + rb")*+"
LONG_STRING = (
    rb"\"\"\"(?:[^\"\\]++|\\[\s\S]|\"(?!\"\"))*+\"\"\"|'''(?:[^'\\]++|\\[\s\S]|'(?!''))*+'''"
    rb"|\"(?:[^\"\\\n]++|\\[\s\S])*+\"|'(?:[^'\\\n]++|\\[\s\S])*+'"
)
UP_TO_LONG_STRING = re.compile(PLAIN_CODE + rb"(?:(" + LONG_STRING + rb")|\Z)")
STRING_OR_COMMENT = re.compile(LONG_STRING + rb"|#[^\n]*")
# From Python 3.12 on an f-string may hold its own kind of quote inside braces; then strings are not told apart here.
F_STRINGS_NEST = sys.version_info >= (3, 12)
NESTED_QUOTES = re.compile(
    rb"\b(?:[fFtT][rR]?|[rR][fFtT])([\"'])(?:(?!\1)[^\n{]|\{(?:(?!\1)[^\n}])*\})*\{(?:(?!\1)[^\n}])*\1"
)
FORMATTED_PREFIX = re.compile(rb"(?<![\w])(?:[fFtT][rR]?|[rR][fFtT])\Z")

Span = tuple[int, int]


class NotUnderstood(Exception):
    """The whole text has to be parsed."""


def skeleton(content: bytes) -> bytes:
    """The skeleton of a text, with as many lines. Raises NotUnderstood."""
    if any(odd in content for odd in (b"\r", b"\f", b"\0", b"import_module", b"__import__", b"\xef\xbb\xbf")):
        raise NotUnderstood
    if CODING.search(content, 0, 400) or (F_STRINGS_NEST and NESTED_QUOTES.search(content)):
        raise NotUnderstood
    if not content.isascii():
        _check_decodes(content)
    if b"import" not in content:
        return b""
    spans = long_strings(content)
    places = list(_imports(content, spans))
    return _Skeleton(content, spans).of(places) if places else b""


def _check_decodes(content: bytes) -> None:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        raise NotUnderstood from None


def long_strings(content: bytes) -> list[Span]:
    """Where the strings that hold an end of line stand, in order. Raises NotUnderstood for what is no string."""
    spans: list[Span] = []
    if b'"""' not in content and b"'''" not in content and b"\\\n" not in content:
        return spans
    at, end = 0, len(content)
    while at < end:
        found = UP_TO_LONG_STRING.match(content, at)
        if found is None:
            raise NotUnderstood
        at = found.end()
        start, stop = found.span(1)
        if start < 0:
            break
        if b"\n" in content[start:stop]:
            spans.append((start, stop))
            if content.rfind(b"{", start, stop) > content.rfind(b"}", start, stop):
                if FORMATTED_PREFIX.search(content, max(start - 3, 0), start):
                    raise NotUnderstood
    return spans


def _imports(content: bytes, spans: Sequence[Span]) -> Iterator[int]:
    """Where the lines of import statements start, in order. Raises NotUnderstood for one that shares its line."""
    starts = [start for start, _ in spans]
    for found in IMPORT.finditer(content):
        at = found.start()
        before = bisect_right(starts, at) - 1
        if before >= 0 and at < spans[before][1]:
            continue
        line = content.rfind(b"\n", 0, at) + 1
        code = max(line, spans[before][1]) if before >= 0 else line
        prefix = content[code:at]
        if code == line and (not prefix.strip(b" \t") or FROM.fullmatch(prefix)):
            if content[line - 2 : line] == b"\\\n":
                raise NotUnderstood
            yield line
        elif not _is_quoted(content, code, at):
            raise NotUnderstood


def _is_quoted(content: bytes, start: int, at: int) -> bool:
    """Whether `at` stands in a string or a comment, `start` being outside of both on the same line."""
    for found in STRING_OR_COMMENT.finditer(content, start):
        if found.start() > at:
            return False
        if at < found.end():
            return True
    return False


class _Skeleton:
    def __init__(self, content: bytes, spans: Sequence[Span]) -> None:
        self._content = content
        self._starts_of_strings = [start for start, _ in spans]
        self._spans = spans
        self._lines = content.split(b"\n")
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=0))
        self._kept: dict[int, bytes] = {}

    def of(self, places: Sequence[int]) -> bytes:
        """The skeleton around the import statements that start at some places."""
        indented = [place for place in places if self._content[place : place + 1] in b" \t"]
        if indented:
            self._keep_around(indented)
        for place in places:
            self._keep_import(self._number(place))
        last = max(self._kept) + 1
        return b"\n".join([self._kept.get(number, b"") for number in range(last)]) + b"\n"

    def _keep_around(self, places: Sequence[int]) -> None:
        headers = headers_of(self._content, self._spans)
        innermost = []
        for place in places:
            header = enclosing(headers, place, _indentation(self._lines[self._number(place)]))
            if header is None:
                raise NotUnderstood
            innermost.append(header)
        kept = circumstances(innermost)
        if kept is None:
            raise NotUnderstood
        for header, whole in kept.items():
            self._keep_header(header, whole)

    def _number(self, place: int) -> int:
        return bisect_right(self._starts, place) - 1

    def _keep_import(self, number: int) -> None:
        """Keeps the lines of one import statement, which holds no string."""
        depth = 0
        while True:
            line = self._lines[number]
            code = line.partition(b"#")[0]
            if b";" in code or b'"' in code or b"'" in code:
                raise NotUnderstood
            self._kept[number] = line
            depth += code.count(b"(") - code.count(b")")
            number += 1
            if (depth <= 0 and not code.endswith(b"\\")) or number == len(self._lines):
                return

    def _keep_header(self, header: Header, whole: bool) -> None:
        """Keeps a header with all of its lines, and its block, or something that stands for it."""
        first = self._number(header.at)
        last, has_block = self._end_of_header(first)
        for number in range(first, last + 1):
            self._kept[number] = self._lines[number]
        if not has_block:
            return
        if whole:
            for number in self._block(last + 1, header.indentation):
                self._kept[number] = self._lines[number]
            return
        if header.keyword == b"match":
            return  # its block holds nothing but its cases
        below = next((number for number in range(last + 1, len(self._lines)) if self._says_something(number)), None)
        if below is None:
            raise NotUnderstood
        if below not in self._kept:
            line = self._lines[below]
            self._kept[below] = line[: len(line) - len(line.lstrip(b" \t"))] + b"pass"

    def _end_of_header(self, number: int) -> tuple[int, bool]:
        """(last line of a header, whether its block stands on lines of its own)."""
        depth = 0
        for last in range(number, min(number + 100, len(self._lines))):
            code = STRING_OR_COMMENT.sub(b"", self._lines[last]).rstrip(b" \t")
            if b'"' in code or b"'" in code or code.endswith(b"\\"):
                raise NotUnderstood
            depth += sum(map(code.count, (b"(", b"[", b"{"))) - sum(map(code.count, (b")", b"]", b"}")))
            if depth <= 0:
                return last, code.endswith(b":")
        raise NotUnderstood

    def _says_something(self, number: int) -> bool:
        return self._lines[number].lstrip(b" \t")[:1] not in (b"", b"#")

    def _block(self, number: int, indentation: int) -> Iterator[int]:
        """The lines of a block, from its first one to the last that is indented or belongs to one that is."""
        while number < len(self._lines):
            line = self._lines[number]
            text = line.lstrip(b" \t")
            belongs = text[:1] in (b"", b"#", b")", b"]", b"}") or self._is_inside(number)
            if not belongs and len(line) - len(text) <= indentation:
                return
            yield number
            number += 1

    def _is_inside(self, number: int) -> bool:
        """Whether a line starts in a string."""
        before = bisect_right(self._starts_of_strings, self._starts[number]) - 1
        return before >= 0 and self._starts[number] < self._spans[before][1]


def _indentation(line: bytes) -> int:
    """How far a line is indented. Raises NotUnderstood for tabs, whose width depends."""
    spaces = len(line) - len(line.lstrip(b" "))
    if line[spaces : spaces + 1] == b"\t":
        raise NotUnderstood
    return spaces
