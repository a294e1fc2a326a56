"""Failures that a shell program does not notice: no `-e` and no `&&`, a pipe without pipefail, `$?` behind such a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.invocations import Options, invoked, program_name
from pytest_actor_envs.sources.shell import (
    AndOr,
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
    Substitution,
    children,
    words_of,
)
from pytest_actor_envs.sources.shell_steps import Program

CANNOT_FAIL = frozenset(
    [
        "echo",
        "printf",
        "true",
        ":",
        "set",
        "shopt",
        "export",
        "unset",
        "readonly",
        "local",
        "declare",
        "typeset",
        "trap",
        "exit",
        "return",
        "umask",
        "shift",
        "continue",
        "break",
        "pwd",
    ]
)
ASKING = frozenset({"[", "[[", "((", "test", "grep", "command", "type", "which", "hash", "true", "false", "id", "cmp"})
"""Commands whose failure is an answer, so that `x && y` means: if x, then y."""

Kind = Literal["chain", "pipe", "status"]


@dataclass(frozen=True, slots=True)
class Unnoticed:
    """One failure that goes unnoticed: of a `chain` of commands, in a `pipe`, or a `status` that is another's."""

    kind: Kind
    command: str
    location: Location


def unnoticed_failures(program: Program) -> Iterator[Unnoticed]:
    """Every failure that a program goes on after, in the order of its text."""
    yield from _Look(program.options).list(program.nodes, True)


class _Look:
    def __init__(self, options: Options) -> None:
        self.options = options

    def list(self, nodes: Sequence[Node], last_is_noticed: bool) -> Iterator[Unnoticed]:
        """Commands one after the other; without `-e` only the last one's failure can be noticed."""
        for index, node in enumerate(nodes):
            following = nodes[index + 1] if index + 1 < len(nodes) else None
            is_noticed = (
                self.options.errexit
                or (following is None and last_is_noticed)
                or (following is not None and (_reads(following, "?") or _reads(following, "PIPESTATUS")))
            )
            yield from self.node(node, is_noticed, following)

    def node(self, node: Node, is_noticed: bool, following: Node | None = None) -> Iterator[Unnoticed]:
        for word in words_of(node):
            for part in word.parts:
                if isinstance(part, Substitution):
                    yield from _Look(self.options).list(part.body, True)
        if isinstance(node, Command):
            yield from self._command(node, is_noticed)
        elif isinstance(node, Pipeline):
            yield from self._pipeline(node, is_noticed, following)
        elif isinstance(node, AndOr):
            yield from self._and_or(node, is_noticed, following)
        elif isinstance(node, Not):
            yield from self.node(node.body, True)
        elif isinstance(node, Background):
            yield from self.node(node.body, True)
        elif isinstance(node, If):
            for condition, body in node.branches:
                yield from self.list(condition, True)
                yield from self.list(body, is_noticed)
            yield from self.list(node.otherwise, is_noticed)
        elif isinstance(node, Case):
            for _, body in node.items:
                yield from self.list(body, is_noticed)
        elif isinstance(node, Loop):
            yield from self.list(node.condition, True)
            yield from self.list(node.body, self.options.errexit)
        elif isinstance(node, Group):
            yield from self._group(node, is_noticed)
        else:
            yield from self._function(node)

    def _group(self, node: Group, is_noticed: bool) -> Iterator[Unnoticed]:
        if not node.is_subshell:
            yield from self.list(node.body, is_noticed)
            return
        found = list(_Look(self.options).list(node.body, is_noticed))
        yield from found
        if not found and not is_noticed and can_fail_anywhere(node):  # its own -e ends it, and nothing else
            yield Unnoticed("chain", shown(node), node.location)

    def _function(self, node: Function) -> Iterator[Unnoticed]:
        yield from _Look(self.options).list(node.body, True)

    def _command(self, node: Command, is_noticed: bool) -> Iterator[Unnoticed]:
        if node.name == "set":
            self.options = self.options.changed([word.value for word in node.words[1:]])
        elif not is_noticed and can_fail(node):
            yield Unnoticed("chain", shown(node), node.location)

    def _pipeline(self, node: Pipeline, is_noticed: bool, following: Node | None) -> Iterator[Unnoticed]:
        for part in node.parts[:-1]:
            found = list(_Look(self.options).node(part, isinstance(part, Command) or is_noticed))
            is_lost = not self.options.pipefail and can_fail_anywhere(part) and not _reads(following, "PIPESTATUS")
            if is_lost and (isinstance(part, Command) or not found):
                yield Unnoticed("pipe", shown(part), part.location)
            yield from found
        yield from _Look(self.options).node(node.parts[-1], is_noticed)
        if not self.options.pipefail and following is not None:
            for place in _places(following, "?"):
                yield Unnoticed("status", "$?", place)

    def _and_or(self, node: AndOr, is_noticed: bool, following: Node | None) -> Iterator[Unnoticed]:
        if node.operator == "||":
            if _is_ignoring(node.right):
                return
            yield from self.node(node.left, True)
            yield from self.node(node.right, is_noticed)
            return
        # Under -e, what fails on the left of && ends the list and nothing else: only a last list's status is noticed.
        goes_on = following is not None and not _reads(following, "?")
        is_told_below = not is_noticed and can_fail_anywhere(node.right)
        lost = list(_ending(node.left))
        if goes_on and not is_told_below and lost:
            yield Unnoticed("chain", shown(lost[-1]), lost[-1].location)
        yield from self.node(node.left, True)
        yield from self.node(node.right, is_noticed)


def can_fail(command: Command) -> bool:
    """Whether a command's failure means anything."""
    if not invoked(command):
        return any(isinstance(part, Substitution) for word in words_of(command) for part in word.parts)
    return program_name(invoked(command)[0]) not in CANNOT_FAIL


def can_fail_anywhere(node: Node) -> bool:
    """Whether the failure of some command in a node means anything: not a condition's, nor one that is handled."""
    if isinstance(node, Command):
        return can_fail(node)
    if isinstance(node, Not | Background | Function):
        return False
    if isinstance(node, AndOr) and node.operator == "||":
        return can_fail_anywhere(node.right)
    if isinstance(node, Loop):
        return any(map(can_fail_anywhere, node.body))
    if isinstance(node, If):
        return any(map(can_fail_anywhere, (*node.otherwise, *(item for _, body in node.branches for item in body))))
    return any(map(can_fail_anywhere, children(node)))


def shown(node: Node) -> str:
    """A command as a message names it: its first words."""
    if isinstance(node, Group) and node.is_subshell:
        return "a subshell"
    if not isinstance(node, Command):
        return {Pipeline: "a pipe", Loop: "a loop", If: "an if", Group: "a group"}.get(type(node), "a command")
    words = [word.text for word in node.words] or [f"{item.name}=..." for item in node.assignments]
    text = " ".join(words[:3])
    return f"`{text if len(text) <= 50 else text[:47] + '...'}`"


def _ending(node: Node) -> Iterator[Node]:
    """The commands of a list whose failure ends it and is no answer."""
    if isinstance(node, AndOr):
        if node.operator == "&&":
            yield from _ending(node.left)
        yield from _ending(node.right)
    elif can_fail_anywhere(node) and not asks(node):
        yield node


def asks(node: Node) -> bool:
    """Whether the failure of a command is an answer."""
    if isinstance(node, AndOr):
        return asks(node.left) and asks(node.right)
    if isinstance(node, Pipeline):
        return asks(node.parts[-1])
    if isinstance(node, Command):
        return bool(node.words) and program_name(node.words[0]) in ASKING
    return isinstance(node, Not)


def _is_ignoring(node: Node) -> bool:
    return isinstance(node, Command) and node.name in {"true", ":"}


def _places(node: Node | None, name: str) -> Iterator[Location]:
    """Where the first command of a node reads a variable."""
    while isinstance(node, AndOr | Pipeline | Not | If):
        if isinstance(node, AndOr):
            node = node.left
        elif isinstance(node, Pipeline):
            node = node.parts[0]
        elif isinstance(node, Not):
            node = node.body
        else:
            node = node.branches[0][0][0]
    if node is not None:
        for word in words_of(node):
            yield from (variable.location for variable in word.variables if variable.name == name)


def _reads(node: Node | None, name: str) -> bool:
    return next(_places(node, name), None) is not None
