"""What the builders of environments need to know of a project: its folder, its table, and where environments go."""

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nemo_rl.distributed.actor_environments import ACTOR_ENVIRONMENTS
from nemo_rl.distributed.driver_settings import PROJECT_ROOT

VENV_DIR_VARIABLE = "NEMO_RL_VENV_DIR"


class ActorProject(NamedTuple):
    """One project and its actors; plain data, so that it can be sent to other nodes.

    Attributes:
        root: absolute folder of ``pyproject.toml`` and ``uv.lock``, the same on every node.
        table: fully-qualified name of an actor -> its extras, or ``None`` for the driver's interpreter.
        environments: absolute folder below which each environment gets a folder named by its actor.
        python: interpreter that environments are made with; ``None`` for the one that runs the builder, which is what
            Ray needs: driver and actors of one minor version.
    """

    root: pathlib.Path
    table: Mapping[str, Sequence[str] | None]
    environments: pathlib.Path
    python: str | None = None

    def extras_of(self, actor: str) -> Sequence[str] | None:
        """The extras of an actor. Raises :class:`UnregisteredActorError`, which says what may be meant."""
        if actor not in self.table:
            # Imported here: it takes as long to import as finding that all environments are complete.
            from nemo_rl.distributed.ray_actor_environment_registry import (
                UnregisteredActorError,
                unregistered_actor_message,
            )

            raise UnregisteredActorError(unregistered_actor_message(actor, self.table))
        return self.table[actor]

    def folder_of(self, actor: str) -> pathlib.Path:
        """Where the environment of an actor is, or would be."""
        return self.environments / actor

    def interpreter_of(self, actor: str) -> pathlib.Path:
        """The interpreter in the environment of an actor."""
        return self.folder_of(actor) / "bin" / "python"

    def actors_with_environment(self) -> list[str]:
        """Names of the actors that do not run on the driver's interpreter, sorted."""
        return sorted(name for name, extras in self.table.items() if extras is not None)


def this_project() -> ActorProject:
    """nemo_rl itself, with environments below ``NEMO_RL_VENV_DIR``, by default ``venvs`` in its own folder.

    Raises ``ValueError`` for a folder whose name is not UTF-8, which uv refuses.
    """
    folder = pathlib.Path(os.environ.get(VENV_DIR_VARIABLE) or PROJECT_ROOT / "venvs").absolute()
    try:
        os.fsencode(folder).decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{os.fsencode(folder)!r} is not UTF-8, and uv makes no environment there; set {VENV_DIR_VARIABLE} to "
            "another folder"
        ) from error
    return ActorProject(PROJECT_ROOT, ACTOR_ENVIRONMENTS, folder)
