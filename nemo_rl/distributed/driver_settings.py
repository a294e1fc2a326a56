"""What a driver settles for all its actors: the project's folder, and whether all run on the driver's own interpreter.

Importing this decides nothing, so a command can say what is wrong with a setting. It imports no Ray.
"""

import os
import pathlib

SYSTEM_FLAG = "NEMO_RL_PY_EXECUTABLES_SYSTEM"
PROJECT_ROOT = pathlib.Path(__file__).resolve().parents[2]


def system_flag_is_set() -> bool:
    """Whether the environment asks for the driver's interpreter for every actor.

    Raises ``ValueError`` for a value other than ``1``, ``0`` and the empty one: ``true`` must not be ignored silently.
    """
    value = os.environ.get(SYSTEM_FLAG, "")
    if value not in ("", "0", "1"):
        raise ValueError(f"{SYSTEM_FLAG} is {value!r}; set it to 1 for the driver's interpreter, or to 0, or unset it")
    return value == "1"
