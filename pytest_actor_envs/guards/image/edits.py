"""Edits of Dockerfiles for mutants: they fit any file, whatever its RUNs look like."""

from __future__ import annotations

import itertools

from pytest_actor_envs.guards.edits import Files, mark_and_text
from pytest_actor_envs.guards.image.places import RunPlace, StagePlace, carried_out
from pytest_actor_envs.model import Location
from pytest_actor_envs.project import Project


def with_code_first(project: Project, place: RunPlace, code: str) -> Files:
    """Shell code run first in a RUN: in its here-document where a shell reads one, else before its commands.

    `code` is a list of commands without an end; a RUN in exec form, or one that no shell reads, becomes the code alone.
    """
    done = carried_out(project, place)
    run = done.run
    own = [program.location for program in done.programs if program.location.path == place.path]
    if run.heredocs and run.heredocs[0].location in own:
        return with_lines(project, place.path, run.heredocs[0].location.line, [code])
    if run.is_json or run.heredocs:
        return without_lines(project, place.path, run.location.line, run.end_line, [f"RUN {code}"])
    lines = run.script.split("\n")
    row = next(index for index, line in enumerate(lines) if line.replace("\\", " ").strip())
    column = len(lines[row]) - len(lines[row].lstrip())
    return with_text(project, Location(place.path, run.script_location.line + row, column + 1), f"{code}; ")


def at_start(project: Project, place: StagePlace, lines: list[str]) -> Files:
    """Lines put right below a stage's FROM."""
    stage = project.images.dockerfile(place.path).stages[place.index]
    first = stage.location.line
    text = project.tree.read_text(place.path).split("\n")
    escape = project.images.dockerfile(place.path).escape
    continued = list(itertools.takewhile(lambda line: line.rstrip().endswith(escape), text[first - 1 :]))
    return with_lines(project, place.path, first + len(continued) + 1, lines)


def at_end(project: Project, place: StagePlace, lines: list[str]) -> Files:
    """Lines put behind a stage's last instruction."""
    stage = project.images.dockerfile(place.path).stages[place.index]
    if not stage.instructions:
        return at_start(project, place, lines)
    return with_lines(project, place.path, stage.end_line + 1, lines)


def with_lines(project: Project, path: str, line: int, lines: list[str]) -> Files:
    """Lines inserted before the line of a number, from 1."""
    mark, text = _mark_and_lines(project, path)
    return {path: mark + "\n".join([*text[: line - 1], *lines, *text[line - 1 :]])}


def without_lines(project: Project, path: str, first: int, last: int, lines: list[str] | None = None) -> Files:
    """The lines from `first` to `last` taken out, `lines` in their place."""
    mark, text = _mark_and_lines(project, path)
    return {path: mark + "\n".join([*text[: first - 1], *(lines or []), *text[last:]])}


def with_text(project: Project, place: Location, code: str) -> Files:
    """Text inserted at a place of a file."""
    mark, text = _mark_and_lines(project, place.path)
    line = text[place.line - 1]
    text[place.line - 1] = line[: place.column - 1] + code + line[place.column - 1 :]
    return {place.path: mark + "\n".join(text)}


def with_line_in_script(project: Project, path: str, code: str) -> Files:
    """A line run first in a script of the project: behind its comments and what `set` says about failures."""
    text = project.tree.read_text(path).split("\n")
    above = list(itertools.takewhile(lambda line: not line.strip() or line.startswith(("#", "set ")), text))
    return with_lines(project, path, len(above) + 1, [code])


def _mark_and_lines(project: Project, path: str) -> tuple[str, list[str]]:
    mark, text = mark_and_text(project, path)
    return mark, text.split("\n")
