"""Subjects of the guards of images: stages, with names that stay while lines move, and the RUNs in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_actor_envs.model import Finding, Location, Undecided
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.dockerfile import Run, Stage
from pytest_actor_envs.sources.image import CarriedOut, Image


@dataclass(frozen=True, slots=True)
class StagePlace:
    """A stage of a configured Dockerfile. `name` is `path[stage]`."""

    path: str
    index: int
    name: str
    location: Location


@dataclass(frozen=True, slots=True)
class RunPlace:
    """A RUN, counted from 1 within its stage."""

    path: str
    index: int
    number: int


def stages(project: Project) -> Iterator[StagePlace]:
    """Every stage of every configured Dockerfile. Raises Blocked where one cannot be read."""
    for path in project.config.dockerfiles:
        for stage in project.images.dockerfile(path).stages:
            yield StagePlace(path, stage.index, f"{path}[{stage.name}]", stage.location)


def runs_of(project: Project, place: StagePlace) -> Iterator[RunPlace]:
    """The RUNs that stand in a stage."""
    for number in range(1, len(project.images.dockerfile(place.path).stages[place.index].runs()) + 1):
        yield RunPlace(place.path, place.index, number)


def stage_of(project: Project, place: StagePlace | RunPlace) -> tuple[Image, Stage]:
    """The image and the stage that a subject is, or stands in."""
    image = project.images.image(place.path)
    return image, image.dockerfile.stages[place.index]


def carried_out(project: Project, place: RunPlace) -> CarriedOut:
    """What a RUN does; one under ONBUILD is shown where it is carried out first, else as if it were here."""
    image, stage = stage_of(project, place)
    return carried_out_by(image, stage, stage.runs()[place.number - 1])


def carried_out_by(image: Image, stage: Stage, run: Run) -> CarriedOut:
    """What a RUN that stands in a stage does, as `carried_out` shows it."""
    for candidate in image.dockerfile.stages:
        for done in image.own_runs(candidate):
            if done.run is run:
                return done
    return image.alone(run, stage)


def decided(findings: Iterable[Finding], runs: Iterable[CarriedOut]) -> Iterator[Finding]:
    """The findings; where there are none, raises Undecided for shell text of these RUNs that cannot be parsed."""
    found = list(findings)
    yield from found
    unreadable = [place for done in runs for place in done.unreadable]
    if unreadable and not found:
        raise Undecided(
            f"{unreadable[0]}: this shell text cannot be parsed, so nobody can tell what it does; "
            "write it so that `bash -n` accepts it, or exempt this place with a reason"
        )
