"""Each build argument that a stage uses is declared there, and each one that is declared is used.

Why it matters: an argument that a stage does not declare is empty there, without a word; `--build-arg` for one that
nothing reads, or whose name is misspelt, changes nothing, which is noticed after publishing.

What is looked at: an argument is in scope from its ARG on, in that stage and in those built on it. A variable that is
an ARG elsewhere, or has nearly the name of an ARG, an ENV or a variable that the project's code reads, must not be read
out of scope; one that a shell of the same RUN assigns, or that base images set, is not judged. An ARG is read by an
instruction, by a shell or a script that a RUN executes, or by a program: MAX_JOBS, UV_*, PIP_*, and what
`build-arguments` adds.

How to fix it: declare the argument in the stage, above its use; remove one that nothing reads any more; write one name
in one way.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_actor_envs.guards.image.edits import at_end, with_lines, with_text
from pytest_actor_envs.guards.image.near_names import PLATFORM, READ_BY_ALL, is_of_base_image, near, project_variables
from pytest_actor_envs.guards.image.places import StagePlace, stage_of, stages
from pytest_actor_envs.guards.image.variables import ImageVariables, variables_of
from pytest_actor_envs.model import Finding, Guard, Location, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.dockerfile import Dockerfile, Setting, Stage
from pytest_actor_envs.sources.image_variables import WRITTEN, Reading, instructions_of, settings_in, settings_of


@dataclass(frozen=True, slots=True)
class GlobalArguments:
    """The ARGs above the first FROM, as a subject."""

    path: str
    name: str
    location: Location


def subjects(project: Project) -> Iterator[StagePlace | GlobalArguments]:
    yield from stages(project)
    for path in project.config.dockerfiles:
        arguments = project.images.dockerfile(path).arguments
        if arguments:
            yield GlobalArguments(path, f"{path}[]", arguments[0].location)


def check(project: Project, subject: StagePlace | GlobalArguments) -> Iterator[Finding]:
    if isinstance(subject, GlobalArguments):
        yield from _unread_globals(project, project.images.dockerfile(subject.path))
        return
    _, stage = stage_of(project, subject)
    variables = variables_of(project, subject.path)
    yield from _out_of_scope(project, variables, stage)
    yield from _unread(project, variables, stage)
    yield from _misspelt(project, variables, stage)


def _unread_globals(project: Project, dockerfile: Dockerfile) -> Iterator[Finding]:
    texts = [_from_line(project, stage) for stage in dockerfile.stages]
    texts += [str(setting.value) for setting in dockerfile.arguments]
    read = {name for text in texts for match in WRITTEN.finditer(text) for name in match.groups()}
    declared = {setting.name for stage in dockerfile.stages for setting in settings_of(stage, "ARG")}
    for setting in dockerfile.arguments:
        if setting.name not in read | declared:
            message = f"no FROM reads the build argument {setting.name}, and no stage declares it"
            yield Finding(setting.location, message, ("remove it, or declare it in the stage that reads it",))


def _from_line(project: Project, stage: Stage) -> str:
    return project.tree.read_text(stage.location.path).split("\n")[stage.location.line - 1]


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a Dockerfile: each ARG with its first place, every ENV, and what the project's code reads."""

    arguments: Mapping[str, Location]
    variables: frozenset[str]

    def is_argument(self, name: str) -> bool:
        return name in self.arguments or name in PLATFORM

    def meant_by(self, name: str) -> str | None:
        """The name that an unknown one is nearly; `None` for a known one, and one that is like none."""
        return None if name in self.variables else near(name, self.variables | self.arguments.keys())


def _names(project: Project, dockerfile: Dockerfile) -> _Names:
    arguments: dict[str, Location] = {}
    everywhere = [setting for stage in dockerfile.stages for setting in settings_of(stage, "ARG")]
    for setting in (*dockerfile.arguments, *everywhere):
        arguments.setdefault(setting.name, setting.location)
    set_by_env = {setting.name for stage in dockerfile.stages for setting in settings_of(stage, "ENV")}
    return _Names(arguments, project_variables(project) | set_by_env)


def _out_of_scope(project: Project, variables: ImageVariables, stage: Stage) -> Iterator[Finding]:
    names = _names(project, variables.dockerfile)
    for reading in _in_from(project, stage):
        if reading.name not in PLATFORM | {setting.name for setting in variables.dockerfile.arguments}:
            yield _undeclared(reading, names, "FROM", "above the first FROM")
    in_scope = {
        setting.name for item in (stage.parent.history if stage.parent else ()) for setting in settings_in(item)
    }
    for item in instructions_of(stage):
        if item.keyword == "ARG":
            in_scope |= {setting.name for setting in settings_in(item)}
        for reading in variables.readings(stage, item):
            if (
                reading.name in in_scope
                or is_of_base_image(reading.name)
                or reading.location.path != item.location.path
            ):
                continue
            if names.is_argument(reading.name) or names.meant_by(reading.name):
                yield _undeclared(reading, names, f"the stage '{stage.name}'", "in the stage, above this line")
        in_scope |= {setting.name for setting in settings_in(item)}


def _in_from(project: Project, stage: Stage) -> Iterator[Reading]:
    place = stage.location
    for match in WRITTEN.finditer(_from_line(project, stage)):
        yield Reading(match[1] or match[2], Location(place.path, place.line, match.start() + 1))


def _undeclared(reading: Reading, names: _Names, who: str, where: str) -> Finding:
    name = reading.name
    meant = names.meant_by(name)
    if meant and not names.is_argument(name):
        return Finding(reading.location, f"{who} reads {name}, which nothing sets", (f"did you mean '{meant}'?",))
    first = f"; it is at {names.arguments[name]}" if name in names.arguments else ""
    message = f"{who} reads the build argument {name}, which no ARG declares for it{first}"
    return Finding(reading.location, message, (f"write {where}:", f"    ARG {name}"))


def _unread(project: Project, variables: ImageVariables, stage: Stage) -> Iterator[Finding]:
    heirs = (stage, *variables.dockerfile.descendants(stage))
    for setting in settings_of(stage, "ARG"):
        if _is_for_programs(project, setting) or any(variables.is_read(heir, setting) for heir in heirs):
            continue
        message = f"nothing reads the build argument {setting.name} in the stage '{stage.name}'"
        listed = f'build-arguments = [..., "{setting.name}"] in [tool.pytest-actor-envs]'
        yield Finding(setting.location, message, (f"remove it; or, where a program reads it: {listed}",))


def _is_for_programs(project: Project, setting: Setting) -> bool:
    """Whether programs read an argument: by configuration, or as all programs do (DEBIAN_FRONTEND, TZ, proxies)."""
    listed = any(fnmatch.fnmatchcase(setting.name, pattern) for pattern in project.config.build_arguments)
    return listed or setting.name in READ_BY_ALL


def _misspelt(project: Project, variables: ImageVariables, stage: Stage) -> Iterator[Finding]:
    """ENVs that nothing reads and that have nearly the name of a variable that the project's code reads."""
    known = project_variables(project)
    for setting in settings_of(stage, "ENV"):
        if setting.name in known or is_of_base_image(setting.name):
            continue
        meant = near(setting.name, known)
        heirs = (stage, *variables.dockerfile.descendants(stage))
        if meant and not any(variables.is_read(heir, setting) for heir in heirs):
            yield Finding(setting.location, f"sets {setting.name}, which nothing reads", (f"did you mean '{meant}'?",))


def mutants(project: Project) -> Iterator[Mutant]:
    name = "NO_SUCH_BUILD_ARGUMENT"
    declared, use = f"ARG {name}=1", f'RUN echo "${{{name}}}"'
    for place in stages(project):
        first = project.images.dockerfile(place.path).stages[0].location.line
        yield Mutant(place.name, "unread", at_end(project, place, [declared]))
        yield Mutant(place.name, "declared-below", at_end(project, place, [use, declared, use]))
        used = project.with_overlay(at_end(project, place, [use]))
        yield Mutant(place.name, "undeclared", with_lines(used, place.path, first, [declared]))
        yield from _misspelling(project, place)
    for path in project.config.dockerfiles:
        if project.images.dockerfile(path).arguments:
            line = project.images.dockerfile(path).stages[0].location.line
            yield Mutant(f"{path}[]", "unread-above", with_lines(project, path, line, [declared]))


def _misspelling(project: Project, place: StagePlace) -> Iterator[Mutant]:
    """Each ARG of the stage misspelt that a shell or an instruction reads, and no ancestor sets."""
    _, stage = stage_of(project, place)
    variables = variables_of(project, place.path)
    inherited = {
        setting.name for item in (stage.parent.history if stage.parent else ()) for setting in settings_in(item)
    }
    for setting in settings_of(stage, "ARG"):
        if setting.name not in inherited and not is_of_base_image(setting.name) and variables.is_read(stage, setting):
            behind = Location(place.path, setting.location.line, setting.location.column + len(setting.name))
            yield Mutant(place.name, "misspelt", with_text(project, behind, "X"))


GUARD = Guard("image-arg-in-scope", subjects, check, mutants)
