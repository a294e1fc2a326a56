"""Reads the table out of the leaf by parsing; the leaf is never imported here."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.modules import syntax_error_place
from pytest_actor_envs.sources.parsed_files import ParsedFiles
from pytest_actor_envs.sources.reparsing import last_line


@dataclass(frozen=True, slots=True)
class ExtraUse:
    """One extra in an entry's list, and where it stands."""

    name: str
    location: Location


@dataclass(frozen=True)
class Entry:
    """One actor of the table. `extras` is `None` for the driver's interpreter.

    `readable` is false where the value is no literal that can be understood; `extras` is then `None`.
    `comment` holds the lines of the block of whole-line comments directly above the key, with their locations.
    `key_span` and `value_span` are (start, end) offsets into the leaf's text, for exact edits.
    """

    name: str
    location: Location
    value_location: Location
    uses: tuple[ExtraUse, ...] | None
    readable: bool
    comment: tuple[tuple[Location, str], ...]
    key_span: tuple[int, int]
    value_span: tuple[int, int]

    @cached_property
    def extras(self) -> tuple[str, ...] | None:
        return None if self.uses is None else tuple(use.name for use in self.uses)

    @cached_property
    def meaning(self) -> tuple[object, ...]:
        """What the entry says, wherever it stands."""
        return self.name, self.extras, self.readable, tuple(text for _, text in self.comment)

    @property
    def stage(self) -> str | None:
        """The image layer in which the environment is made (design: nemo_rl), `None` where there is none."""
        if self.uses is None:
            return None
        return "trtllm" if any(use.name == "trtllm" for use in self.uses) else "deps"

    @property
    def module(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def class_name(self) -> str:
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that makes the table, or one entry, no plain literal."""

    location: Location
    message: str
    fix: str
    entry: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """The table as its text says. `entries` are in order, each name once (as in Python, the last one wins)."""

    name: str
    location: Location
    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]
    readable: bool


def read_table(files: ParsedFiles, path: str, content: bytes, name: str) -> Table:
    """Reads the dict display assigned to `name` at the top level of the leaf. Never raises for bad input."""
    nowhere = Location(path)
    try:
        text = content.decode()
        tree = files.whole(path, content)
    except UnicodeDecodeError as error:
        where = Location(path, content[: error.start].count(b"\n") + 1)
        return _unread(name, where, f"the leaf is not UTF-8: {error.reason}", "save it as UTF-8")
    except SyntaxError as error:
        where = syntax_error_place(error, path)
        return _unread(name, where, f"the leaf is not valid Python: {error.msg}", "mend the syntax")
    assignments = list(_assignments(tree, name))
    if not assignments:
        problem = Problem(
            nowhere,
            f"no table {name} is assigned at the top level",
            f"write `{name}: dict[str, list[str] | None] = {{...}}`, or name the table in [tool.pytest-actor-envs] table",
        )
        return Table(name, nowhere, (), (problem,), readable=False)
    lines, offsets = _offsets(text)
    statement, value = assignments[0]
    location = _location(path, statement, lines)
    problems = [
        Problem(
            _location(path, other, lines),
            f"{name} is assigned a second time",
            "keep one dict display and nothing that changes it",
        )
        for other, _ in assignments[1:]
    ]
    if not isinstance(value, ast.Dict):
        problem = Problem(
            _location(path, value or statement, lines),
            f"{name} is not a dict display",
            f'write the table as one literal: `{name} = {{"package.module.Class": ["extra"], ...}}`',
        )
        return Table(name, location, (), (problem,), readable=False)
    comments = _comment_lines(text.split("\n"), tree.body, statement)
    changes = (node for part in tree.body for node in files.of_statement(_changes, part, name))
    problems.extend(
        Problem(_location(path, node, lines), f"{name} is changed after it was written", IN_THE_DISPLAY)
        for node in changes
    )
    entries: dict[str, Entry] = {}
    for key, item in zip(value.keys, value.values, strict=True):
        if key is None:
            problems.append(
                Problem(
                    _location(path, item, lines), "the table is unpacked from another value", "write each entry out"
                )
            )
            continue
        place = _location(path, key, lines)
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
            problems.append(
                Problem(
                    place,
                    f"the key `{ast.unparse(key)}` is not a plain string literal",
                    "write the actor's fully-qualified name as one string",
                )
            )
            continue
        if key.value in entries:
            first = entries[key.value].location
            problems.append(
                Problem(
                    place,
                    f"{key.value} is written twice; the first one, at line {first.line}, is lost",
                    "keep one of the two entries",
                    key.value,
                )
            )
        uses, wrong = _uses(path, item, lines)
        problems.extend(Problem(at, message, fix, key.value) for at, message, fix in wrong)
        entries[key.value] = Entry(
            name=key.value,
            location=place,
            value_location=_location(path, item, lines),
            uses=uses,
            readable=not wrong,
            comment=tuple(_block_above(path, key.lineno, comments)),
            key_span=_span(key, offsets, lines),
            value_span=_span(item, offsets, lines),
        )
    return Table(name, location, tuple(entries.values()), tuple(problems), readable=True)


def _unread(name: str, where: Location, message: str, mend: str) -> Table:
    problem = Problem(where, message, f"{mend}; nothing else can be judged until then")
    return Table(name, where, (), (problem,), readable=False)


def _assignments(tree: ast.Module, name: str) -> Iterator[tuple[ast.stmt, ast.expr | None]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in node.targets
        ):
            yield node, node.value
        elif (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and node.target.id == name
            and node.value
        ):
            yield node, node.value


MUTATORS = frozenset({"update", "setdefault", "pop", "popitem", "clear", "__setitem__", "__ior__"})
LIST_MUTATORS = frozenset({"append", "extend", "insert", "remove", "clear", "pop", "sort", "reverse"})


IN_THE_DISPLAY = "write the entry into the dict display; whoever reads the table by parsing would miss this"


def _changes(statement: ast.stmt, name: str) -> list[ast.expr | ast.stmt]:
    """What in a statement changes the table called `name`."""
    return [node for node in ast.walk(statement) if _is_change(node, name)]  # type: ignore[misc]


def _is_change(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store | ast.Del) and _root(node) == name
    if isinstance(node, ast.AugAssign):
        return _root(node.target) == name
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    owner = node.func.value
    of_table = isinstance(owner, ast.Name) and owner.id == name and node.func.attr in MUTATORS
    of_entry = isinstance(owner, ast.Subscript) and _root(owner) == name and node.func.attr in LIST_MUTATORS
    return of_table or of_entry


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _uses(
    path: str, value: ast.expr, lines: list[bytes]
) -> tuple[tuple[ExtraUse, ...] | None, list[tuple[Location, str, str]]]:
    place = _location(path, value, lines)
    if isinstance(value, ast.Constant) and value.value is None:
        return None, []
    if not isinstance(value, ast.List):
        shown = ast.unparse(value)
        kind = "a tuple" if isinstance(value, ast.Tuple) else "neither None nor a list of strings"
        return None, [
            (place, f"`{shown}` is {kind}", 'write a list: `["extra"]`, or `None` for the driver\'s interpreter')
        ]
    if not value.elts:
        return None, [
            (place, "the list is empty", "write `None`: an actor that needs no extra runs on the driver's interpreter")
        ]
    uses: list[ExtraUse] = []
    wrong = []
    for element in value.elts:
        at = _location(path, element, lines)
        if not (isinstance(element, ast.Constant) and isinstance(element.value, str)):
            wrong.append(
                (at, f"`{ast.unparse(element)}` is not a plain string literal", "write the extra's name as a string")
            )
        elif element.value in {use.name for use in uses}:
            wrong.append((at, f"the extra '{element.value}' is listed twice", "keep one of them"))
        else:
            uses.append(ExtraUse(element.value, at))
    return (None if wrong else tuple(uses)), wrong


def _comment_lines(lines: Sequence[str], body: Sequence[ast.stmt], table: ast.stmt) -> dict[int, tuple[int, str]]:
    """Line -> (column, text) of each comment that has its line for itself, within the table and right above it."""
    above = max((last_line(statement) for statement in body[: body.index(table)]), default=0)
    in_strings = {
        line
        for node in ast.walk(table)
        if isinstance(node, ast.Constant | ast.JoinedStr)
        for line in range(node.lineno + 1, last_line(node) + 1)
    }
    found = {}
    for line in range(above + 1, last_line(table) + 1):
        comment = lines[line - 1].rstrip("\r").lstrip()
        if comment.startswith("#") and line not in in_strings:
            found[line] = (lines[line - 1].index("#") + 1, comment)
    return found


def _block_above(path: str, line: int, comments: dict[int, tuple[int, str]]) -> list[tuple[Location, str]]:
    block = []
    while (line := line - 1) in comments:
        column, comment = comments[line]
        block.append((Location(path, line, column), comment))
    return block[::-1]


def _offsets(text: str) -> tuple[list[bytes], list[int]]:
    lines = text.split("\n")
    starts, total = [], 0
    for line in lines:
        starts.append(total)
        total += len(line) + 1
    return [line.encode() for line in lines], starts


def _characters(lines: list[bytes], line: int, column_bytes: int) -> int:
    return len(lines[line - 1][:column_bytes].decode())


def _location(path: str, node: ast.expr | ast.stmt, lines: list[bytes]) -> Location:
    return Location(path, node.lineno, _characters(lines, node.lineno, node.col_offset) + 1)


def _span(node: ast.expr, starts: list[int], lines: list[bytes]) -> tuple[int, int]:
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return (
        starts[node.lineno - 1] + _characters(lines, node.lineno, node.col_offset),
        starts[end_line - 1] + _characters(lines, end_line, end_column),
    )
