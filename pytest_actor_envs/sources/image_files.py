"""Which files of the project a stage holds, and at which paths, by the COPYs that were carried out."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from e2b_dockerfile_utils import PatternMatcher


@dataclass(frozen=True, slots=True)
class Copied:
    """One COPY from the project: `sources` relative to its root (empty for all of it), `destination` absolute.

    `into_folder` says that the destination is a folder even for a single file; `excluded` are patterns of paths inside
    a source. `keeps_parents` puts each file below the destination at its whole path.
    """

    sources: tuple[str, ...]
    destination: str
    into_folder: bool
    excluded: tuple[str, ...] = ()
    keeps_parents: bool = False


def copied(sources: Iterable[str], destination: str, directory: str) -> Copied:
    """A COPY of these words, carried out in a working directory."""
    names = tuple(posixpath.normpath(source.lstrip("/") or ".") for source in sources)
    names = tuple("" if name == "." else name for name in names)
    into_folder = destination.endswith(("/", "/.")) or destination == "." or len(names) > 1 or _is_pattern(names)
    return Copied(names, absolute(destination, directory), into_folder)


def absolute(path: str, directory: str) -> str:
    """A path in the image as an absolute one without `.` and `..`."""
    joined = posixpath.normpath(posixpath.join(directory, path))
    return "/" + joined.lstrip("/")


def _is_pattern(names: Iterable[str]) -> bool:
    return any(re.search(r"[*?\[]", name) for name in names)


def places(copy: Copied, path: str) -> Iterator[str]:
    """Where a COPY puts a file of the project, its path relative to the root; nothing if it does not bring it."""
    for source in copy.sources:
        inside = path.removeprefix(f"{source}/")
        if copy.excluded and PatternMatcher(list(copy.excluded)).matches(inside):
            continue
        if copy.keeps_parents and (
            not source or path.startswith(f"{source}/") or path == source or _matches(path, source)
        ):
            yield posixpath.join(copy.destination, path)
        elif not source:
            yield posixpath.join(copy.destination, path)
        elif path.startswith(f"{source}/"):
            yield posixpath.join(copy.destination, inside)
        elif path == source or _matches(path, source):
            yield posixpath.join(copy.destination, path.rpartition("/")[2]) if copy.into_folder else copy.destination


def _matches(path: str, pattern: str) -> bool:
    return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)


def project_file(copies: Iterable[Copied], place: str, exists: Callable[[str], bool]) -> str | None:
    """The project's file that stands at an absolute path of the image, `None` where no COPY put one there."""
    for copy in reversed(list(copies)):
        for source in copy.sources:
            for path in _candidates(copy, source, place):
                if exists(path) and place in places(copy, path):
                    return path
    return None


def _candidates(copy: Copied, source: str, place: str) -> Iterator[str]:
    inside = posixpath.relpath(place, copy.destination)
    if copy.keeps_parents:
        yield inside
    if not inside.startswith(".."):
        yield posixpath.join(source, inside)
    yield source
    if _is_pattern([source]):
        yield posixpath.join(posixpath.dirname(source), place.rpartition("/")[2])
