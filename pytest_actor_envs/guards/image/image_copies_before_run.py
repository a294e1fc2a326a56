"""What a RUN executes of the project was copied into its stage before, and for a standalone script what it reads as well.

Why it matters: a layer holds what its COPYs brought, not what the checkout has. A script that starts another one, or
reads a file beside it, works everywhere but in the build; there it fails late, or worse: finds an older file.

How to fix it: put a COPY of the file above the RUN, or move the COPY that brings it up. Check what .dockerignore leaves
out. A Dockerfile that cannot be read at all is reported here too, since nothing else can be told about it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence

from pytest_actor_envs.guards.image.edits import at_start, with_lines, without_lines
from pytest_actor_envs.guards.image.executed_files import Use, is_brought, needs, uses
from pytest_actor_envs.guards.image.places import StagePlace, decided, stage_of, stages
from pytest_actor_envs.model import Finding, Guard, Mutant, Place, Undecided
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.dockerfile import Copy, DockerfileError
from pytest_actor_envs.sources.image import CarriedOut, Image
from pytest_actor_envs.sources.invocations import ScriptFile


def subjects(project: Project) -> Iterable[StagePlace | Place]:
    for path in project.config.dockerfiles:
        file = project.images.dockerfile_or_error(path)
        if isinstance(file, DockerfileError):
            yield project.place(path)
        else:
            yield from (StagePlace(path, stage.index, f"{path}[{stage.name}]", stage.location) for stage in file.stages)


def check(project: Project, place: StagePlace | Place) -> Iterator[Finding]:
    if isinstance(place, Place):
        error = project.images.dockerfile_or_error(place.name)
        if isinstance(error, DockerfileError):
            yield Finding(error.location, f"Docker cannot read this: {error}", ("mend the line",))
        return
    image, stage = stage_of(project, place)
    own = image.own_runs(stage)
    findings = list(_found(project, image, image.runs(stage), own))
    yield from decided(findings, own)
    for done in own if not findings else ():
        _decided(done)


def _found(project: Project, image: Image, runs: Sequence[CarriedOut], own: Sequence[CarriedOut]) -> Iterator[Finding]:
    """A file that is missing is told once: for the first stage that runs it, at the first place."""
    told: set[str] = set()
    earlier: list[CarriedOut] = []
    for done in runs:
        for use in uses(project, image, done, earlier):
            if use.place not in told:
                findings = _missing(image, use) if not use.is_there else _incomplete(project, image, done, use)
                for finding in findings:
                    told.add(use.place)
                    if done in own:
                        yield finding
        earlier.append(done)


def _missing(image: Image, use: Use) -> Iterator[Finding]:
    advice = ("put above this RUN:", f"    COPY {use.path} {use.place}")
    if image.is_ignored(use.path):
        advice = (".dockerignore keeps it out of the build context; add there:", f"    !{use.path}")
    yield Finding(use.step.origin, f"{_runs(use)}, which no COPY put at {use.place} before", advice)


def _incomplete(project: Project, image: Image, done: CarriedOut, use: Use) -> Iterator[Finding]:
    suffix = f"/{use.path}"
    root = use.place.removesuffix(suffix) if use.place.endswith(suffix) else done.state.directory
    for path in needs(project, use.path):
        place = posixpath.join(root or "/", path)
        if not is_brought(done.copies, image, path, place):
            advice = ("put above this RUN:", f"    COPY {path} {place}")
            yield Finding(
                use.step.origin, f"{_runs(use)}, which reads {path}; no COPY put it at {place} before", advice
            )


def _runs(use: Use) -> str:
    """Who runs the file: this RUN itself, or a script that it runs."""
    place, file = use.step.command.location, use.step.origin.path
    return f"runs {use.path}" if place.path == file else f"{place.path}:{place.line} runs {use.path}"


def _decided(done: CarriedOut) -> None:
    """Raises Undecided where what is run depends on a build argument without a default."""
    for step in done.steps:
        what = step.executed
        if isinstance(what, ScriptFile) and step.path(what.word) is None:
            for variable in what.word.variables:
                if variable.name in done.state.arguments and step.values.get(variable.name) is None:
                    raise Undecided(
                        f"{what.word.location}: which file runs depends on the build argument {variable.name}; "
                        f"give it a default: ARG {variable.name}=..."
                    )


def mutants(project: Project) -> Iterator[Mutant]:
    leaf = project.config.leaf
    for path in project.config.dockerfiles:
        first = project.images.dockerfile(path).stages[0].location.line
        yield Mutant(path, "no-instruction", with_lines(project, path, first, ["RUNS x"]))
    for place in stages(project):
        for shape, lines in (
            ("not-in-this-folder", ["WORKDIR /no/such/folder", f"RUN python3 {leaf}"]),
            ("absolute-path", ["WORKDIR /no/such/folder", f"RUN true && exec /no/such/folder/{leaf} all"]),
            ("in-a-heredoc", ["WORKDIR /no/such/folder", "RUN bash -e <<EOF", f"python3 -B {leaf} all", "EOF"]),
        ):
            yield Mutant(place.name, shape, at_start(project, place, lines))
        yield from _without_copies(project, place)


def _without_copies(project: Project, place: StagePlace) -> Iterator[Mutant]:
    """Each COPY that alone brings something which a RUN of its stage executes, taken out."""
    image, stage = stage_of(project, place)
    known = {use.path for done in image.own_runs(stage) for use in uses(project, image, done, ()) if use.is_there}
    for item in stage.instructions:
        if isinstance(item, Copy) and item.origin is None and known & set(item.sources):
            files = without_lines(project, place.path, item.location.line, item.end_line)
            yield Mutant(place.name, "copy-forgotten", files)


GUARD = Guard("image-copies-before-run", subjects, check, mutants)
