"""Every extra that a Dockerfile names is declared, and a list of extras that stands in several places is the same in all.

Why it matters: an extra that is renamed in pyproject.toml and not in the image's list is skipped no more, or fails the
build an hour later. Of two copies of one list, one is edited.

What is looked at: what stands behind `--extra` and in `.[...]` where the project's pyproject.toml is, the arguments of
the leaf, and the variables, arrays, loops and build arguments that lead there, also in scripts of the project that a RUN
executes. Two lists are copies of one where they are values of one variable, or have two extras in common; a list has
two extras or more.

How to fix it: write the extra as pyproject.toml does. Keep one list: in a build argument or a file that every later RUN
reads.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.image.edits import at_end
from pytest_actor_envs.guards.image.places import StagePlace, stage_of, stages
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.image_extras import ExtraList, ImageExtras
from pytest_actor_envs.sources.pyproject import normalized


def subjects(project: Project) -> Iterable[StagePlace]:
    return stages(project)


def check(project: Project, place: StagePlace) -> Iterator[Finding]:
    image, stage = stage_of(project, place)
    extras = project.once(_extras, place.path)
    own = extras.lists(stage)
    yield from _undeclared(project, own)
    earlier = [one for other in image.dockerfile.stages[: stage.index] for one in extras.lists(other)]
    for one in own:
        copy = next((other for other in earlier if _is_copy(one, other)), None)
        if copy is not None:
            yield from _difference(one, copy)
        earlier.append(one)


def _extras(project: Project, path: str) -> ImageExtras:
    return ImageExtras(project.images.image(path), project.config.leaf, normalized(project.pyproject.name))


def _undeclared(project: Project, lists: Iterable[ExtraList]) -> Iterator[Finding]:
    if "optional-dependencies" in project.pyproject.get("project", "dynamic", default=[]):
        return  # only building the project tells which extras there are
    declared = project.pyproject.extras_by_name
    names = sorted(extra.name for extra in declared.values())
    for extra in dict.fromkeys(extra for one in lists for extra in one.extras):
        if normalized(extra.name) not in declared:
            close = difflib.get_close_matches(extra.name, names)
            suggestion = f"did you mean '{close[0]}'?   " if close else ""
            message = f"names the extra '{extra.name}', which pyproject.toml does not declare"
            yield Finding(extra.location, message, (f"{suggestion}declared: {', '.join(names) or 'none'}",))


def _is_copy(one: ExtraList, other: ExtraList) -> bool:
    if one.location == other.location or max(len(one.names), len(other.names)) < 2:
        return False
    return (one.holder is not None and one.holder == other.holder) or len(one.names & other.names) >= 2


def _difference(one: ExtraList, other: ExtraList) -> Iterator[Finding]:
    if one.names == other.names:
        return
    lacking, added = sorted(other.names - one.names), sorted(one.names - other.names)
    parts = [f"lacks {', '.join(lacking)}"] if lacking else []
    parts += [f"has {', '.join(added)} besides"] if added else []
    message = f"this list of extras is a copy of the one at {other.location}, and {' and '.join(parts)}"
    yield Finding(one.location, message, ("keep one list, in a build argument or a file, and read it in both places",))


def mutants(project: Project) -> Iterator[Mutant]:
    here = ["WORKDIR /no/such/folder", "COPY pyproject.toml ./"]
    names = [extra.name for extra in project.pyproject.extras]
    for place in stages(project):
        unknown = {
            "unknown-in-flag": ["RUN uv sync --link-mode copy --extra no_such_extra"],
            "unknown-in-loop": ['RUN for one in no_such_extra; do uv sync --link-mode copy --extra "$one"; done'],
            "unknown-in-argument": ["ARG MORE=no_such_extra", 'RUN uv sync --link-mode copy --extra "$MORE"'],
            "unknown-in-brackets": ["RUN uv pip install --link-mode copy -e '.[no_such_extra]'"],
        }
        for shape, lines in unknown.items():
            yield Mutant(place.name, shape, at_end(project, place, [*here, *lines]))
        if len(names) > 1:
            loops = [
                f'RUN for one in {listed}; do uv sync --link-mode copy --extra "$one"; done'
                for listed in (f"{names[0]} {names[1]}", names[0])
            ]
            yield Mutant(place.name, "copies-differ", at_end(project, place, [*here, *loops]))


GUARD = Guard("image-skip-known", subjects, check, mutants)
