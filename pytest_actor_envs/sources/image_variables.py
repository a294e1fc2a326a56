"""Which variables the instructions of a Dockerfile read and set, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.dockerfile import Instruction, Run, Setting, Settings, Stage, Trigger
from pytest_actor_envs.sources.dockerfile_parser import as_written
from pytest_actor_envs.sources.image import CarriedOut
from pytest_actor_envs.sources.invocations import invoked, program_name
from pytest_actor_envs.sources.shell import Command, Loop, Node, Redirect, all_nodes, words_of

WRITTEN = re.compile(r"(?<!\\)\$(?:\{([A-Za-z_]\w*)|([A-Za-z_]\w*))")
READING = frozenset({"read", "mapfile", "readarray", "getopts", "printf", "unset"})
INTERPRETERS = re.compile(r"python[\d.]*|perl|ruby|node|awk|gawk|env|printenv|make|cmake|envsubst")
NOT_EXPANDED = frozenset({"CMD", "ENTRYPOINT", "SHELL", "MAINTAINER", "HEALTHCHECK", "FROM", "RUN", "ONBUILD"})


@dataclass(frozen=True, slots=True)
class Reading:
    """One place where a variable is read."""

    name: str
    location: Location


@dataclass(frozen=True, slots=True)
class Ran:
    """The variables of one RUN: all that its shells and its flags read, and the text that other programs get.

    `assigned` are the names that some shell of it sets, on whatever way.
    """

    readings: tuple[Reading, ...]
    assigned: frozenset[str]
    foreign: tuple[str, ...]

    @property
    def from_outside(self) -> tuple[Reading, ...]:
        """The readings of variables that no shell of this RUN sets."""
        return tuple(reading for reading in self.readings if reading.name not in self.assigned)

    def mentions(self, name: str) -> bool:
        """Whether text that is for another program than a shell has the name as a word."""
        return any(mentions(text, name) for text in self.foreign)


def mentions(text: str, name: str) -> bool:
    """Whether a text has a name as a word."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def instructions_of(stage: Stage) -> Iterator[Instruction]:
    """The instructions that stand in a stage, those of ONBUILD included."""
    for item in stage.instructions:
        yield item.triggered if isinstance(item, Trigger) else item


def settings_in(item: Instruction) -> tuple[Setting, ...]:
    """The settings of one instruction, none for what is no ARG or ENV."""
    return item.settings if isinstance(item, Settings) else ()


def settings_of(stage: Stage, keyword: str) -> Iterator[Setting]:
    """The settings of every ARG, or every ENV, that stands in a stage."""
    for item in instructions_of(stage):
        if isinstance(item, Settings) and item.keyword == keyword:
            yield from item.settings


def ran(run: CarriedOut) -> Ran:
    """The variables of a RUN."""
    nodes = [node for program in run.programs for node in all_nodes(program.nodes)]
    assigned = frozenset(name for node in nodes for name in _assigned(node))
    unique = dict.fromkeys([*_in_flags(run.run), *(reading for node in nodes for reading in _readings(node))])
    return Ran(tuple(unique), assigned, tuple(text for node in nodes for text in _foreign(node)))


def read_by(item: Instruction) -> Iterator[Reading]:
    """What Docker itself substitutes in an instruction."""
    if item.keyword in NOT_EXPANDED:
        return
    lines = item.source.split("\n")
    if item.heredocs:
        lines = lines[: item.heredocs[0].location.line - item.location.line]
    for number, line in enumerate(lines):
        if not line.lstrip().startswith("#"):
            yield from _written(line, item.location.path, item.location.line + number)
    for heredoc in item.heredocs:
        for number, line in enumerate(heredoc.text.split("\n") if heredoc.expands else ()):
            yield from _written(line, heredoc.location.path, heredoc.location.line + number)


def mentions_itself(setting: Setting) -> bool:
    """Whether the value of a setting has its own name as a variable: `PATH=/x:$PATH`."""
    return any(setting.name in match.groups() for match in WRITTEN.finditer(setting.value or ""))


def _in_flags(run: Run) -> Iterator[Reading]:
    """What Docker substitutes in the flags of a RUN, which end before its first other word."""
    for flags in run.flags.values():
        for flag in flags:
            whole = as_written(flag).search(run.source)
            if whole is None:  # an escape character in it
                continue
            for match in WRITTEN.finditer(whole[0]):
                before = run.source[: whole.start() + match.start()]
                line, column = run.location.line + before.count("\n"), len(before) - before.rfind("\n")
                yield Reading(match[1] or match[2], Location(run.location.path, line, column))


def _written(line: str, path: str, number: int) -> Iterator[Reading]:
    for match in WRITTEN.finditer(line):
        yield Reading(match[1] or match[2], Location(path, number, match.start() + 1))


def _readings(node: Node) -> Iterator[Reading]:
    for word in words_of(node):
        for variable in word.variables:
            if variable.name.isidentifier():
                yield Reading(variable.name, variable.location)
            for match in WRITTEN.finditer(variable.default or ""):
                yield Reading(match[1] or match[2], variable.location)
    if isinstance(node, Command):
        for redirect in node.redirects:
            yield from _of_heredoc(redirect, node)


def _of_heredoc(redirect: Redirect, command: Command) -> Iterator[Reading]:
    """What a here-document expands that is no shell program itself: one of those is read as a program of its own."""
    is_quoted = redirect.target is not None and redirect.target.text[:1] in {"'", '"', "\\"}
    if redirect.body is None or redirect.body_location is None or is_quoted:
        return
    words = invoked(command)
    if words and program_name(words[0]) in {"sh", "bash", "dash", "ksh", "zsh"}:
        return
    place = redirect.body_location
    for number, line in enumerate(redirect.body.split("\n")):
        yield from _written(line, place.path, place.line + number)


def _assigned(node: Node) -> Iterator[str]:
    if isinstance(node, Loop) and node.variable:
        yield node.variable
    if isinstance(node, Command):
        yield from (item.name for item in node.assignments if item.values or item.is_array)
        if node.name in READING:
            yield from (word.value for word in node.words[1:] if word.value is not None and word.value.isidentifier())
        for word in node.words:
            yield from (item.name for item in word.variables if item.default is not None and ":=" in word.text)


def _foreign(node: Node) -> Iterator[str]:
    if isinstance(node, Command):
        words = invoked(node)
        if words and INTERPRETERS.fullmatch(program_name(words[0])):
            yield from (part for word in words[1:] for part in word.parts if isinstance(part, str))
            yield from (redirect.body for redirect in node.redirects if redirect.body is not None)
