"""Pages of documentation as passages: code in a line, blocks of code, targets of links, and all the text in between.

Markdown is parsed as CommonMark with tables, by markdown-it-py, which gives lines; columns are found in the text. Pages
of any other kind, reStructuredText among them, are read by their literals and indented blocks alone.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.tree import Tree

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

SUFFIXES = (".md", ".rst")
MARK = re.compile(r"^[ >]*(?:<!--|\.\.)[ \t]*actor-envs:[ \t]*example of an error[ \t]*(?:-->)?[ \t]*$")
LINE_END = re.compile(r"\r\n|\r|\n")

Kind = Literal["code", "block", "link"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a page's text, `start` to `end` in characters.

    `code` is a code span, `block` the inside of a block of code, `link` the target of a link within the project.
    `free` is true for a block below a mark that says that it is an example of an error.
    """

    kind: Kind
    start: int
    end: int
    free: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A list's item up to its first break, or a table's cell: its text, and the code span that it begins with.

    `start` is the offset of the code span's content, or of the text where `code` is `None`.
    """

    text: str
    code: str | None
    start: int


@dataclass(frozen=True, slots=True)
class Listing:
    """A list, or a table with the texts of its header: each row is the cells of one item."""

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Page:
    """One page as its text says: its passages and listings in order, and the offsets of its marks."""

    path: str
    text: str
    passages: tuple[Passage, ...]
    listings: tuple[Listing, ...]
    marks: tuple[int, ...]

    def at(self, offset: int) -> Location:
        """The place of a character."""
        line = bisect.bisect_right(self._line_starts, offset) - 1
        return Location(self.path, line + 1, offset - self._line_starts[line] + 1)

    @cached_property
    def _line_starts(self) -> list[int]:
        return line_starts(self.text)

    @cached_property
    def free(self) -> tuple[Passage, ...]:
        """The blocks that are examples of an error."""
        return tuple(passage for passage in self.passages if passage.free)

    def is_free(self, offset: int) -> bool:
        """Whether a character stands in an example of an error."""
        return any(passage.start <= offset < passage.end for passage in self.free)

    def block_below(self, mark: int) -> Passage | None:
        """The block that the mark at an offset makes free; `None` where none stands right below it."""
        after = min((other for other in self.marks if other > mark), default=len(self.text))
        return next((block for block in self.free if mark < block.start <= after), None)


def page_paths(tree: Tree, docs: Iterable[str]) -> list[str]:
    """The pages that a configuration names: each file, and each page below each folder; sorted, each once."""
    found: set[str] = set()
    for path in docs:
        if tree.exists(path):
            found.add(path)
        else:
            found.update(file for suffix in SUFFIXES for file in tree.files(path, suffix))
    return sorted(found)


def line_starts(text: str) -> list[int]:
    """The offset of each line, as Markdown counts lines."""
    return [0, *(match.end() for match in LINE_END.finditer(text))]


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
        while line > 0 and not self.lines[line - 1].strip(" >\t"):
            line -= 1
        return line > 0 and MARK.match(self.lines[line - 1]) is not None


class _Markdown(_Reader):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.tokens = _parser().parse(text)

    def passages(self) -> Iterator[Passage]:
        cursor = (0, 0)
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
                start = max(self.offset(first), cursor[1] if cursor[0] == first else 0)
                end = start
                for passage in self._inline(token, start, self.offset(last)):
                    end = max(end, passage.end if passage.kind == "code" else end)
                    yield passage
                cursor = (first, end)

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
                    cell = self._cell(token, cells[-1].start if cells else self.offset(token.map[0]))
                    if wanted == "td_open":
                        cells.append(cell)
                    else:
                        open_ones[-1][1].append((cell,))
                wanted = ""

    def _cell(self, token: Token, start: int) -> Cell:
        text = token.content.split("\n", 1)[0]
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
        for number, line in enumerate([*self.lines, "end"]):
            indented = line[:1] in {" ", "\t"} and line.strip()
            if indented and first is None:
                first = number
            elif line.strip() and not indented and first is not None:
                yield Passage("block", self.offset(first), self.offset(number), self.is_marked(first))
                first = None

    def listings(self) -> Iterator[Listing]:
        rows: list[tuple[Cell, ...]] = []
        for number, line in enumerate([*self.lines, "end"]):
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
