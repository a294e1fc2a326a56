"""Edits of what pyproject.toml and the table say about one extra, for mutants."""

from __future__ import annotations

import json

from pytest_actor_envs.guards.edits import Files, written_extras
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.pyproject import PATH, normalized

OPTIONAL = "[project.optional-dependencies]"
STAND_ALONE = ("tool", "pytest-actor-envs", "stand-alone-extras")


def listed_alone(project: Project, extra: str) -> Files:
    """The extra listed as standing alone: in the list's own table, inline, or by a dotted key below the configuration."""
    place = project.pyproject.at(*STAND_ALONE)
    lines = project.tree.read_text(PATH).split("\n")
    line = lines[place.line - 1]
    if not line.lstrip().startswith("["):
        separator = ", " if project.config.stand_alone_extras else ""
        lines[place.line - 1] = line.replace("{", f'{{"{extra}" = "why"{separator}', 1)
    elif STAND_ALONE[-1] in line:
        lines.insert(place.line, f'"{extra}" = "why"')
    else:
        lines.insert(place.line, f'{STAND_ALONE[-1]}."{extra}" = "why"')
    return {PATH: "\n".join(lines)}


def listed_no_more(project: Project, extra: str) -> Files:
    """The extra's key, with its reason, taken out of the list of those that stand alone."""
    line = project.pyproject.at(*STAND_ALONE, extra).line
    lines = project.tree.read_text(PATH).split("\n")
    if line == project.pyproject.at(*STAND_ALONE).line:
        others = {key: reason for key, reason in project.config.stand_alone_extras.items() if key != extra}
        written = ", ".join(f"{json.dumps(key)} = {json.dumps(reason)}" for key, reason in others.items())
        lines[line - 1] = f"{STAND_ALONE[-1]} = {{ {written} }}"
    else:
        del lines[line - 1]
    return {PATH: "\n".join(lines)}


def with_conflict(project: Project, *extras: str) -> Files:
    """One more set of extras that conflict."""
    members = ", ".join(f'{{ extra = "{extra}" }}' for extra in extras)
    header, key = "[tool.uv]", "conflicts"
    lines = project.tree.read_text(PATH).split("\n")
    if project.pyproject.get("tool", "uv", key) is not None:
        place = project.pyproject.at("tool", "uv", key)
        lines[place.line - 1] = lines[place.line - 1].replace("[", f"[[{members}], ", 1)
    elif header in lines:
        lines.insert(lines.index(header) + 1, f"{key} = [[{members}]]")
    else:
        lines += [header, f"{key} = [[{members}]]"]
    return {PATH: "\n".join(lines)}


SPARE = "spare-of-a-mutant"
"""An extra, and the one distribution that it requires, which no project has."""


def with_spare_extra(project: Project) -> Files | None:
    """`SPARE` declared besides; `None` where a lock decides what there is, or extras stand in no table of their own."""
    lines = project.tree.read_text(PATH).split("\n")
    header = next((number for number, line in enumerate(lines) if line.strip() == OPTIONAL), None)
    if header is None or project.provision.decides(SPARE):
        return None
    lines.insert(header + 1, f'{SPARE} = ["{SPARE}"]')
    return {PATH: "\n".join(lines)}


def without_uses(project: Project, extra: str) -> Files:
    """The extra dropped from every entry."""
    text = project.tree.read_text(project.config.leaf)
    values = []
    for entry in project.entries:
        rest = [other for other in entry.extras or () if normalized(other) != normalized(extra)]
        if rest != list(entry.extras or ()):
            values.append((entry.value_span, written_extras(rest or None)))
    for (start, end), value in sorted(values, reverse=True):
        text = text[:start] + value + text[end:]
    return {project.config.leaf: text}
