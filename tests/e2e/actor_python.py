"""Find an interpreter of the version that the actors of nemo_rl need."""

import os
import pathlib
import subprocess
import tomllib
from collections.abc import Iterator, Mapping

ROOT = pathlib.Path(__file__).resolve().parents[2]
VARIABLE = "ACTOR_PYTHON"


class NoActorPythonError(RuntimeError):
    """There is no interpreter of the version that the actors need; the message says how to name one."""


def wanted_version() -> str:
    """``actor-python`` of pyproject.toml, e.g. ``3.12``."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest-actor-envs"]
    return str(settings["actor-python"])


def version_of(python: pathlib.Path) -> str:
    """Major and minor version of an interpreter; empty where it does not start."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        run = subprocess.run([str(python), "-I", "-c", code], capture_output=True, text=True, timeout=60)
    except OSError:
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


def candidates(version: str, environment: Mapping[str, str]) -> Iterator[pathlib.Path]:
    """Where such an interpreter may be: on ``PATH``, then among those of pyenv and of uv."""
    name = f"python{version}"
    for folder in environment.get("PATH", "").split(os.pathsep):
        yield pathlib.Path(folder) / name
    home = pathlib.Path.home()
    for folders in (home / ".pyenv" / "versions", home / ".local" / "share" / "uv" / "python"):
        yield from sorted(folders.glob(f"*/bin/{name}"), reverse=True)


def find_actor_python(environment: Mapping[str, str]) -> pathlib.Path:
    """The interpreter that ``ACTOR_PYTHON`` names, else the first that is found.

    Raises :class:`NoActorPythonError` where the named one has another version, or none is found.
    """
    version = wanted_version()
    named = environment.get(VARIABLE)
    if named:
        found = version_of(pathlib.Path(named))
        if found != version:
            raise NoActorPythonError(f"{VARIABLE}={named} is Python {found or 'unknown'}; the actors need {version}")
        return pathlib.Path(named)
    for python in candidates(version, environment):
        if python.is_file() and version_of(python) == version:
            return python
    raise NoActorPythonError(
        f"no Python {version}, which the actors need, on PATH, of pyenv or of uv; name one: "
        f"make e2e {VARIABLE}=/path/to/python{version}"
    )
