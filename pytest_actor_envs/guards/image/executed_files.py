"""Which files of the project the RUNs of a stage execute, and whether they are there."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.image import CarriedOut, Image
from pytest_actor_envs.sources.image_files import Copied, places, project_file
from pytest_actor_envs.sources.invocations import Module, ScriptFile, invoked, program_name
from pytest_actor_envs.sources.shell_steps import Step

MAKING = frozenset(
    ["cp", "mv", "ln", "install", "curl", "wget", "tar", "unzip", "git", "rsync", "tee", "touch", "dd", "patch", "sed"]
)
"""Commands that put files where their words say."""

UNPACKING = frozenset({"git", "tar", "unzip"})
"""Those that make a folder, named like what they are given."""

FILE_NAMES = "file-names"
MAX_NAME = 255
"""How many bytes a file's name has at most: systems refuse to look for a longer one."""


@dataclass(frozen=True, slots=True)
class Use:
    """One execution of a file. `place` is where in the image; `path` the project's file, whether it is there or not."""

    step: Step
    place: str
    path: str
    is_there: bool = False


def uses(project: Project, image: Image, done: CarriedOut, earlier: Sequence[CarriedOut]) -> Iterator[Use]:
    """What a RUN executes of the project; files that an earlier command made are none of it."""
    for number, step in enumerate(done.steps):
        what = step.executed
        if isinstance(what, ScriptFile):
            place = step.path(what.word)
            if place is None:
                continue
            held = image.holds(done.copies, place)
            if held is not None:
                yield Use(step, place, held, is_there=True)
                continue
            path = _meant(project, image, done, place)
            before = [*(other for run in earlier for other in run.steps), *done.steps[:number]]
            if path is not None and not any(_makes(other, place) for other in before):
                yield Use(step, place, path)
        elif isinstance(what, Module) and what.name.partition(".")[0] in project.config.packages:
            path = _module_file(project, what.name)
            if path is not None:
                found = next((place for copy in done.copies for place in places(copy, path)), None)
                yield Use(step, found or posixpath.join(done.state.directory, path), path, found is not None)


def _meant(project: Project, image: Image, done: CarriedOut, place: str) -> str | None:
    """The project's file that a path in the image means, though no COPY put it there."""
    beside = posixpath.relpath(place, done.state.directory)
    if not beside.startswith("..") and project.tree.exists(beside):
        return beside
    ends = (image.end(stage).copies for stage in image.dockerfile.stages)
    copies = [*done.copies, *(copy for end in ends for copy in end)]
    return project_file(copies, place, project.tree.exists)


def _makes(step: Step, place: str) -> bool:
    if any(item.target is not None and step.path(item.target) == place for item in step.command.redirects):
        return True
    words = invoked(step.command)
    if not words or program_name(words[0]) not in MAKING:
        return False
    given = [word for word in words[1:] if not word.text.startswith("-")]
    if any(_is_below(step.path(word), place) for word in given):
        return True
    names = {
        re.sub(r"\.(git|zip|tgz|txz|tar(\.\w+)?)$", "", word.text.strip("\"'").rpartition("/")[2]) for word in given
    }
    unpacks = program_name(words[0]) in UNPACKING
    return not names.isdisjoint(place.split("/") if unpacks else [place.rpartition("/")[2]])


def _is_below(folder: str | None, place: str) -> bool:
    return folder is not None and f"{place}/".startswith(f"{folder}/")


def _module_file(project: Project, name: str) -> str | None:
    path = name.replace(".", "/")
    return next((file for file in (f"{path}.py", f"{path}/__main__.py") if project.tree.exists(file)), None)


def needs(project: Project, path: str) -> list[str]:
    """What a standalone script reads of the project: the files that its literals name, and what a fingerprint covers."""
    return project.settled(_needs, path)


def _needs(project: Project, path: str) -> list[str]:
    config = project.config
    if path not in config.standalone:
        return []
    found = list(config.fingerprint_covers) if path == config.fingerprint else []
    literals = project.of_file(FILE_NAMES, path, lambda: _file_names(project, path))  # pragma: no mutate: a cache's key
    return sorted({*found, *(name for name in literals if project.tree.exists(name))} - {path})


def _file_names(project: Project, path: str) -> tuple[str, ...]:
    """The string literals of a script that can be names of files; none of one that does not parse."""
    try:
        body = project.modules.parsed(path).body
    except (SyntaxError, ValueError):
        return ()
    return tuple({text for statement in body for text in project.files.of_statement(_possible_names, statement)})


def _possible_names(statement: ast.stmt) -> list[str]:
    texts = (node.value for node in ast.walk(statement) if isinstance(node, ast.Constant))
    return [text for text in texts if isinstance(text, str) and text.isprintable() and len(text.encode()) <= MAX_NAME]


def is_brought(copies: Sequence[Copied], image: Image, path: str, place: str) -> bool:
    """Whether some COPY puts a project's file at a place."""
    return not image.is_ignored(path) and any(place in places(copy, path) for copy in copies)
