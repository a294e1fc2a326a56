"""Builds one environment as a process of its own, which a test can kill: ``builder_process.py PROJECT ACTOR``.

PROJECT is a pickled project in hexadecimal. Prints the phases on standard error and, at the end, what was done.
"""

import pathlib
import pickle
import subprocess
import sys

from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.venvs import ensure_environment


def start(project: ActorProject, actor: str) -> "subprocess.Popen[str]":
    """Start a builder; its output is piped."""
    command = [sys.executable, str(pathlib.Path(__file__)), pickle.dumps(project).hex(), actor]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


if __name__ == "__main__":
    print(ensure_environment(pickle.loads(bytes.fromhex(sys.argv[1])), sys.argv[2]).action.value)
