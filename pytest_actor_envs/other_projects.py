"""Guarded projects other than the one at pytest's root: a run judges one project, and says which it does not look at."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_actor_envs.roots import PYPROJECT, configures, nearest, unreadable


def refuse_others(config: pytest.Config, paths: Sequence[Path]) -> None:
    """Raises pytest.UsageError where guards are asked for that this run cannot judge: another project's, or none.

    `paths` are what the arguments name.
    """
    root = config.rootpath
    try:
        named = [path.parent for path in paths if path.name == PYPROJECT]
        for folder in named:
            if folder != root and configures(folder):
                raise pytest.UsageError(not_judged(folder, root))
        if config.option.actor_envs and not configures(root):
            other = nearest([path if path.is_dir() else path.parent for path in paths])
            raise pytest.UsageError(_nothing_to_judge(root) if other is None else not_judged(other, root))
    except OSError as error:
        raise pytest.UsageError(unreadable(error)) from None


def warn_of_another(folder: Path, config: pytest.Config) -> None:
    """Warns of guards of a folder that is collected with others, whose project is not judged here."""
    try:
        if not configures(folder):
            return
        message = not_judged(folder, config.rootpath)
    except OSError as error:
        message = unreadable(error)
    warnings.warn_explicit(f"actor-envs: {message}", pytest.PytestWarning, str(folder / PYPROJECT), 1)


def not_judged(folder: Path, root: Path) -> str:
    """What is said of a guarded project in `folder` where pytest's root is `root`."""
    return (
        f"{_shown(folder / PYPROJECT)}:1:1: configuration: the guards of this project are not run: "
        f"pytest's root is {root}\n"
        f"    run them on their own: pytest --rootdir {_shown(folder)} {_shown(folder / PYPROJECT)}"
    )


def _nothing_to_judge(root: Path) -> str:
    return (
        f"{_shown(root / PYPROJECT)}:1:1: configuration: --actor-envs asks for guards, "
        "and there is no [tool.pytest-actor-envs]\n"
        '    add it, with leaf = "package/actor_environments.py", or name the project: --rootdir FOLDER'
    )


def _shown(path: Path) -> str:
    return os.path.relpath(path)
