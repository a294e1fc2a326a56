"""Entries of the table that a page quotes: as the leaf writes them, as the script prints them, or in a table of extras."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pytest_actor_envs.sources.docs import Cell, Page

DOTTED = r"[A-Za-z_]\w*(?:\.\w+)+"
ENTRY = re.compile(rf"""(?P<quote>["'])(?P<name>{DOTTED})(?P=quote)[ \t]*:\s*(?=(?P<first>None\b|[\[(]))""")
ROW = re.compile(
    rf"^[ \t>]*(?P<name>{DOTTED})[ \t]+(?P<stage>\w+)[ \t]+(?P<flags>--extra[ \t]+\S+(?:[ \t]+--extra[ \t]+\S+)*)[ \t]*$",
    re.MULTILINE,
)
HEADER = re.compile(r"\bextras?\b", re.IGNORECASE)
NOTHING = frozenset({"", "-", "\u2013", "\u2014", "none"})

Form = Literal["entry", "row", "cell"]


@dataclass(frozen=True, slots=True)
class Quote:
    """One quoted entry: the actor as it is written, and its extras, `None` for the driver's interpreter.

    `name` is fully qualified in the forms `entry` and `row`, and may be a class alone in a `cell`. `extras` is a text
    where what stands there is no list of extras. `stage` is what a row says, `None` in the other forms. `start` and
    `value_start` are offsets in the page, `value_end` is where the value ends.
    """

    form: Form
    name: str
    start: int
    extras: tuple[str, ...] | str | None
    value_start: int
    value_end: int
    stage: str | None = None


def quotes_in(page: Page) -> tuple[Quote, ...]:
    """The quotes of one page, in order; also those in examples of an error. Lists that end in `...` are none."""
    found = [*_entries(page.text), *_rows(page.text), *_cells(page)]
    return tuple(sorted(found, key=lambda quote: quote.start))


def _entries(text: str) -> Iterator[Quote]:
    for match in ENTRY.finditer(text):
        start = match.end()
        end = start + 4 if match["first"] == "None" else _closing(text, start)
        written = text[start:end]
        if "..." not in written:
            yield Quote("entry", match["name"], match.start("name"), _value(written), start, end)


def _closing(text: str, start: int) -> int:
    """The offset behind the bracket that closes the one at `start`, or the end of its line."""
    depth = 0
    for match in re.finditer(r"[\[\]()]", text[start:]):
        depth += 1 if match[0] in "[(" else -1
        if depth == 0:
            return start + match.end()
    return start + len(text[start:].split("\n")[0])


def _value(written: str) -> tuple[str, ...] | str | None:
    try:
        value = ast.literal_eval(written)
    except (SyntaxError, ValueError):
        return written
    if value is None:
        return None
    if isinstance(value, list) and all(isinstance(extra, str) for extra in value):
        return tuple(value)
    return written


def _rows(text: str) -> Iterator[Quote]:
    for match in ROW.finditer(text):
        extras = tuple(match["flags"].split()[1::2])
        yield Quote(
            "row", match["name"], match.start("name"), extras, match.start("stage"), match.end("flags"), match["stage"]
        )


def _cells(page: Page) -> Iterator[Quote]:
    for listing in page.listings:
        column = next((number for number, title in enumerate(listing.header) if HEADER.search(title)), None)
        for row in listing.rows if column else ():
            assert column is not None
            if row[0].code is not None:
                yield _cell(row[0].code, row[0].start, row[column])


def _cell(actor: str, start_of_actor: int, value: Cell) -> Quote:
    plain = value.text.replace("`", "").strip()
    start = value.start
    words = tuple(re.findall(r"[\w.-]+", plain.replace(" and ", " ")))
    extras = None if plain.lower() in NOTHING else words
    return Quote("cell", actor, start_of_actor, extras, start, start + len(plain))
