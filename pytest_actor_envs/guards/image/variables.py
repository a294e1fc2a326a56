"""The variables of one image's RUNs and other instructions, each looked up once."""

from __future__ import annotations

from pytest_actor_envs.guards.image.places import carried_out_by
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.dockerfile import Instruction, Run, Setting, Stage
from pytest_actor_envs.sources.image import CarriedOut, Image
from pytest_actor_envs.sources.image_variables import Ran, Reading, instructions_of, ran, read_by
from pytest_actor_envs.sources.invocations import ScriptFile
from pytest_actor_envs.sources.tree import Tree


class ImageVariables:
    """What the instructions of one Dockerfile read."""

    def __init__(self, image: Image, tree: Tree) -> None:
        self.dockerfile = image.dockerfile
        self._ran = {
            (stage.index, run.location.line): _ran(carried_out_by(image, stage, run), image, tree)
            for stage in image.dockerfile.stages
            for run in stage.runs()
        }

    def of_run(self, stage: Stage, run: Run) -> Ran:
        """The variables of a RUN that stands in a stage, those of the project's scripts that it executes included."""
        return self._ran[stage.index, run.location.line]

    def readings(self, stage: Stage, item: Instruction) -> tuple[Reading, ...]:
        """What an instruction reads that it does not set itself: by Docker, or by the shells of a RUN."""
        return self.of_run(stage, item).from_outside if isinstance(item, Run) else tuple(read_by(item))

    def is_read(self, stage: Stage, setting: Setting) -> bool:
        """Whether an instruction of a stage reads what a setting sets; one above the setting in its own stage does not."""
        first = setting.location.line if _stands_in(setting, stage) else 0
        for item in instructions_of(stage):
            if item.end_line < first:
                continue
            if isinstance(item, Run):
                found = self.of_run(stage, item)
                if found.mentions(setting.name) or any(reading.name == setting.name for reading in found.readings):
                    return True
            elif any(reading.name == setting.name for reading in read_by(item)):
                return True
        return False


def variables_of(project: Project, path: str) -> ImageVariables:
    """The variables of a configured Dockerfile, worked out once."""
    return project.once(_variables, path)


def _variables(project: Project, path: str) -> ImageVariables:
    return ImageVariables(project.image(path), project.tree)


def _ran(done: CarriedOut, image: Image, tree: Tree) -> Ran:
    """The variables of a RUN, with the texts of the project's scripts that are programs of no shell."""
    texts = []
    shells = {program.location.path for program in done.programs}
    for step in done.steps:
        what = step.executed
        place = step.path(what.word) if isinstance(what, ScriptFile) else None
        path = image.holds(done.copies, place) if place is not None else None
        if path is not None and path not in shells:
            texts.append(tree.read_bytes(path).decode("utf-8", "replace"))
    return ran(done, texts)


def _stands_in(setting: Setting, stage: Stage) -> bool:
    return stage.location.line < setting.location.line <= stage.end_line
