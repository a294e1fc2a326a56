"""pytest's hooks, and nothing else: a project that is not guarded pays for reading its pyproject.toml once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_actor_envs.collection import GuardedFile

PYPROJECT = "pyproject.toml"


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


def is_guarded(config: pytest.Config) -> bool:
    """Whether the pyproject.toml at pytest's root may configure guards, and nobody has turned them off."""
    if config.option.actor_envs is False:
        return False
    try:
        return b"pytest-actor-envs" in (config.rootpath / PYPROJECT).read_bytes()
    except OSError:
        return False


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or not is_guarded(config):
        return
    plain = config.args_source is not pytest.Config.ArgsSource.ARGS
    path = config.rootpath / PYPROJECT
    if config.pluginmanager.hasplugin("pytest-testmon"):
        from pytest_actor_envs.selection_by_change import KeptGuards

        config.pluginmanager.register(KeptGuards(path), "actor-envs-kept-guards")
    # A folder above it that is an argument brings it along; pytest 8 would collect nothing else of that folder.
    brought = [Path(argument.split("::")[0]) for argument in config.args]
    if (config.option.actor_envs or plain) and not any(_is_at_or_below(path, folder) for folder in brought):
        config.args.append(str(path))


def _is_at_or_below(path: Path, folder: Path) -> bool:
    return path.is_relative_to(Path.cwd() / folder)


def pytest_report_header(config: pytest.Config) -> str | None:
    if not is_guarded(config):
        return None
    from pytest_actor_envs.session import session_of

    return session_of(config).header


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Reads the configuration where guards were asked for: later, an error in it would be one of collecting a file."""
    config = session.config
    path = config.rootpath / PYPROJECT
    if is_guarded(config) and any(_is_at_or_below(path, Path(name.split("::")[0])) for name in config.args):
        from pytest_actor_envs.session import session_of

        _ = session_of(config).guard_names


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> GuardedFile | None:
    config = parent.config
    if file_path != config.rootpath / PYPROJECT or not is_guarded(config):
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
