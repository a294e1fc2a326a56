"""A RUN that links packages from uv's cache fills that cache itself, and each RUN that installs says how it links.

Why it matters: a hard link to a file of an earlier layer copies that file into this one. A cache mount is another file
system, so that uv copies there, without a word and with exit code 0. Symlinks are broken once their cache is gone. And
what uv does where nobody says how to link has changed between its releases.

What is looked at: `uv sync`, `uv run`, `uv pip install` and `uv pip sync`, in a RUN and in the scripts of the project
that it executes. The mode is that of `--link-mode`, of UV_LINK_MODE, or of `[tool.uv] link-mode`; a build argument has
its default.

How to fix it: fill the cache and link from it in one RUN, and remove it there for hard links, or take a folder of its
own for it (`mktemp -d`); no `--mount=type=cache` over it, but with `--link-mode copy`; keep it for symlinks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from posixpath import normpath

from pytest_actor_envs.guards.image.edits import at_end
from pytest_actor_envs.guards.image.places import RunPlace, StagePlace, carried_out, runs_of, stage_of, stages
from pytest_actor_envs.model import Finding, Guard, Location, Mutant, Undecided
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.dockerfile import Copy
from pytest_actor_envs.sources.image import CarriedOut
from pytest_actor_envs.sources.image_files import absolute
from pytest_actor_envs.sources.uv_installs import Install, events

HARDLINK, SYMLINK = "hardlink", "symlink"
Left = Mapping[str, tuple[Location, str | None]]
"""Caches that layers have left: where each was filled, and how the last install from it linked."""


def subjects(project: Project) -> Iterable[StagePlace]:
    return stages(project)


def check(project: Project, place: StagePlace) -> Iterator[Finding]:
    mode_of_project = project.pyproject.get("tool", "uv", "link-mode")
    found, unknown = False, list[Location]()
    for run in runs_of(project, place):
        done = carried_out(project, run)
        for finding in _findings(done, _left_by_earlier(project, run, mode_of_project), mode_of_project):
            found = True
            yield finding
        installs = (event for event in events(done) if isinstance(event, Install))
        unknown.extend(event.location for event in installs if event.says_mode and event.mode is None)
    if unknown and not found:
        raise Undecided(f"{unknown[0]}: the link mode is not known here; give the variable or build argument a default")


def _findings(done: CarriedOut, left: Left, mode_of_project: str | None) -> Iterator[Finding]:
    symlinked = {cache for cache, (_, mode) in left.items() if mode == SYMLINK}
    for event in events(done):
        if isinstance(event, Install):
            mode = event.mode if event.says_mode else mode_of_project
            if mode is None and not event.says_mode:
                message = "nothing says how uv links here"
                yield Finding(event.location, message, ("say it: --link-mode hardlink, or ENV UV_LINK_MODE=...",))
            yield from _wrong_install(event, mode, done, left)
            if mode == SYMLINK and event.cache is not None:
                symlinked.add(event.cache)
            continue
        left = {cache: value for cache, value in left.items() if not event.removes(cache)}
        if not event.asks_for_symlinks:
            for cache in sorted(cache for cache in symlinked if event.removes(cache)):
                message = f"removes {cache}, which symlinked environments need"
                yield Finding(event.location, message, ("keep the cache, or link with --link-mode hardlink",))


def _wrong_install(event: Install, mode: str | None, done: CarriedOut, left: Left) -> Iterator[Finding]:
    if mode not in {HARDLINK, SYMLINK}:
        return
    mount = next((target for target in _cache_mounts(done) if _is_below(event.cache, target)), None)
    if mode == SYMLINK and not event.keeps_cache:
        message = "links by symlinks to a cache that is gone when the command ends"
        yield Finding(event.location, message, ("leave --no-cache out, or link with --link-mode hardlink",))
    elif mount is not None:
        happens = "uv copies instead" if mode == HARDLINK else "the links are broken in the image"
        message = f"links from a cache mount over {event.cache}, another file system: {happens}"
        yield Finding(event.location, message, (f"leave the mount at {mount} out, or say --link-mode copy",))
    elif mode == HARDLINK and event.keeps_cache and event.cache is not None and event.cache in left:
        message = f"links from {event.cache}, which an earlier layer filled (at {left[event.cache][0]}): that copies each file"
        yield Finding(event.location, message, ("remove the cache in the RUN that filled it, or install in that RUN",))


def _cache_mounts(done: CarriedOut) -> Iterator[str]:
    for mount in done.run.flags.get("mount", ()):
        given = dict(part.partition("=")[::2] for part in mount.split(","))
        target = given.get("target") or given.get("dst") or given.get("destination")
        if given.get("type") == "cache" and target:
            yield absolute(target, done.state.directory)


def _is_below(path: str | None, folder: str) -> bool:
    return path is not None and PurePosixPath(path).is_relative_to(folder)


def _left_by_earlier(project: Project, place: RunPlace, mode_of_project: str | None) -> Left:
    """The caches that the layers above a RUN have left: where they were filled, and how the last install linked."""
    image, stage = stage_of(project, place)
    own = stage.runs()[place.number - 1]
    left: dict[str, tuple[Location, str | None]] = {}
    above = {id(done.run): done for done in image.runs(stage)}
    for item in stage.history:
        if item is own:
            break
        if isinstance(item, Copy) and item.destination.startswith("/"):
            left[normpath(item.destination)] = (item.location, None)
        done = above.get(id(item))
        mounts = list(_cache_mounts(done)) if done else []
        for event in events(done) if done else ():
            if not isinstance(event, Install):
                left = {cache: value for cache, value in left.items() if not event.removes(cache)}
            elif (
                event.cache is not None and event.keeps_cache and not any(_is_below(event.cache, one) for one in mounts)
            ):
                left[event.cache] = (event.location, event.mode if event.says_mode else mode_of_project)
    return left


def mutants(project: Project) -> Iterator[Mutant]:
    cache = "/no_such_cache"
    hard = f"uv sync --link-mode {HARDLINK} --cache-dir {cache}"
    soft = f"uv sync --link-mode {SYMLINK}"
    shapes = {
        "symlinks-without-cache": [f"RUN {soft} --cache-dir {cache} && rm -rf {cache}"],
        "symlinks-lose-cache-later": [f"RUN {soft} --cache-dir {cache}", f"RUN rm -rf {cache}"],
        "no-cache": [f"RUN {soft} --no-cache"],
        "cache-mount": [f"RUN --mount=type=cache,target={cache} {hard}"],
        "earlier-layer": [f"RUN {hard}", f"RUN {hard}"],
    }
    if project.pyproject.get("tool", "uv", "link-mode") is None:
        shapes["mode-unsaid"] = ["RUN unset UV_LINK_MODE && uv sync"]
    for place in stages(project):
        for shape, lines in shapes.items():
            yield Mutant(place.name, shape, at_end(project, place, lines))


GUARD = Guard("image-links-in-one-layer", subjects, check, mutants)
