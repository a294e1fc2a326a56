"""What later passes of an image build do with the list of environments: read it whole, or leave rows out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from pytest_actor_envs.guards.image.list_writing import TESTS, ends_badly, file_name
from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.image import CarriedOut
from pytest_actor_envs.sources.invocations import invoked, program_name
from pytest_actor_envs.sources.shell import (
    AndOr,
    Case,
    Command,
    If,
    Loop,
    Node,
    Pipeline,
    Redirect,
    Substitution,
    Word,
    all_nodes,
)
from pytest_actor_envs.sources.shell_steps import Step

STAGES = frozenset({"deps", "trtllm", "all"})
AWKS = frozenset({"awk", "gawk", "mawk"})
GREPS = frozenset({"grep", "egrep", "fgrep"})
FILTERS = AWKS | GREPS | {"sed", "head", "tail", "uniq", "comm"}
COMPARISONS = frozenset({"=", "==", "!=", "=~", "-eq", "-ne", "<", ">"})
Part = Literal["row", "stage"]
ROW: Part = "row"
STAGE: Part = "stage"
INPUTS = frozenset({"<", "<<", "<<-", "<<<"})
READERS = frozenset({"read", "mapfile", "readarray"})
CUTS_STAGE = re.compile(r"(-f|--fields)[ =]?2(?![\d,-])")
PRINTS_STAGE = re.compile(r"(?!.*(\$[013]|/)).*\$2", re.DOTALL)
STAGE_COLUMNS = {"cut": CUTS_STAGE, **dict.fromkeys(AWKS, PRINTS_STAGE)}
AWK_CHOICE = re.compile(r"\$[013](?!\d)(?=\s*(~|!~|==|!=))|(^|[^\\\w])/")
AWK_KEEPS_ROWS = re.compile(rf"(?!.*({AWK_CHOICE.pattern})).*\$2|\s*\{{\s*printf?\b[^{{}};]*\}}\s*$", re.DOTALL)
GREP_KEEPS_ROWS = re.compile(rf"(\\t|[\^$\s])*({'|'.join(sorted(STAGES))}|\.|)(\\t|[\^$\s])*")


@dataclass(frozen=True, slots=True)
class Filtering:
    """A place that leaves rows of the list out by something else than their stage."""

    command: str
    location: Location


class Reading:
    """Follows what comes from the list `file` through the variables of one RUN."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._parts: dict[str, Part] = {}

    def filterings(self, done: CarriedOut, first: int) -> Iterator[Filtering]:
        """Every place in a RUN, from its step number `first` on, that filters the list, as often as it runs."""
        for step in done.steps[first:]:
            self._follow_loops(step)
            cases = [context.node for context in step.contexts if isinstance(context.node, Case)]
            for case in cases:
                if self._of(case.subject) == ROW:
                    yield Filtering(f"case {case.subject.text}", case.location)
            if self._filters(step):
                yield Filtering(" ".join(word.text for word in step.command.words[:3]), step.command.location)
            self._follow(step)

    def reads(self, step: Step) -> bool:
        """Whether a command reads the list itself, as an argument or by `<`, its own or that of what it stands in.

        What feeds a command is the innermost input: one of its own hides that of the loop around it.
        """
        around = [context.node for context in reversed(step.contexts)]
        redirects = [node.redirects for node in around if isinstance(node, Loop | If | Case)]
        inputs = [found for found in map(_inputs, (step.command.redirects, *redirects)) if found]
        return self._is_given(step, step.command) or any(
            self._is_input(step, item) for found in inputs[:1] for item in found
        )

    def _is_given(self, step: Step, command: Command) -> bool:
        words = command.words[1:]
        return any(self._is_list(step, word) for word in words) or any(
            self._is_input(step, item) for item in command.redirects
        )

    def _is_list(self, step: Step, word: Word) -> bool:
        return file_name(step, word) == self._file

    def _is_input(self, step: Step, item: Redirect) -> bool:
        return item.operator == "<" and item.target is not None and self._is_list(step, item.target)

    def _of(self, word: Word, step: Step | None = None) -> Part | None:
        """Which part of the list a word holds: of its rows something else than the stage, or the stage alone."""
        found: set[Part] = set()
        for part in word.parts:
            if isinstance(part, Substitution):
                found.update(self._printed(part.body, step))
            elif not isinstance(part, str) and part.name in self._parts:
                found.add(self._parts[part.name])
        return _most([*found]) if found else None

    def _printed(self, body: tuple[Node, ...], step: Step | None) -> Iterator[Part]:
        """What a substitution's commands take from the list."""
        commands = [node for node in all_nodes(body) if isinstance(node, Command)]
        takes = [part for command in commands for part in self._taken(command, step)]
        if takes:
            yield STAGE if any(_is_stage_column(command) for command in commands) else _most(takes)

    def _taken(self, command: Command, step: Step | None) -> Iterator[Part]:
        if step is not None and self._is_given(step, command):
            yield ROW
        words = [*command.words, *(item.target for item in command.redirects if item.target is not None)]
        yield from (part for part in map(self._of, words) if part is not None)

    def _follow_loops(self, step: Step) -> None:
        for context in step.contexts:
            loop = context.node
            if isinstance(loop, Loop) and loop.variable:
                self._remember(loop.variable, [self._of(word, step) for word in loop.words])

    def _remember(self, name: str, parts: Sequence[Part | None]) -> None:
        known: list[Part] = [part for part in parts if part is not None]
        if known:
            self._parts[name] = _most(known)

    def _follow(self, step: Step) -> None:
        command = step.command
        if command.name not in READERS:
            for item in command.assignments:
                self._remember(item.name, [self._of(word, step) for word in item.values])
        elif self._stdin(step) is not None:
            names = [word.value for word in command.words[1:] if word.value and not word.value.startswith("-")]
            for index, name in enumerate(names):
                self._parts[name] = STAGE if index == 1 and command.name == "read" else ROW

    def _stdin(self, step: Step) -> Part | None:
        """Which part of the list a command is fed: by `<`, `<<<`, a loop's redirect or a pipe."""
        if self.reads(step):
            return ROW
        here = [item.target for item in step.command.redirects if item.operator == "<<<" and item.target]
        parts = [part for part in (self._of(word, step) for word in here) if part]
        if parts:
            return _most(parts)
        for context in step.contexts:
            if isinstance(context.node, Pipeline):
                before = takewhile(lambda part: step.command not in all_nodes((part,)), context.node.parts)
                parts = [*self._printed(tuple(before), step)]
                if parts:
                    return _most(parts)
        return None

    def _greps_another(self, step: Step, name: str) -> bool:
        """Whether a grep names files, none of them the list; its first operand is the pattern."""
        operands = [word for word in invoked(step.command)[1:] if not word.text.startswith("-")]
        files = [self._is_list(step, word) for word in operands[1:] if "/" in word.text]
        return name in GREPS and bool(files) and not any(files)

    def _filters(self, step: Step) -> bool:
        words = invoked(step.command)
        if not words:
            return False
        name = program_name(words[0])
        if name in FILTERS:
            return (
                self._stdin(step) == ROW and not _keeps_rows(step, words, name) and not self._greps_another(step, name)
            )
        if name in TESTS:
            compares = any(word.value in COMPARISONS for word in words)
            return compares and any(self._of(word) == ROW for word in words[1:]) and not _is_assertion(step)
        return False


def _inputs(redirects: Sequence[Redirect]) -> list[Redirect]:
    return [item for item in redirects if item.operator in INPUTS]


def _most(parts: Sequence[Part]) -> Part:
    return ROW if ROW in parts else STAGE


def _is_stage_column(command: Command) -> bool:
    """Whether a command takes the second column alone."""
    pattern = STAGE_COLUMNS.get(command.name)
    values = [word.value for word in command.words[1:] if word.value]
    text = " ".join(value for value in values if not value.startswith("/"))
    return pattern is not None and pattern.search(text) is not None


def _keeps_rows(step: Step, words: Sequence[Word], name: str) -> bool:
    """Whether a filter leaves no row out, or only those of another stage."""
    operands = [step.value(word) for word in words[1:] if not word.text.startswith("-")]
    if name in AWKS:
        return any(AWK_KEEPS_ROWS.match(value) for value in operands if value)
    return name in GREPS and all(GREP_KEEPS_ROWS.fullmatch(value) for value in operands[:1] if value)


def _is_assertion(step: Step) -> bool:
    """Whether a comparison that does not hold ends the build, in place of leaving a row out."""
    inner = [context.node for context in step.contexts[-1:]]
    return any(
        ends_badly((node.right,) if isinstance(node, AndOr) else node.branches[0][1])
        for node in inner
        if isinstance(node, AndOr | If)
    )
