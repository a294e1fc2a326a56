"""Edits of what pyproject.toml and the table say about one extra, for mutants."""

from __future__ import annotations

from pytest_actor_envs.guards.edits import Files, written_extras
from pytest_actor_envs.model import MutantDoesNotApply
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.pyproject import PATH, normalized

STAND_ALONE = "[tool.pytest-actor-envs.stand-alone-extras]"


def listed_alone(project: Project, extra: str) -> Files:
    """The extra listed as standing alone. Raises MutantDoesNotApply where the list is an inline table."""
    text = project.tree.read_text(PATH)
    line = f'"{extra}" = "why"\n'
    if STAND_ALONE in text:
        return {PATH: text.replace(f"{STAND_ALONE}\n", f"{STAND_ALONE}\n{line}", 1)}
    if project.config.stand_alone_extras:
        raise MutantDoesNotApply("stand-alone-extras is no table of its own")
    return {PATH: f"{text.rstrip()}\n\n{STAND_ALONE}\n{line}"}


def listed_as_another(project: Project, extra: str) -> Files:
    """The extra's key in the list of those that stand alone renamed."""
    place = project.pyproject.at("tool", "pytest-actor-envs", "stand-alone-extras", extra)
    lines = project.tree.read_text(PATH).split("\n")
    line = lines[place.line - 1]
    if extra not in line[place.column - 1 :]:
        raise MutantDoesNotApply(f"{extra} does not stand at {place}")
    lines[place.line - 1] = line[: place.column - 1] + line[place.column - 1 :].replace(extra, f"{extra}-gone", 1)
    return {PATH: "\n".join(lines)}


def without_uses(project: Project, extra: str) -> Files:
    """The extra dropped from every entry."""
    text = project.tree.read_text(project.config.leaf)
    for entry in sorted(project.entries, key=lambda entry: -entry.value_span[0]):
        rest = [other for other in entry.extras or () if normalized(other) != normalized(extra)]
        if len(rest) != len(entry.extras or ()):
            text = text[: entry.value_span[0]] + written_extras(rest or None) + text[entry.value_span[1] :]
    return {project.config.leaf: text}
