"""Scripts ``python-<ClassName>`` that start the interpreter of an actor, for a person in a container."""

import collections
import os
import pathlib
import shlex
from collections.abc import Sequence

from nemo_rl.utils.actor_project import ActorProject


class WrapperClashError(ValueError):
    """Two actors want the same script."""


def script_name(actor: str) -> str:
    """Name of the script for an actor, e.g. ``python-NemoGym``."""
    return f"python-{actor.rpartition('.')[2]}"


def reject_clashes(actors: Sequence[str]) -> None:
    """Raise :class:`WrapperClashError`, naming all of them, where actors want the same script."""
    wanted = collections.defaultdict(list)
    for actor in actors:
        wanted[script_name(actor)].append(actor)
    clashes = [f"{name} is wanted by {' and by '.join(by)}" for name, by in sorted(wanted.items()) if len(by) > 1]
    if clashes:
        raise WrapperClashError("; ".join(clashes) + "; rename one of the classes")


def script_text(project: ActorProject, actor: str) -> str:
    """The script for an actor."""
    folder = shlex.quote(str(project.folder_of(actor)))
    return (
        f"#!/bin/sh\n# The interpreter of {actor}\n"
        f"export VIRTUAL_ENV={folder} UV_PROJECT_ENVIRONMENT={folder}\n"
        f'exec {shlex.quote(str(project.interpreter_of(actor)))} "$@"\n'
    )


def write_wrappers(project: ActorProject, actors: Sequence[str], folder: pathlib.Path) -> list[pathlib.Path]:
    """Write the scripts for these actors into a folder, each aside and then renamed.

    Returns their paths, in the order of the actors. Raises :class:`WrapperClashError` before anything is written, and
    ``OSError``.
    """
    # Imported here: every other run of the prefetch is spared it.
    import tempfile

    reject_clashes(actors)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for actor in actors:
        descriptor, aside = tempfile.mkstemp(prefix=f".{script_name(actor)}-", dir=folder)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(script_text(project, actor))
        os.chmod(aside, 0o755)
        os.replace(aside, folder / script_name(actor))
        written.append(folder / script_name(actor))
    return written
