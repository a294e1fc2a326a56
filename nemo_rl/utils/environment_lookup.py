"""Whether the environments that are there serve for what the table says now: stamps wanted, stamps found.

Finding that everything is complete is what almost every start does, so this module imports nothing that only building
needs.
"""

import enum
import os
import pathlib
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from nemo_rl.utils import environment_stamp
from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.environment_stamp import COMPLETE, Stamp

FORCE_VARIABLE = "NRL_FORCE_REBUILD_VENVS"


class Action(enum.Enum):
    """What was done to get an environment."""

    REUSED = "reused"
    COMPLETED = "completed"
    BUILT = "built"


class Outcome(NamedTuple):
    """One environment that is complete.

    Attributes:
        actor: fully-qualified name.
        python: its interpreter.
        action: what was done for it.
        seconds: how long that took, waiting for others included.
        notes: what a person should know all the same, each a line.
    """

    actor: str
    python: pathlib.Path
    action: Action
    seconds: float
    notes: tuple[str, ...] = ()


def rebuild_is_forced() -> bool:
    """Whether ``NRL_FORCE_REBUILD_VENVS`` is ``true`` or ``1``. Raises ``ValueError`` for an unknown value."""
    value = os.environ.get(FORCE_VARIABLE, "")
    if value.lower() not in ("", "0", "1", "true", "false"):
        raise ValueError(f"{FORCE_VARIABLE} is {value!r}; set it to true or false, or unset it")
    return value.lower() in ("1", "true")


def this_run() -> str:
    """A name for the running process that no other process has, also not a later one with the same number."""
    started = pathlib.Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    return f"{os.uname().nodename}:{os.getpid()}:{started}"


def wanted_stamps(project: ActorProject, actors: Sequence[str], run: str) -> dict[str, Stamp]:
    """Actor -> stamp of an environment that is complete for what table, lock and interpreter are now.

    Raises:
        UnregisteredActorError: the table has no such actor.
        ValueError: an actor runs on the driver's interpreter.
        EnvironmentBuildError: no ``uv.lock``, or no usable interpreter.
    """
    extras_by_actor = {}
    for actor in actors:
        extras = project.extras_of(actor)
        if extras is None:
            raise ValueError(f"{actor} runs on the driver's interpreter and has no environment of its own")
        extras_by_actor[actor] = tuple(sorted(set(extras)))
    lock, python = project.root / "uv.lock", project.python or sys.executable
    try:
        common = environment_stamp.stamp_for(project.environments, (), lock, python, project.root, run=run)
    except FileNotFoundError as error:
        raise EnvironmentBuildError(
            f"there is no {lock}, which says what environments consist of\n"
            f"    write it: uv lock --directory {project.root} (here: make lock)"
        ) from error
    except (environment_stamp.StampError, OSError) as error:
        raise EnvironmentBuildError(str(error)) from error
    return {
        actor: common._replace(extras=extras, folder=os.path.realpath(project.folder_of(actor)))
        for actor, extras in extras_by_actor.items()
    }


def fitting_stamp(folder: pathlib.Path, wanted: Stamp) -> Stamp | None:
    """The stamp of an environment that serves, complete or not; ``None`` for one that has to be built anew.

    Raises ``OSError`` where a stamp exists and cannot be read.
    """
    found = environment_stamp.read_stamp(folder)
    if found is None or environment_stamp.differences(found, wanted) or not os.access(folder / "bin/python", os.X_OK):
        return None
    return found


def is_complete(stamp: Stamp | None) -> bool:
    """Whether a stamp says that nothing is missing."""
    return stamp is not None and stamp.state == COMPLETE


def complete_environments(project: ActorProject, actors: Sequence[str], run: str) -> dict[str, Outcome]:
    """Those of the actors whose environments are complete for what the table says now. Raises as `wanted_stamps`."""
    found = {}
    for actor, wanted in wanted_stamps(project, actors, run).items():
        began = time.monotonic()
        if is_complete(fitting_stamp(project.folder_of(actor), wanted)):
            python = project.interpreter_of(actor)
            found[actor] = Outcome(actor, python, Action.REUSED, time.monotonic() - began)
    return found
