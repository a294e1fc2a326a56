"""Reads shell text with tree-sitter's grammar of bash, and says where each part stands in the file that holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import tree_sitter
import tree_sitter_bash

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.shell import (
    AndOr,
    Assignment,
    Background,
    Case,
    Command,
    Function,
    Group,
    If,
    Loop,
    Node,
    Not,
    Pipeline,
    Redirect,
    ShellError,
    Word,
    with_redirects,
)
from pytest_actor_envs.sources.shell_words import Words

_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
NO_STATEMENTS = frozenset({"comment", "heredoc_body", "heredoc_end", "heredoc_start", "file_descriptor"})


def read_shell(text: str, start: Location) -> tuple[Node, ...]:
    """The commands of a text whose first character stands at `start`. Raises ShellError for what is no shell."""
    tree = _PARSER.parse(text.encode())
    reader = _Reader(text, start)
    if tree.root_node.has_error:
        raise ShellError(reader.words.at(_first_error(tree.root_node)))
    return tuple(reader.statements(tree.root_node.children))


def _first_error(node: tree_sitter.Node) -> tree_sitter.Node:
    while not (node.is_error or node.is_missing):
        inner = next((child for child in node.children if child.has_error or child.is_missing), None)
        if inner is None:
            return node
        node = inner
    return node


class _Reader:
    def __init__(self, text: str, start: Location) -> None:
        self.words = Words(text, start, self.statements)

    def statements(self, nodes: Iterable[tree_sitter.Node]) -> Iterator[Node]:
        """The commands among syntax nodes; a `&` puts the one before it into the background."""
        waiting: Node | None = None
        for node in nodes:
            if node.type == "&" and waiting is not None:
                waiting = Background(waiting, waiting.location)
            if not node.is_named or node.type in NO_STATEMENTS:
                continue
            if waiting is not None:
                yield waiting
            yield from self._assignments_above(node)
            waiting = self.statement(node)
        if waiting is not None:
            yield waiting

    def _assignments_above(self, node: tree_sitter.Node) -> Iterator[Node]:
        """Assignments on a line of their own that the grammar takes for part of the command on the next line."""
        while node.type in {"redirected_statement", "pipeline", "list"} and node.named_children:
            node = node.named_children[0]
        if node.type == "command":
            above, _ = self._divided(node)
            if above:
                assignments = tuple(self._assignment(child) for child in above if child.is_named)
                yield Command((), assignments, (), self.words.at(above[0]))

    def _divided(self, node: tree_sitter.Node) -> tuple[list[tree_sitter.Node], list[tree_sitter.Node]]:
        """A command's children: the assignments that end with a line above it, and its own."""
        children = list(node.children)
        first = 0
        for index, child in enumerate(children[:-1]):
            if child.type != "variable_assignment":
                break
            if "\n" in self.words.between(child, children[index + 1]).replace("\\\n", ""):
                first = index + 1
        return children[:first], children[first:]

    def statement(self, node: tree_sitter.Node) -> Node:
        place = self.words.at(node)
        kind = node.type
        if kind == "redirected_statement":
            return self._redirected(node)
        if kind == "pipeline":
            parts = [self.statement(child) for child in node.named_children if child.type not in NO_STATEMENTS]
            return _piped(parts, place)
        if kind == "list":
            left, right = [child for child in node.named_children if child.type not in NO_STATEMENTS]
            operator = next(child.type for child in node.children if child.type in {"&&", "||"})
            return AndOr(self.statement(left), operator, self.statement(right), place)
        if kind == "negated_command":
            return Not(self.statement(node.named_children[-1]), place)
        if kind == "if_statement":
            return self._if(node)
        if kind in {"while_statement", "for_statement", "c_style_for_statement"}:
            return self._loop(node)
        if kind == "case_statement":
            return self._case(node)
        if kind in {"compound_statement", "subshell"} and node.children[0].type != "((":
            return Group(tuple(self.statements(node.children)), kind == "subshell", (), place)
        if kind == "function_definition":
            return self._function(node)
        return self._command(node)

    def _command(self, node: tree_sitter.Node) -> Command:
        """A simple command, a test, a declaration, or an assignment."""
        place = self.words.at(node)
        if node.type == "test_command" or (node.children and node.children[0].type == "(("):
            return Command(tuple(self.words.flat(node)), (), (), place)
        if node.type == "variable_assignment":
            return Command((), (self._assignment(node),), (), place)
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        _, children = self._divided(node)
        place = self.words.at(children[0]) if children else place
        for child in children:
            if child.type == "variable_assignment":
                assignments.append(self._assignment(child))
            elif child.type == "variable_name" and node.type == "declaration_command":
                assignments.append(Assignment(self.words.text(child), (), False, False, self.words.at(child)))
            elif child.type.endswith("_redirect"):
                redirects.append(self._redirect(child))
            elif child.type not in NO_STATEMENTS and (child.is_named or not words):
                words.append(self.words.word(child))
        return Command(tuple(words), tuple(assignments), tuple(redirects), place)

    def _assignment(self, node: tree_sitter.Node) -> Assignment:
        name = self.words.text(_part(node, "name")).partition("[")[0]
        value = node.child_by_field_name("value")
        is_array = value is not None and value.type == "array"
        listed = value.named_children if value is not None and is_array else [value] if value is not None else []
        words = tuple(self.words.word(item) for item in listed if item.type != "comment")
        appends = any(child.type == "+=" for child in node.children)
        if not words and not is_array:
            words = (self.words.empty(node),)
        return Assignment(name, words, appends, is_array, self.words.at(node))

    def _redirected(self, node: tree_sitter.Node) -> Node:
        body = node.child_by_field_name("body")
        redirects = [child for child in node.children if child.type.endswith("_redirect")]
        found: Node = Command((), (), (), self.words.at(node)) if body is None else self.statement(body)
        for redirect in redirects:
            found = with_redirects(found, (self._redirect(redirect),), self._words_behind(redirect))
            if redirect.type == "heredoc_redirect":
                found = self._behind_heredoc(found, redirect)
        return found

    def _behind_heredoc(self, node: Node, redirect: tree_sitter.Node) -> Node:
        """What stands behind a here-document's mark on its line: further words, redirects, a pipe, `&&`, `||`."""
        operator = ""
        for child in redirect.children:
            if child.type in {"&&", "||"}:
                operator = child.type
            elif not child.is_named or child.type in NO_STATEMENTS:
                continue
            elif operator:
                node = _listed(node, operator, self.statement(child))
            elif child.type == "pipeline":
                node = _piped([node, *map(self.statement, child.named_children)], node.location)
            elif child.type.endswith("_redirect"):
                node = with_redirects(node, (self._redirect(child),), self._words_behind(child))
            else:
                node = with_redirects(node, (), (self.words.word(child),))
        return node

    def _redirect(self, node: tree_sitter.Node) -> Redirect:
        place = self.words.at(node)
        descriptor = next(
            (int(self.words.text(item)) for item in node.children if item.type == "file_descriptor"), None
        )
        operator = next(item.type for item in node.children if not item.is_named)
        if node.type != "heredoc_redirect":
            targets = _targets(node)
            target = self.words.word(targets[0]) if targets else None
            return Redirect(operator, target, descriptor, place)
        body = next(item for item in node.children if item.type == "heredoc_body")
        mark = next(item for item in node.children if item.type == "heredoc_start")
        return Redirect(operator, self.words.word(mark), descriptor, place, *self.words.whole_lines(body))

    def _words_behind(self, redirect: tree_sitter.Node) -> tuple[Word, ...]:
        """The command's words behind a redirect, which the grammar takes for more targets of it."""
        if redirect.type == "heredoc_redirect":
            return ()
        return tuple(self.words.word(item) for item in _targets(redirect)[1:])

    def _if(self, node: tree_sitter.Node) -> If:
        clauses = [node, *(child for child in node.children if child.type == "elif_clause")]
        branches = []
        for clause in clauses:
            parts = [child for child in clause.children if child.type not in {"elif_clause", "else_clause"}]
            then = next(index for index, child in enumerate(parts) if child.type == "then")
            condition, body = self.statements(parts[:then]), self.statements(parts[then + 1 :])
            branches.append((tuple(condition), tuple(body)))
        last = next((child for child in node.children if child.type == "else_clause"), None)
        otherwise = tuple(self.statements(last.children)) if last is not None else ()
        return If(tuple(branches), otherwise, (), self.words.at(node))

    def _loop(self, node: tree_sitter.Node) -> Loop:
        inner = tuple(self.statements(_part(node, "body").children))
        kind = node.children[0].type
        condition = (
            tuple(self.statements(node.children_by_field_name("condition"))) if kind in {"while", "until"} else ()
        )
        variable = node.child_by_field_name("variable")
        words = tuple(self.words.word(item) for item in node.children_by_field_name("value"))
        name = None if variable is None else self.words.text(variable)
        return Loop(kind, name, words, condition, inner, (), self.words.at(node))

    def _case(self, node: tree_sitter.Node) -> Case:
        items = []
        for item in node.named_children:
            if item.type == "case_item":
                values = item.children_by_field_name("value")
                rest = [child for child in item.children if child not in values]
                patterns = tuple(self.words.word(value) for value in values)
                items.append((patterns, tuple(self.statements(rest))))
        return Case(self.words.word(_part(node, "value")), tuple(items), (), self.words.at(node))

    def _function(self, node: tree_sitter.Node) -> Function:
        body = self.statement(_part(node, "body"))
        return Function(self.words.text(_part(node, "name")), (body,), self.words.at(node))


def _part(node: tree_sitter.Node, field: str) -> tree_sitter.Node:
    """A child that the grammar says is there."""
    found = node.child_by_field_name(field)
    assert found is not None
    return found


def _targets(redirect: tree_sitter.Node) -> list[tree_sitter.Node]:
    return [item for item in redirect.named_children if item.type != "file_descriptor"]


def _listed(left: Node, operator: str, right: Node) -> AndOr:
    """A list, which binds from the left; the grammar takes all that follows a here-document for its right side."""
    if isinstance(right, AndOr):
        return AndOr(_listed(left, operator, right.left), right.operator, right.right, left.location)
    return AndOr(left, operator, right, left.location)


def _piped(parts: Sequence[Node], place: Location) -> Node:
    """A pipeline; the grammar takes what follows it by `&&` or `||`, and all but its first part, for its last part."""
    *before, last = parts
    if isinstance(last, AndOr):
        return AndOr(_piped([*before, last.left], place), last.operator, last.right, place)
    if isinstance(last, Pipeline):
        return _piped([*before, *last.parts], place)
    first, *others = parts
    if isinstance(first, Not):
        return Not(Pipeline((first.body, *others), place), place)
    return Pipeline(tuple(parts), place)
