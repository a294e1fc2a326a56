"""Each ENV is set once in a stage and all it is built on, and before the commands that read it.

Why it matters: of one key that is set three times in inheriting stages, the last value counts, and a change of the
first one changes nothing. One that is set behind the command that reads it is not set for that command.

What is looked at: an ENV whose key an ENV above it, in the stage or in one that it is built on, has set already, unless
its value mentions itself (`PATH=/x:$PATH`); and the first setting of a key behind a RUN that reads it, in its own shell
text or in a script of the project that it executes. `ARG X` with `ENV X=$X` is one setting, which stands at the ARG.

How to fix it: keep the first setting and remove the others; move it above the RUN; a value for one command is written
before it: `RUN X=1 command`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.image.edits import at_end
from pytest_actor_envs.guards.image.places import StagePlace, stage_of, stages
from pytest_actor_envs.guards.image.variables import variables_of
from pytest_actor_envs.model import Finding, Guard, Location, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.dockerfile import Instruction, Run, Stage
from pytest_actor_envs.sources.image_variables import Reading, instructions_of, mentions_itself, settings_in


def subjects(project: Project) -> Iterable[StagePlace]:
    return stages(project)


def check(project: Project, place: StagePlace) -> Iterator[Finding]:
    _, stage = stage_of(project, place)
    variables = variables_of(project, place.path)
    first: dict[str, Location] = {}
    arguments: set[str] = set()
    read: dict[str, Reading] = {}
    for owner, item in _with_owners(stage):
        is_own = owner is stage
        for setting in settings_in(item):
            if item.keyword == "ARG":
                arguments.add(setting.name)
                continue
            if is_own and not mentions_itself(setting) and setting.name in first:
                message = f"{setting.name} is set again; it is set at {first[setting.name]}"
                yield Finding(setting.location, message, ("keep one of the two, in the stage that needs it first",))
            elif is_own and setting.name not in first and setting.name in read:
                reader = read[setting.name].location
                message = f"{setting.name} is set behind a RUN that reads it, at {reader}"
                once = f"RUN {setting.name}={setting.value} ..."
                yield Finding(
                    setting.location, message, ("set it above that RUN, or for one command alone:", f"    {once}")
                )
            first.setdefault(setting.name, setting.location)
        if isinstance(item, Run):
            for reading in variables.of_run(owner, item).from_outside:
                if reading.name not in arguments:
                    read.setdefault(reading.name, reading)


def _with_owners(stage: Stage) -> Iterator[tuple[Stage, Instruction]]:
    """The instructions of a stage and of all that it is built on, in order, each with the stage that it stands in."""
    for ancestor in stage.lineage:
        for item in instructions_of(ancestor):
            yield ancestor, item


def mutants(project: Project) -> Iterator[Mutant]:
    name = "NO_SUCH_VARIABLE"
    for place in stages(project):
        yield Mutant(place.name, "set-twice", at_end(project, place, [f"ENV {name}=1", f"ENV {name}=2"]))
        yield Mutant(place.name, "set-twice-at-once", at_end(project, place, [f"ENV {name}=1 {name}=1"]))
        yield Mutant(place.name, "set-behind", at_end(project, place, [f'RUN echo "${{{name}}}"', f"ENV {name}=1"]))
        image, stage = stage_of(project, place)
        for item in image.dockerfile.stages[stage.index].history:
            for setting in settings_in(item) if item.keyword == "ENV" else ():
                yield Mutant(place.name, "set-again", at_end(project, place, [f"ENV {setting.name}=again"]))


GUARD = Guard("image-env-set-once", subjects, check, mutants)
