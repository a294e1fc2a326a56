"""Become another program that the kernel ends together with the process that started it.

A script for Linux, standard library only: ``end_with_parent.py PARENT_PID PROGRAM [ARGUMENT ...]``. It exists so that a
builder that is killed takes its uv with it, and those who wait for the builder go on at once.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main(argv: list[str]) -> None:
    """Replace this process by the program; does not return. Raises ``OSError`` where that cannot be started."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(argv[0]):
        raise SystemExit("the process that wanted this program is gone")
    os.execv(argv[1], argv[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
