"""pytest's hooks, and nothing else: a project that is not guarded pays for reading its pyproject.toml once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_actor_envs.roots import PYPROJECT, may_configure, unreadable

if TYPE_CHECKING:
    from pytest_actor_envs.collection import GuardedFile


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("actor-envs", "guards of the actor environments")
    group.addoption(
        "--actor-envs", action="store_true", default=None, dest="actor_envs", help="run the guards whatever else is run"
    )
    group.addoption(
        "--no-actor-envs", action="store_false", default=None, dest="actor_envs", help="never run the guards"
    )
    group.addoption(
        "--actor-envs-strict",
        action="store_true",
        default=False,
        dest="actor_envs_strict",
        help="a guard that cannot decide fails instead of being skipped",
    )


GUARDED = pytest.StashKey[bool]()


def is_guarded(config: pytest.Config) -> bool:
    """Whether the pyproject.toml at pytest's root may configure guards, and nobody has turned them off.

    Raises pytest.UsageError where that file cannot be read.
    """
    if GUARDED not in config.stash:
        try:
            config.stash[GUARDED] = config.option.actor_envs is not False and may_configure(config.rootpath)
        except OSError as error:
            raise pytest.UsageError(unreadable(error)) from None
    return config.stash[GUARDED]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or config.option.actor_envs is False:
        return
    if config.option.actor_envs or any(_path_of(argument).name == PYPROJECT for argument in config.args):
        from pytest_actor_envs.other_projects import refuse_others

        refuse_others(config, [_path_of(argument) for argument in config.args])
    if not is_guarded(config):
        return
    path = config.rootpath / PYPROJECT
    if config.pluginmanager.hasplugin("pytest-testmon"):
        from pytest_actor_envs.selection_by_change import KeptGuards

        config.pluginmanager.register(KeptGuards(path), "actor-envs-kept-guards")
    # A folder above it that is an argument brings it along; pytest 8 would collect nothing else of that folder.
    if is_asked_for(config) and not is_brought_along(path, config):
        config.args.append(str(path))


def is_asked_for(config: pytest.Config) -> bool:
    """Whether guards run whatever the arguments are: the flag says so, or there are none."""
    return bool(config.option.actor_envs) or config.args_source is not pytest.Config.ArgsSource.ARGS


def is_brought_along(path: Path, config: pytest.Config) -> bool:
    """Whether an argument is the path or a folder above it."""
    return any(path.is_relative_to(_path_of(argument)) for argument in config.args)


def _path_of(argument: str) -> Path:
    return Path(os.path.abspath(argument.split("::")[0]))


def pytest_report_header(config: pytest.Config) -> str | None:
    if not is_guarded(config):
        return None
    from pytest_actor_envs.session import session_of

    return session_of(config).header


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Reads the configuration where guards were asked for: later, an error in it would be one of collecting a file."""
    config = session.config
    if is_guarded(config) and is_brought_along(config.rootpath / PYPROJECT, config):
        from pytest_actor_envs.session import session_of

        _ = session_of(config).guard_names


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> GuardedFile | None:
    config = parent.config
    if file_path.name != PYPROJECT or config.option.actor_envs is False:
        return None
    if file_path.parent != config.rootpath:
        if is_asked_for(config) or is_brought_along(file_path, config):
            from pytest_actor_envs.other_projects import warn_of_another

            warn_of_another(file_path.parent, config)
        return None
    if not is_guarded(config):
        return None
    from pytest_actor_envs.collection import guarded_file

    return guarded_file(file_path, parent)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Gives a worker of pytest-xdist what the controller read, so that the project is read once."""
    config = node.config
    selected = any(argument.partition("::")[0].endswith(PYPROJECT) for argument in config.args)
    if not selected or not is_guarded(config):
        return
    from pytest_actor_envs.session import session_of

    node.workerinput.update(session_of(config).for_workers)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not is_guarded(session.config):
        return
    from pytest_actor_envs.session import session_of

    session_of(session.config).save()
