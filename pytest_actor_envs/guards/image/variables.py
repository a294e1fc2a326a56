"""The variables of one image's RUNs and other instructions, each looked up once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_actor_envs.guards.image.places import carried_out_by
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.dockerfile import Instruction, Run, Setting, Stage
from pytest_actor_envs.sources.image import CarriedOut, Image
from pytest_actor_envs.sources.image_variables import Ran, Reading, instructions_of, ran, read_by
from pytest_actor_envs.sources.invocations import ScriptFile

Place = tuple[int, int]
"""The index of a stage, and the line of one of its RUNs."""


class ImageVariables:
    """What the instructions of one Dockerfile read."""

    def __init__(self, project: Project, path: str) -> None:
        self.dockerfile = project.images.image(path).dockerfile
        self._project = project
        self._ran, self._scripts = project.once(_by_run, path)

    def of_run(self, stage: Stage, run: Run) -> Ran:
        """The variables of a RUN that stands in a stage, those of shell scripts that it executes included."""
        return self._ran[stage.index, run.location.line]

    def readings(self, stage: Stage, item: Instruction) -> tuple[Reading, ...]:
        """What an instruction reads that it does not set itself: by Docker, or by the shells of a RUN."""
        return self.of_run(stage, item).from_outside if isinstance(item, Run) else tuple(read_by(item))

    def is_read(self, stage: Stage, setting: Setting) -> bool:
        """Whether an instruction of a stage, below a setting, reads what it sets."""
        for item in instructions_of(stage):
            if item.end_line < setting.location.line:
                continue
            if isinstance(item, Run):
                found = self.of_run(stage, item)
                if found.mentions(setting.name) or any(reading.name == setting.name for reading in found.readings):
                    return True
                scripts = self._scripts[stage.index, item.location.line]
                if any(self._project.settled(_mentions, path, setting.name) for path in scripts):
                    return True
            elif any(reading.name == setting.name for reading in read_by(item)):
                return True
        return False


def variables_of(project: Project, path: str) -> ImageVariables:
    """The variables of a configured Dockerfile."""
    return ImageVariables(project, path)


def _by_run(project: Project, path: str) -> tuple[dict[Place, Ran], dict[Place, tuple[str, ...]]]:
    """Of each RUN, its variables, and the project's scripts for other programs than a shell that it executes."""
    image = project.images.image(path)
    variables, scripts = {}, {}
    for stage in image.dockerfile.stages:
        for run in stage.runs():
            done = carried_out_by(image, stage, run)
            variables[stage.index, run.location.line] = project.images.of_run(ran, done)
            scripts[stage.index, run.location.line] = tuple(_other_scripts(done, image))
    return variables, scripts


def _other_scripts(done: CarriedOut, image: Image) -> Iterator[str]:
    shells = {program.location.path for program in done.programs}
    for step in done.steps:
        what = step.executed
        place = step.path(what.word) if isinstance(what, ScriptFile) else None
        path = image.holds(done.copies, place) if place is not None else None
        if path is not None and path not in shells:
            yield path


def _mentions(project: Project, path: str, name: str) -> bool:
    word = re.escape(name).encode()
    return re.search(rb"(?<!\w)%b(?!\w)" % word, project.tree.read_bytes(path)) is not None
