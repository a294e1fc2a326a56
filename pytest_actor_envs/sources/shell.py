"""A shell program as frozen data: lists of commands, with words, redirects and where each stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from pytest_actor_envs.model import Location


@dataclass(frozen=True, slots=True)
class Variable:
    """A `$X` that is read; `default` is what `${X:-d}` gives instead, as written.

    `is_plain` is false where the value read is changed on the way: `${X%y}`, `${#X}`, `${X:+y}`, arithmetic.
    """

    name: str
    default: str | None
    is_plain: bool
    location: Location


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(...)` (operator `$(`, also for backquotes) or a process substitution (`<(` or `>(`)."""

    operator: str
    body: tuple[Node, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `parts` are its literal texts, variables and substitutions in order, quotes removed.

    `value` is the word where it is literal, else `None`.
    """

    text: str
    parts: tuple[str | Variable | Substitution, ...]
    location: Location
    value: str | None = field(init=False)

    def __post_init__(self) -> None:
        literal = [part for part in self.parts if isinstance(part, str)]
        object.__setattr__(self, "value", "".join(literal) if len(literal) == len(self.parts) else None)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that it reads itself, not those inside its substitutions."""
        return tuple(part for part in self.parts if isinstance(part, Variable))


@dataclass(frozen=True, slots=True)
class Assignment:
    """`X=value`, `X+=value` or `X=(a b)`; `value` is `None` for a name that is only declared."""

    name: str
    values: tuple[Word, ...]
    appends: bool
    is_array: bool
    location: Location


@dataclass(frozen=True, slots=True)
class Redirect:
    """One redirect. `body` is the text of a here-document, which begins at `body_location`."""

    operator: str
    target: Word | None
    descriptor: int | None
    location: Location
    body: str | None = None
    body_location: Location | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command, a `[[ ]]`, a declaration or a bare assignment (no words)."""

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...]
    redirects: tuple[Redirect, ...]
    location: Location

    @property
    def name(self) -> str:
        """The command's name, empty for a bare assignment and for one that is not literal."""
        return (self.words[0].value or "") if self.words else ""


@dataclass(frozen=True, slots=True)
class Pipeline:
    parts: tuple[Node, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class AndOr:
    """`left && right` or `left || right`."""

    left: Node
    operator: str
    right: Node
    location: Location


@dataclass(frozen=True, slots=True)
class Not:
    body: Node
    location: Location


@dataclass(frozen=True, slots=True)
class Background:
    """`command &`."""

    body: Node
    location: Location


@dataclass(frozen=True, slots=True)
class If:
    """`branches` are (condition, body) of `if` and each `elif`; `otherwise` is the body of `else`."""

    branches: tuple[tuple[tuple[Node, ...], tuple[Node, ...]], ...]
    otherwise: tuple[Node, ...]
    redirects: tuple[Redirect, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class Loop:
    """`for variable in words` (no condition), or `while`/`until` over a condition."""

    kind: str
    variable: str | None
    words: tuple[Word, ...]
    condition: tuple[Node, ...]
    body: tuple[Node, ...]
    redirects: tuple[Redirect, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class Case:
    subject: Word
    items: tuple[tuple[tuple[Word, ...], tuple[Node, ...]], ...]
    redirects: tuple[Redirect, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class Group:
    """`{ ...; }`, or a subshell `( ... )`."""

    body: tuple[Node, ...]
    is_subshell: bool
    redirects: tuple[Redirect, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    body: tuple[Node, ...]
    location: Location


Node: TypeAlias = Command | Pipeline | AndOr | Not | Background | If | Loop | Case | Group | Function


class ShellError(Exception):
    """Text that is no shell program; `location` says where it stops being one."""

    def __init__(self, location: Location) -> None:
        super().__init__("not valid shell")
        self.location = location


def with_redirects(node: Node, redirects: tuple[Redirect, ...], words: tuple[Word, ...] = ()) -> Node:
    """The node with more redirects, and words that stand behind them; those of a pipeline or list are its last command's."""
    if isinstance(node, Pipeline):
        return replace(node, parts=(*node.parts[:-1], with_redirects(node.parts[-1], redirects, words)))
    if isinstance(node, AndOr):
        return replace(node, right=with_redirects(node.right, redirects, words))
    if isinstance(node, Not | Background):
        return replace(node, body=with_redirects(node.body, redirects, words))
    if isinstance(node, Function):
        return node
    if isinstance(node, Command):
        return replace(node, words=(*node.words, *words), redirects=(*node.redirects, *redirects))
    return replace(node, redirects=(*node.redirects, *redirects))


def children(node: Node) -> Iterator[Node]:
    """The nodes directly inside one, in the order in which they run; substitutions in words are not among them."""
    if isinstance(node, Pipeline):
        yield from node.parts
    elif isinstance(node, AndOr):
        yield from (node.left, node.right)
    elif isinstance(node, Not | Background):
        yield node.body
    elif isinstance(node, If):
        for condition, body in node.branches:
            yield from (*condition, *body)
        yield from node.otherwise
    elif isinstance(node, Loop):
        yield from (*node.condition, *node.body)
    elif isinstance(node, Case):
        for _, body in node.items:
            yield from body
    elif isinstance(node, Group | Function):
        yield from node.body


def words_of(node: Node) -> Iterator[Word]:
    """The words of a node itself: a command's, those of its assignments and redirects, a loop's, a case's."""
    if isinstance(node, Command):
        yield from node.words
        for assignment in node.assignments:
            yield from assignment.values
    if isinstance(node, Loop):
        yield from node.words
    if isinstance(node, Case):
        yield node.subject
        for patterns, _ in node.items:
            yield from patterns
    if isinstance(node, Command | If | Loop | Case | Group):
        yield from (redirect.target for redirect in node.redirects if redirect.target is not None)


def all_nodes(program: tuple[Node, ...]) -> Iterator[Node]:
    """Every node of a program, those in substitutions included, each before what is inside it."""
    for node in program:
        yield node
        for word in words_of(node):
            for part in word.parts:
                if isinstance(part, Substitution):
                    yield from all_nodes(part.body)
        yield from all_nodes(tuple(children(node)))
