"""The command lines that start the interpreters of Ray actors, built in one place.

Ray starts an actor with the ``py_executable`` of its runtime environment. For an actor with extras that is a ``uv run``
which provides them. ``NEMO_RL_PY_EXECUTABLES_SYSTEM=1`` replaces every command line by the driver's interpreter, for an
installation that already holds whatever the actors need. This module imports no Ray.
"""

import shlex
import sys
from collections.abc import Sequence

from nemo_rl.distributed.driver_settings import PROJECT_ROOT, system_flag_is_set


def py_executable_for(extras: Sequence[str] | None) -> str:
    """The command line of an interpreter that has the project and these extras.

    ``extras`` keeps its order; an empty one gives the base dependencies alone. ``None`` is the driver's interpreter,
    ``sys.executable``, and so is everything while ``NEMO_RL_PY_EXECUTABLES_SYSTEM`` is ``1``. The result is read by a
    shell, so the project's folder is quoted.

    Raises ``ValueError`` where that variable has a value that is neither ``1`` nor ``0``.
    """
    if extras is None or system_flag_is_set():
        return sys.executable
    flags = [word for extra in extras for word in ("--extra", extra)]
    return shlex.join(["uv", "run", "--locked", *flags, "--directory", str(PROJECT_ROOT)])


class PY_EXECUTABLES:
    """A name for each command line that an actor's class may declare as its ``DEFAULT_PY_EXECUTABLE``.

    ``SYSTEM`` is the driver's interpreter and ``BASE`` has the base dependencies alone. Every other name stands for one
    ordered list of extras of the table.
    """

    SYSTEM = py_executable_for(None)
    BASE = py_executable_for([])
    VLLM = py_executable_for(["vllm"])
    VLLM_NEMO_GYM = py_executable_for(["vllm", "nemo_gym"])
    SGLANG = py_executable_for(["sglang"])
    FSDP = py_executable_for(["fsdp"])
    AUTOMODEL = py_executable_for(["automodel"])
    MCORE = py_executable_for(["mcore"])
    TRTLLM = py_executable_for(["trtllm"])
    NEMO_GYM = py_executable_for(["nemo_gym"])
    MODELOPT_VLLM = py_executable_for(["modelopt", "vllm"])
    MODELOPT_AUTOMODEL = py_executable_for(["modelopt", "automodel"])
    MODELOPT_MCORE = py_executable_for(["modelopt", "mcore"])
