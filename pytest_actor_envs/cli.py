"""The command `actor-envs`: whatever comes, an exit status and words, and never a traceback.

Nothing heavy is imported at the top, so that Ctrl-C is understood from the first moment on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pytest_actor_envs.standard_streams import OutputLost, standard_streams

NOT_WRITTEN = 2
INTERRUPTED = 5


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command. Exit status: that of the command, 2 where its output cannot be written, 5 where it is interrupted."""
    with standard_streams():
        try:
            from pytest_actor_envs import commands

            return commands.run(argv)
        except KeyboardInterrupt:
            print("actor-envs: interrupted, so nothing is known", file=sys.stderr)
            return INTERRUPTED
        except OutputLost as problem:
            print(f"actor-envs: standard output cannot be written: {problem}", file=sys.stderr)
            return NOT_WRITTEN
