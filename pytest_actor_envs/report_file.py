"""A report in a file of the user's choice: what cannot be done is said before the work that it would report."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_actor_envs.model import ConfigurationError


def check_can_be_written(path: Path, option: str = "--output") -> None:
    """Raises ConfigurationError where no report can be written to `path`, which `option` names."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise _error(path, f"cannot be looked at: {error.strerror}", option) from None
    if path.is_dir():
        raise _error(path, "is a folder", option)
    if not _place(path).parent.is_dir():
        raise _error(path, "is in a folder that does not exist", option)
    if not os.access(path if _is_written_where_it_is(path) else _place(path).parent, os.W_OK):
        raise _error(path, "may not be written", option)


def write_report(path: Path, text: str, option: str = "--output") -> None:
    """Writes the report, where it can be so that nobody reads half of it. Raises ConfigurationError, leaving nothing."""
    try:
        if _is_written_where_it_is(path):
            path.write_text(text, encoding="utf-8")
            return
        aside = _place(path).with_name(f".actor-envs-report-{os.getpid()}")
        try:
            aside.write_text(text, encoding="utf-8")
            aside.replace(_place(path))
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _error(path, f"cannot be written: {error.strerror}", option) from None


def _place(path: Path) -> Path:
    """Where the file itself is, if `path` is a link to it."""
    return Path(os.path.realpath(path))


def _is_written_where_it_is(path: Path) -> bool:
    """Whether nothing may be put in place of what is at `path`: it is a device or a pipe, or all that is writable there."""
    return path.exists() and not (path.is_file() and os.access(_place(path).parent, os.W_OK))


def _error(path: Path, why: str, option: str) -> ConfigurationError:
    return ConfigurationError(f"gate: {path} {why}, so no report can be written there\n    {option}: name another file")
