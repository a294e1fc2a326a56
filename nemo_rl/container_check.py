"""Whether the container that this code runs in was built from what the code says now.

An image holds environments that were built from `pyproject.toml`, the lock and the table of that day. The image's
fingerprint file says from which; a difference means that an actor may start in an environment that lacks what it needs.
"""

import configparser
import importlib.util
import json
import pathlib
import warnings
from collections.abc import Mapping

CONTAINER_VARIABLE = "NRL_CONTAINER"
FILE_VARIABLE = "NEMO_RL_CONTAINER_FINGERPRINT"
REBUILD_VARIABLE = "NRL_FORCE_REBUILD_VENVS"
IGNORE_VARIABLE = "NRL_IGNORE_VERSION_MISMATCH"
DEFAULT_FILE = "/opt/nemo_rl_container_fingerprint"
ABSENT = "(no such key)"

WAYS_OUT = f"""\
    ways out:
      rebuild the image from this code
      {REBUILD_VARIABLE}=true builds the environments anew on each node; this check is then skipped
      write the fingerprint anew, if the image does hold what the code needs:
          python tools/generate_fingerprint.py --output {{file}}
      {IGNORE_VARIABLE}=1 goes on with a warning"""


class ContainerMismatchError(RuntimeError):
    """The container was built from something else, or nobody can tell from what."""


def differences(built_from: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """One line for each key whose value differs, with both values, sorted by key."""
    return [
        f"{key}: image {built_from.get(key, ABSENT)}, code {now.get(key, ABSENT)}"
        for key in sorted(built_from.keys() | now.keys())
        if built_from.get(key, ABSENT) != now.get(key, ABSENT)
    ]


def read_fingerprint(path: pathlib.Path) -> dict[str, str]:
    """The fingerprint that an image's file holds. Raises ContainerMismatchError for an empty or unreadable one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ContainerMismatchError(f"the container's fingerprint {path} cannot be read: {error}") from error
    if not isinstance(content, dict) or not content or not all(isinstance(value, str) for value in content.values()):
        raise ContainerMismatchError(f"the container's fingerprint {path} is no JSON object of keys and values")
    return content


def fingerprint_of(root: pathlib.Path) -> dict[str, str]:
    """The fingerprint of the code in `root`. Raises ContainerMismatchError where it cannot be made."""
    script = root / "tools" / "generate_fingerprint.py"
    if not script.is_file():
        raise ContainerMismatchError(f"there is no {script}, so nobody can tell whether this container fits the code")
    spec = importlib.util.spec_from_file_location("_nemo_rl_generate_fingerprint", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        values: dict[str, str] = module.fingerprint(root)
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        raise ContainerMismatchError(f"the fingerprint of the code in {root} cannot be made: {error}") from error
    return values


def mismatch(file: pathlib.Path, root: pathlib.Path) -> str:
    """What is wrong with this container for the code in `root`; empty where nothing is."""
    try:
        differing = differences(read_fingerprint(file), fingerprint_of(root))
    except ContainerMismatchError as error:
        return str(error)
    if not differing:
        return ""
    return "\n".join(["this container was not built from this code:", *(f"      {line}" for line in differing)])


def check_container(environment: Mapping[str, str], root: pathlib.Path) -> None:
    """Compares the container with the code in `root`, if `environment` says that this is a container.

    Warns where there is no fingerprint file (the image is being built), where environments are rebuilt anyway, and
    where a mismatch is to be ignored. Raises ContainerMismatchError for a mismatch.
    """
    if environment.get(CONTAINER_VARIABLE) != "1":
        return
    if environment.get(REBUILD_VARIABLE, "").lower() in ("1", "true"):
        warnings.warn(f"{REBUILD_VARIABLE} is set: the container's fingerprint is not checked", stacklevel=2)
        return
    file = pathlib.Path(environment.get(FILE_VARIABLE) or DEFAULT_FILE)
    if not file.exists():
        warnings.warn(f"there is no {file}: this container cannot be checked against the code", stacklevel=2)
        return
    wrong = mismatch(file, root)
    if not wrong:
        return
    text = f"{wrong}\n{WAYS_OUT.format(file=file)}"
    if environment.get(IGNORE_VARIABLE) == "1":
        warnings.warn(text, stacklevel=2)
        return
    raise ContainerMismatchError(text)
