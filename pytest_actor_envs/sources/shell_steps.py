"""Commands of a shell program where they run: what they stand in, and what is known of variables there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.image_files import absolute
from pytest_actor_envs.sources.invocations import Executed, Options
from pytest_actor_envs.sources.shell import Command, Node, Substitution, Word

Values = Mapping[str, str | None]
Kind = Literal[
    "condition", "branch", "loop", "and", "or", "pipe", "pipe-last", "$(", "<(", ">(", "background", "program", "not"
]


@dataclass(frozen=True, slots=True)
class Context:
    """What a command stands in: the construct, and in which part of it.

    `and` and `or` are the left sides of `&&` and `||`; their right sides are a `branch`.
    """

    kind: Kind
    node: Node


@dataclass(frozen=True, slots=True)
class Program:
    """One shell program: that of a RUN, one given as text, or a script. `options` are those that it starts with."""

    nodes: tuple[Node, ...]
    options: Options
    can_pipefail: bool
    location: Location


@dataclass(frozen=True, slots=True)
class Step:
    """One command where it runs. `values` are the variables whose value is known, or known to be unknown (`None`).

    `contexts` are outermost first; `origin` is where the RUN's own text leads there, whatever script it stands in.
    `executed` is the script or program that the command executes.
    """

    command: Command
    program: Program
    options: Options
    contexts: tuple[Context, ...]
    directory: str | None
    values: Values = field(hash=False)
    origin: Location
    executed: Executed | None

    def value(self, word: Word) -> str | None:
        """The word with its variables' values, `None` where one is not known."""
        return expanded(word, self.values)

    def path(self, word: Word) -> str | None:
        """The word as an absolute path of the image, `None` where it is not known."""
        value = self.value(word)
        if value is None or (self.directory is None and not value.startswith("/")):
            return None
        return absolute(value, self.directory or "/")


def expanded(word: Word, values: Values) -> str | None:
    """A word with its variables' values, `None` where one is not known."""
    found = []
    for part in word.parts:
        if isinstance(part, str):
            found.append(part)
            continue
        if isinstance(part, Substitution) or not part.is_plain:
            return None
        value = values.get(part.name, "" if part.default is not None else None)
        if value == "" and part.default is not None:
            value = None if "$" in part.default else part.default.strip("\"'")
        if value is None:
            return None
        found.append(value)
    return "".join(found)
