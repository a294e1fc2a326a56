"""What a project says of itself in ``pyproject.toml``."""

import functools
import pathlib
import tomllib
from typing import Any

from nemo_rl.utils.environment_errors import EnvironmentBuildError


@functools.lru_cache(maxsize=1)
def parsed(text: str) -> dict[str, Any]:
    """A TOML file as a dictionary, which nobody changes; each builder of a run asks for the same file."""
    return tomllib.loads(text)


def project_metadata(root: pathlib.Path) -> dict[str, Any]:
    """The table ``[project]``, with at least a ``name``.

    Args:
        root: folder of ``pyproject.toml``.

    Raises:
        EnvironmentBuildError: there is no such file, or it cannot be understood.
    """
    path = root / "pyproject.toml"
    try:
        project: dict[str, Any] = parsed(path.read_text(encoding="utf-8"))["project"]
        project["name"]
    except OSError as error:
        raise EnvironmentBuildError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise EnvironmentBuildError(f"{path} is no TOML: {error}") from error
    except KeyError as error:
        raise EnvironmentBuildError(f"{path} has no [project] with a name") from error
    return project
