"""Reads a page of documentation.

Markdown is parsed as CommonMark with tables, by markdown-it-py, which gives lines; columns are found in the text. Pages
of any other kind, reStructuredText among them, are read by their literals and indented blocks alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_actor_envs.sources.docs import LINE_END, Cell, Listing, Page, Passage, line_starts

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MARK = re.compile(r"^[ >]*(?:<!--|\.\.)[ \t]*actor-envs:[ \t]*example of an error[ \t]*(?:-->)?[ \t]*$")

END = "end"  # a line that ends a block, or a list, which the last line of a page would leave open


def read_page(path: str, text: str) -> Page:
    """Reads one page. Never raises for bad input: every text is some page."""
    reader = _Markdown(text) if path.endswith(".md") else _Plain(text)
    return Page(path, text, tuple(reader.passages()), tuple(reader.listings()), reader.marks)


class _Reader:
    """What both kinds of page share: lines, and marks above blocks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = line_starts(text)
        self.lines = LINE_END.split(text)
        self.marks = tuple(self.starts[number] for number, line in enumerate(self.lines) if MARK.match(line))

    def offset(self, line: int) -> int:
        """The offset of a line counted from 0, or of the end of the text."""
        return self.starts[line] if line < len(self.starts) else len(self.text)

    def is_marked(self, line: int) -> bool:
        """Whether the nearest line with text above `line` (from 0) is a mark."""
        nearest = next((above for above in reversed(self.lines[:line]) if above.strip(" >\t")), "")
        return MARK.match(nearest) is not None


class _Markdown(_Reader):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.tokens = _parser().parse(text)

    def passages(self) -> Iterator[Passage]:
        cursor = 0
        for token in self.tokens:
            if token.map is None:
                continue
            first, last = token.map
            if token.type == "fence":
                closed = self.lines[last - 1].strip(" >\t").startswith(token.markup) and last - 1 > first
                inside = self.offset(first + 1), self.offset(last - 1 if closed else last)
                yield Passage("block", *inside, self.is_marked(first))
            elif token.type == "code_block":
                yield Passage("block", self.offset(first), self.offset(last), self.is_marked(first))
            elif token.type == "inline":
                cursor = max(self.offset(first), cursor)  # the cells of a table's row have one line
                for passage in self._inline(token, cursor, self.offset(last)):
                    if passage.kind == "code":
                        cursor = passage.end
                    yield passage

    def _inline(self, token: Token, start: int, end: int) -> Iterator[Passage]:
        for child in token.children or ():
            if child.type == "code_inline":
                span = _code_span(child.markup, child.content).search(self.text, start, end)
                if span:
                    yield Passage("code", *span.span(1))
                    start = span.end()
            elif child.type in {"link_open", "image"}:
                target = str(child.attrs.get("href") or child.attrs.get("src") or "")
                place = self._target(target, start, end)
                if place is not None:
                    yield Passage("link", place, place + len(target))

    def _target(self, target: str, start: int, end: int) -> int | None:
        """Where a link's target is written: here, or at the definition that the link refers to."""
        here = re.compile(rf"\]\(\s*<?{re.escape(target)}").search(self.text, start, end)
        defined = re.compile(rf"^[ >]*\[[^]]+\]:\s*<?{re.escape(target)}", re.MULTILINE).search(self.text)
        found = here or defined
        return found.end() - len(target) if found and target else None

    def listings(self) -> Iterator[Listing]:
        open_ones: list[tuple[list[str], list[tuple[Cell, ...]]]] = []
        cells: list[Cell] = []
        wanted = ""
        for token in self.tokens:
            if token.type in {"bullet_list_open", "ordered_list_open", "table_open"}:
                open_ones.append(([], []))
            elif token.type in {"bullet_list_close", "ordered_list_close", "table_close"}:
                header, rows = open_ones.pop()
                yield Listing(tuple(header), tuple(rows))
            elif token.type in {"list_item_open", "th_open", "td_open"}:
                wanted = token.type
            elif token.type == "tr_close":
                if cells:
                    open_ones[-1][1].append(tuple(cells))
                cells = []
            elif token.type == "inline" and wanted and token.map:
                if wanted == "th_open":
                    open_ones[-1][0].append(token.content)
                else:
                    before = cells[-1].start + len(cells[-1].code or cells[-1].text) if cells else 0
                    cell = self._cell(token, max(before, self.offset(token.map[0])))
                    if wanted == "td_open":
                        cells.append(cell)
                    else:
                        open_ones[-1][1].append((cell,))
                wanted = ""

    def _cell(self, token: Token, start: int) -> Cell:
        text = token.content.split("\n")[0]
        first = next((child for child in token.children or () if child.content.strip()), None)
        if first is not None and first.type == "code_inline":
            span = _code_span(first.markup, first.content).search(self.text, start)
            if span:
                return Cell(text, first.content, span.start(1))
        return Cell(text, None, max(start, self.text.find(text, start)))


class _Plain(_Reader):
    def passages(self) -> Iterator[Passage]:
        for match in re.finditer(r"``([^`\n]+)``|:[\w:]+:`([^`\n]+)`", self.text):
            yield Passage("code", *match.span(1 if match[1] else 2))
        first: int | None = None
        for number, line in enumerate([*self.lines, END]):
            indented = line[:1] in {" ", "\t"} and line.strip()
            if indented and first is None:
                first = number
            elif line.strip() and not indented and first is not None:
                yield Passage("block", self.offset(first), self.offset(number), self.is_marked(first))
                first = None

    def listings(self) -> Iterator[Listing]:
        rows: list[tuple[Cell, ...]] = []
        for number, line in enumerate([*self.lines, END]):
            match = re.match(r"\s*(?:[-*+]|\d+\.|#\.)\s+``([^`]+)``", line)
            if match:
                rows.append((Cell(line.strip(), match[1], self.starts[number] + match.start(1)),))
            elif line.strip() and not line.startswith((" ", "\t")) and rows:
                yield Listing((), tuple(rows))
                rows = []


def _code_span(markup: str, content: str) -> re.Pattern[str]:
    """A code span as it is written: breaks of lines and marks of quotes where the content has spaces."""
    words = [re.escape(word).replace(r"\|", r"\\?\|") for word in content.split(" ")]
    written = r"(?:[ \t]|\r\n|\r|\n)(?:[ \t>]*)".join(words)
    return re.compile(rf"(?<!`){markup}(?!`)\s?({written})\s?(?<!`){markup}(?!`)")


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # 0.07 s: only where there are pages

    return MarkdownIt("commonmark").enable("table")
