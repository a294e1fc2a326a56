"""Builds one environment as a process of its own, which a test can kill: ``builder_process.py PROJECT ACTOR``.

PROJECT is a pickled project in hexadecimal. With a third argument it kills itself just before the first audit event of
that name, for example ``shutil.rmtree``. Prints the phases on standard error and, at the end, what was done.
"""

import os
import pathlib
import pickle
import signal
import subprocess
import sys

from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.venvs import ensure_environment


def start(project: ActorProject, actor: str, killed_before: str = "") -> "subprocess.Popen[str]":
    """Start a builder; its output is piped."""
    command = [sys.executable, str(pathlib.Path(__file__)), pickle.dumps(project).hex(), actor, killed_before]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_before(event: str) -> None:
    """Let this process end by SIGKILL just before an event."""
    sys.addaudithook(lambda name, _: os.kill(os.getpid(), signal.SIGKILL) if name == event else None)


if __name__ == "__main__":
    if sys.argv[3]:
        kill_before(sys.argv[3])
    print(ensure_environment(pickle.loads(bytes.fromhex(sys.argv[1])), sys.argv[2]).action.value)
