"""Pages of documentation as frozen data: code in a line, blocks of code, targets of links, lists, and their places."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.tree import Tree

SUFFIXES = (".md", ".rst")
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
