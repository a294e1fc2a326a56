"""Words of shell text: what is literal in them, and what they expand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import tree_sitter

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.shell import Node, Substitution, Variable, Word

Part = str | Variable | Substitution
OPERATORS = frozenset({"unary_expression", "binary_expression", "parenthesized_expression", "test_command"})


class Words:
    """Reads the words of one text whose first character stands at `start`; `statements` reads what they substitute."""

    def __init__(
        self, text: str, start: Location, statements: Callable[[Iterable[tree_sitter.Node]], Iterator[Node]]
    ) -> None:
        self._content = text.encode()
        self._lines = text.split("\n")
        self._start = start
        self._statements = statements

    def at(self, node: tree_sitter.Node) -> Location:
        """Where a syntax node stands in the file."""
        row, column = node.start_point.row, node.start_point.column
        line = self._lines[row]
        if not line.isascii():
            column = len(line.encode()[:column].decode(errors="ignore"))
        first = self._start.column if row == 0 else 1
        return Location(self._start.path, self._start.line + row, first + column)

    def text(self, node: tree_sitter.Node) -> str:
        """The source of a syntax node."""
        return self._between(node.start_byte, node.end_byte)

    def between(self, first: tree_sitter.Node, second: tree_sitter.Node) -> str:
        """The source from the end of one syntax node to the start of another."""
        return self._between(first.end_byte, second.start_byte)

    def _between(self, start: int, end: int) -> str:
        return self._content[start:end].decode()

    def whole_lines(self, node: tree_sitter.Node) -> tuple[str, Location]:
        """A here-document's text from the beginning of its first line, and where that is."""
        place = self.at(node)
        start = self._content[: node.start_byte].rfind(b"\n") + 1
        return self._between(start, node.end_byte), Location(place.path, place.line)

    def empty(self, node: tree_sitter.Node) -> Word:
        """The empty word at the place of a node."""
        return Word("", (), self.at(node))

    def word(self, node: tree_sitter.Node) -> Word:
        """The word that a syntax node is."""
        return Word(self.text(node), tuple(self._parts(node)), self.at(node))

    def flat(self, node: tree_sitter.Node) -> Iterator[Word]:
        """The words of a test: brackets, operators and operands one after the other, as `test` gets them."""
        for child in node.children:
            if child.type in OPERATORS:
                yield from self.flat(child)
            elif child.type != "comment":
                yield self.word(child)

    def _parts(self, node: tree_sitter.Node) -> Iterator[Part]:
        kind = node.type
        if kind == "raw_string":
            yield self.text(node)[1:-1]
        elif kind == "ansi_c_string":
            yield _unescaped(self.text(node)[2:-1])
        elif kind in {"simple_expansion", "expansion", "command_substitution", "process_substitution"}:
            yield from self._expanded(node)
        elif kind == "string":
            yield from self._with_gaps(node, node.start_byte + 1, node.end_byte - 1)
        elif kind == "translated_string":
            yield from self._parts(node.children[1])
        elif kind in {"concatenation", "command_name"}:
            for child in node.children:
                yield from self._parts(child)
        elif kind in {"arithmetic_expansion", "postfix_expression"}:
            yield from self._arithmetic(node)
        elif kind == "string_content":
            yield re.sub(r'\\(?:\n|([$`"\\]))', lambda match: match[1] or "", self.text(node))
        else:
            yield re.sub(r"\\(.)", r"\1", self.text(node))

    def _expanded(self, node: tree_sitter.Node) -> Iterator[Part]:
        """An expansion; the grammar takes a blank between two of them for part of the second."""
        text = self.text(node)
        blank = text[: len(text) - len(text.lstrip())]
        place = self.at(node)
        if blank:
            yield blank
            place = Location(place.path, place.line, place.column + len(blank))
        if node.type == "simple_expansion":
            yield Variable(text.lstrip()[1:], None, True, place)
        elif node.type == "expansion":
            yield _braced(text.lstrip(), place)
        else:
            operator = node.children[0].type
            body = tuple(self._statements(node.children[1:]))
            yield Substitution("$(" if operator == "`" else operator, body, place)

    def _with_gaps(self, node: tree_sitter.Node, start: int, end: int) -> Iterator[Part]:
        """The parts of a string; the grammar has no node for a blank between two expansions."""
        for child in node.named_children:
            if child.start_byte > start:
                yield self._between(start, child.start_byte)
            yield from self._parts(child)
            start = max(start, child.end_byte)
        if start < end:
            yield self._between(start, end)

    def _arithmetic(self, node: tree_sitter.Node) -> Iterator[Part]:
        names = [child for child in _descendants(node) if child.type == "variable_name"]
        for child in names:
            yield Variable(self.text(child), None, False, self.at(child))
        if not names:
            yield Variable("", None, False, self.at(node))


def _braced(text: str, place: Location) -> Variable:
    match = re.match(r"\$\{([!#]?)(\w+|[*@#?$!-])(\[[^\]]*\])?(.*)\}$", text, re.DOTALL)
    if match is None:
        return Variable("", None, False, place)
    prefix, name, index, rest = match.groups()
    default = re.match(r":?[-=](.*)", rest, re.DOTALL)
    is_plain = not prefix and index in {None, "[@]", "[*]"} and (not rest or default is not None)
    return Variable(name, default[1] if default else None, is_plain, place)


def _descendants(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    for child in node.children:
        yield child
        yield from _descendants(child)


def _unescaped(text: str) -> str:
    known = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", "'": "'", '"': '"'}
    return re.sub(r"\\(.)", lambda match: known.get(match[1], match[0]), text)
