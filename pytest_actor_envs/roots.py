"""Which folders' pyproject.toml configures guards, found without importing or reading anything else.

All raise OSError where such a file is there and cannot be read; `unreadable` says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

PYPROJECT = "pyproject.toml"
NAME = b"pytest-actor-envs"


def may_configure(folder: Path) -> bool:
    """Whether a folder's pyproject.toml names the plugin; pytest runs in many projects that have nothing to do with it."""
    return NAME in _content(folder)


def configures(folder: Path) -> bool:
    """Whether a folder's pyproject.toml has `[tool.pytest-actor-envs]`, or names it and cannot be parsed."""
    content = _content(folder)
    if NAME not in content:
        return False
    import tomllib

    try:
        tool = tomllib.loads(content.decode("utf-8")).get("tool")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return True  # whoever reads all of it says what is wrong
    return isinstance(tool, dict) and NAME.decode() in tool


def nearest(folders: Iterable[Path]) -> Path | None:
    """The first folder that configures guards, where each is looked at before those above it."""
    above = (candidate for folder in folders for candidate in (folder, *folder.parents))
    return next(filter(configures, above), None)


def unreadable(error: OSError) -> str:
    """What is said of a pyproject.toml that cannot be read."""
    return (
        f"{PYPROJECT}:1:1: configuration: {error.filename} cannot be read: {error.strerror}\n"
        "    make it a file that may be read; pytest --no-actor-envs runs without guards"
    )


def _content(folder: Path) -> bytes:
    try:
        return (folder / PYPROJECT).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return b""
