"""Reads a Dockerfile with BuildKit's grammar, as ported by e2b-dockerfile-utils, and finds where each part stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from e2b_dockerfile_utils import DockerfileSyntaxError, ShellLex, parse_dockerfile_ast

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.dockerfile import (
    Copy,
    Dockerfile,
    DockerfileError,
    Heredoc,
    Instruction,
    Run,
    Setting,
    Settings,
    Stage,
    Trigger,
)

HEREDOC_MARK = re.compile(r"\d*<<-?\s*(?:\"[^\"\n]*\"|'[^'\n]*'|[\w.-]+)")


def read_dockerfile(path: str, text: str, known: Mapping[Instruction, Instruction] | None = None) -> Dockerfile:
    """The file as data; an instruction that is equal to a `known` one is that very one.

    Raises DockerfileError, with the line, for what Docker would not read either.
    """
    known = known or {}
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    arguments: list[Setting] = []
    stages: list[Stage] = []
    try:
        parsed = parse_dockerfile_ast(text)
        reader = _Reader(path, text.split("\n"), parsed.escape_token)
        for node in parsed.instructions:
            instruction = reader.instruction(node)
            if instruction.keyword == "FROM":
                stages.append(_stage(instruction, stages, arguments, parsed.escape_token))
            elif stages:
                stages[-1] = _with(stages[-1], known.get(instruction, instruction))
            elif isinstance(instruction, Settings) and instruction.keyword == "ARG":
                arguments.extend(instruction.settings)
            else:
                raise DockerfileError(f"{instruction.keyword} stands above the first FROM", instruction.location)
    except DockerfileSyntaxError as error:
        message = re.sub(r"^Dockerfile parse error on line \d+: ", "", str(error))
        raise DockerfileError(message, Location(path, error.line or 1)) from None
    except RecursionError:
        raise DockerfileError("too deeply nested", Location(path)) from None
    if not stages:
        raise DockerfileError("there is no FROM", Location(path))
    return Dockerfile(path, tuple(arguments), tuple(stages), parsed.escape_token)


def _with(stage: Stage, instruction: Instruction) -> Stage:
    return replace(stage, instructions=(*stage.instructions, instruction))


def _stage(start: Instruction, stages: Sequence[Stage], arguments: Iterable[Setting], escape: str) -> Stage:
    if not start.words or (len(start.words) > 1 and (len(start.words) != 3 or start.words[1].upper() != "AS")):
        raise DockerfileError("FROM takes an image, and AS with a name", start.location)
    base = start.words[0]
    values: dict[str, str] = {}
    for setting in arguments:
        values[setting.name] = substituted(setting.value or "", values, escape)
    image = substituted(base, values, escape)
    index = len(stages)
    name = start.words[2] if len(start.words) == 3 else str(index)
    parent = next((stage for stage in reversed(stages) if stage.name.lower() == image.lower()), None)
    return Stage(index, name, base, start.location, (), parent)


def substituted(word: str, values: Mapping[str, str], escape: str = "\\") -> str:
    """A word of an instruction as Docker reads it: `$X`, `${X:-d}` and quotes; a name without a value is empty."""
    try:
        return ShellLex(escape, env=values, skip_unset_env=False).process_word(word)
    except ValueError:
        return word


def as_written(flag: str) -> re.Pattern[str]:
    """A flag, or its value, as it may stand in the lines of an instruction: the end of a line can be within."""
    return re.compile(r"(?:\\\n)?".join(map(re.escape, flag)))


class _Reader:
    def __init__(self, path: str, lines: Sequence[str], escape: str) -> None:
        self.path = path
        self.lines = lines
        self.escape = escape

    def instruction(self, node: Any) -> Instruction:
        first, last = node.start_line, node.end_line
        column = len(self.lines[first - 1]) - len(self.lines[first - 1].lstrip())
        heredocs = tuple(self._heredocs(node))
        header_end = (heredocs[0].location.line - 1) if heredocs else last
        common: dict[str, Any] = {
            "keyword": node.name,
            "words": tuple(node.args),
            "flags": _flags(node.flags),
            "location": Location(self.path, first, column + 1),
            "end_line": last,
            "source": "\n".join(self.lines[first - 1 : last]),
            "is_json": node.json,
            "heredocs": heredocs,
        }
        if node.name in {"ARG", "ENV"}:
            return Settings(**common, settings=tuple(self._settings(node, header_end)))
        if node.name in {"COPY", "ADD"}:
            *sources, destination = node.args if node.args else [""]
            plain = tuple(word for word in sources if not re.match(r"\d*<<", word))
            origin = common["flags"].get("from", (None,))[-1]
            return Copy(**common, sources=plain, destination=destination, origin=origin)
        if node.name == "RUN":
            return self._run(node, common, header_end)
        if node.name == "ONBUILD":
            return Trigger(**common, triggered=self._triggered(node))
        return Instruction(**common)

    def _triggered(self, node: Any) -> Instruction:
        line = self.lines[node.start_line - 1]
        rest = re.sub(r"(?i)^(\s*)onbuild", lambda match: match[1] + " " * 7, line)
        above = f"# escape={self.escape}" + "\n" * (node.start_line - 1)  # there is a FROM above
        text = above + "\n".join([rest, *self.lines[node.start_line : node.end_line]])
        inner = parse_dockerfile_ast(text).instructions
        if len(inner) != 1 or inner[0].name in {"ONBUILD", "FROM"}:
            raise DockerfileSyntaxError("ONBUILD takes one instruction, and not FROM or ONBUILD", node.start_line)
        shown = [*self.lines[: node.start_line - 1], rest, *self.lines[node.start_line :]]
        return _Reader(self.path, shown, self.escape).instruction(inner[0])

    def _heredocs(self, node: Any) -> Iterator[Heredoc]:
        line = node.end_line - sum(heredoc.content.count("\n") + 1 for heredoc in node.heredocs) + 1
        for heredoc in node.heredocs:
            yield Heredoc(heredoc.name, heredoc.content, Location(self.path, line), heredoc.expand)
            line += heredoc.content.count("\n") + 1

    def _settings(self, node: Any, last: int) -> Iterator[Setting]:
        line, column = node.start_line, self.lines[node.start_line - 1].upper().index(node.name) + len(node.name)
        for name, value in _assigned(node):
            line, column = self._find(name, line, column, last)
            yield Setting(name, value, Location(self.path, line, column + 1))
            column += len(name)

    def _find(self, text: str, line: int, column: int, last: int) -> tuple[int, int]:
        """Where `text` stands next, as a line from 1 and a column from 0; where the search began if nowhere."""
        pattern = re.compile(rf"(?<![\w$=]){re.escape(text)}(?!\w)")
        for number in range(line, last + 1):
            content = self.lines[number - 1]
            if number > line and content.lstrip().startswith("#"):
                continue
            match = pattern.search(content, column if number == line else 0)
            if match:
                return number, match.start()
        return line, column

    def _run(self, node: Any, common: Mapping[str, Any], last: int) -> Run:
        first = node.start_line
        lines = [self._blanked(line) for line in self.lines[first - 1 : last]]
        lines = [line if index < len(lines) - 1 else re.sub(r"\\$", " ", line) for index, line in enumerate(lines)]
        text = "\n".join(lines)
        text = re.sub(r"^\s*\w+", _blank, text)
        for flag in node.flags:
            text = as_written(flag).sub(_blank, text, count=1)
        marks = [*HEREDOC_MARK.finditer(text)][: len(node.heredocs)]
        columns = [_line_and_column(text[: mark.start()]) for mark in marks]
        for mark in marks:
            text = text[: mark.start()] + _blank(mark) + text[mark.end() :]
        return Run(
            **common,
            script="" if node.json else text,
            script_location=Location(self.path, first),
            heredoc_columns=tuple(columns),
        )

    def _blanked(self, line: str) -> str:
        """A line of RUN as a shell reads it: Docker drops comment lines and empty ones between continuations."""
        if not line.strip() or line.lstrip().startswith("#"):
            return " " * max(len(line) - 1, 0) + "\\"
        match = re.search(rf"{re.escape(self.escape)}[ \t]*$", line)
        return line[: match.start()] + "\\" if match else line


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _line_and_column(before: str) -> tuple[int, int]:
    return before.count("\n"), len(before) - before.rfind("\n") - 1


def _flags(flags: Iterable[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for flag in flags:
        name, _, value = flag.removeprefix("--").partition("=")
        found[name] = (*found.get(name, ()), value)
    return found


def _assigned(node: Any) -> Iterator[tuple[str, str | None]]:
    if node.name == "ARG":
        for word in node.args:
            name, equals, value = word.partition("=")
            yield name, value if equals else None
        return
    for index in range(0, len(node.args), 3):
        yield node.args[index], node.args[index + 1]
