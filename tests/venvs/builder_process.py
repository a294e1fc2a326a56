"""Builds one environment as a process of its own, which a test can kill: ``builder_process.py PROJECT ACTOR``.

PROJECT is a pickled project in hexadecimal. With a third argument it kills itself just before the first audit event of
that name, for example ``shutil.rmtree``. Actors after that are built before, by the same run, so that the environment of
ACTOR is linked to theirs. Prints the phases on standard error and, at the end, what was done.
"""

import os
import pathlib
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence

from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.venvs import ensure_environment


def start(
    project: ActorProject, actor: str, killed_before: str = "", built: Sequence[str] = ()
) -> "subprocess.Popen[str]":
    """Start a builder; its output is piped."""
    script = str(pathlib.Path(__file__))
    command = [sys.executable, script, pickle.dumps(project).hex(), actor, killed_before, *built]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_before(event: str) -> None:
    """Let this process end by SIGKILL just before an event."""
    sys.addaudithook(lambda name, _: os.kill(os.getpid(), signal.SIGKILL) if name == event else None)


if __name__ == "__main__":
    if sys.argv[3]:
        kill_before(sys.argv[3])
    wanted_by = pickle.loads(bytes.fromhex(sys.argv[1]))
    for other in sys.argv[4:]:
        ensure_environment(wanted_by, other, rebuild=True, report=lambda line: None)
    print(ensure_environment(wanted_by, sys.argv[2], built=sys.argv[4:]).action.value)
