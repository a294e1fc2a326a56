"""Start Ray actors on the interpreters that the table gives them."""

import sys
from collections.abc import Mapping
from typing import Any

from ray.actor import ActorClass

from nemo_rl.distributed.actor_names import actor_class_named, checked, default_options, registered_name
from nemo_rl.distributed.cluster_nodes import ensure_environment_on_nodes
from nemo_rl.distributed.py_executables import py_executable_for
from nemo_rl.distributed.ray_actor_environment_registry import UnregisteredActorError, unregistered_actor_message
from nemo_rl.distributed.uv_run_hook import switch_off_uv_run_hook
from nemo_rl.utils.actor_project import ActorProject, this_project
from nemo_rl.utils.environment_lookup import rebuild_is_forced, this_run

switch_off_uv_run_hook()

OWN_VARIABLES: Mapping[str, Mapping[str, str]] = {
    # Its set-up installs the environments of its servers without a cache, which uv refuses to combine with symlinks.
    "nemo_rl.environments.nemo_gym.NemoGym": {"UV_LINK_MODE": "hardlink"},
}
"""Environment variables that single actors get besides."""

INTERPRETER_KEYS = ("py_executable", "pip", "uv", "conda", "container", "image_uri")


def actor_runtime_env(project: ActorProject, actor: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The ``runtime_env`` that an actor is started with.

    Args:
        project: whose actor it is.
        actor: fully-qualified name.
        given: what the caller wants in it besides; ``env_vars`` are merged, the environment's own win.

    Raises:
        UnregisteredActorError: the table has no such actor.
        ValueError: ``given`` chooses an interpreter, which is the table's to choose.
    """
    chosen = [key for key in INTERPRETER_KEYS if key in given]
    if chosen:
        raise ValueError(f"runtime_env has {', '.join(chosen)}, but the table gives {actor} its interpreter")
    variables = {**given.get("env_vars", {}), **OWN_VARIABLES.get(actor, {})}
    interpreter = sys.executable
    if has_environment(project, actor):
        folder = str(project.folder_of(actor))
        variables |= {"VIRTUAL_ENV": folder, "UV_PROJECT_ENVIRONMENT": folder}
        interpreter = str(project.interpreter_of(actor))
    return {**given, "py_executable": interpreter, **({"env_vars": variables} if variables else {})}


def has_environment(project: ActorProject, actor: str) -> bool:
    """Whether an actor runs in an environment of its own, which ``NEMO_RL_PY_EXECUTABLES_SYSTEM=1`` takes from all.

    Raises :class:`UnregisteredActorError` for an actor that the table does not have.
    """
    return py_executable_for(project.extras_of(actor)) != sys.executable


def entry_of(project: ActorProject, actor: ActorClass[Any] | str) -> tuple[str, ActorClass[Any]]:
    """The name in the table of an actor that is given as :func:`launch` takes it, and its class; raises the same."""
    if not isinstance(actor, str):
        return registered_name(checked(actor), project.table), actor
    if actor in project.table:
        return actor, actor_class_named(actor)
    try:
        actor_class = actor_class_named(actor)
    except (ImportError, ValueError) as error:
        raise UnregisteredActorError(unregistered_actor_message(actor, project.table)) from error
    return registered_name(actor_class, project.table), actor_class


def launch(
    actor: ActorClass[Any] | str,
    *arguments: object,
    options: Mapping[str, Any] | None = None,
    project: ActorProject | None = None,
    **keyword_arguments: object,
) -> Any:
    """Start a Ray actor in the environment that its entry in the table asks for, and return its handle.

    The environment is first made sure of on every live node that can run the actor.

    Args:
        actor: Ray actor class, however it was imported, or a fully-qualified name of it.
        arguments: for the class's constructor.
        options: for Ray (``num_gpus``, ``name``, ``scheduling_strategy``, ...); a ``runtime_env`` may set everything
            but the interpreter.
        project: whose actor it is; nemo_rl by default.
        keyword_arguments: for the class's constructor.

    Raises:
        UnregisteredActorError: the table has no entry for the class.
        NodesLackEnvironmentError: a node that can run the actor has no environment for it, or there is no such node.
        ImportError: no class of that name can be imported.
        TypeError: it is no Ray actor class.
        ValueError: the ``runtime_env`` in ``options`` chooses an interpreter.
    """
    project = project or this_project()
    name, actor_class = entry_of(project, actor)
    wanted = {**default_options(actor_class), **(options or {})}
    runtime_env = actor_runtime_env(project, name, wanted.get("runtime_env") or {})
    if has_environment(project, name):
        ensure_environment_on_nodes(project, name, wanted, rebuild_is_forced(), this_run())
    return actor_class.options(**{**(options or {}), "runtime_env": runtime_env}).remote(
        *arguments, **keyword_arguments
    )
