"""Start a command under :mod:`nemo_rl.utils.process_supervisor` and learn how it ended."""

import contextlib
import dataclasses
import json
import subprocess
import sys
import threading

from nemo_rl.utils import process_supervisor
from nemo_rl.utils.process_supervisor import Order, Report


class SupervisorLost(RuntimeError):
    """The supervisor ended without a report: it was killed, or could not do its work. Holds its own error output."""


class SupervisedProcess:
    """One running :class:`~nemo_rl.utils.process_supervisor.Order`.

    It ends, with all of its descendants, at the latest when this process does, even by SIGKILL.
    """

    def __init__(self, order: Order) -> None:
        """Start the order; returns at once.

        Raises:
            OSError: the interpreter that runs the supervisor cannot be started.
        """
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", process_supervisor.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._report: Report | None = None
        self._lock = threading.Lock()
        assert self._process.stdin is not None
        # A supervisor that ended at once: wait() says why.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(dataclasses.asdict(order)).encode() + b"\n")
            self._process.stdin.flush()

    @property
    def running(self) -> bool:
        """Whether the command, or something that it left, may still run."""
        return self._process.poll() is None

    def wait(self) -> Report:
        """Wait until the command and its descendants are gone.

        Raises:
            SupervisorLost: there is no report.
        """
        with self._lock:
            if self._report is None:
                assert self._process.stdout is not None and self._process.stderr is not None
                # Not communicate(): that would close the lifeline. One line of report, then nothing: no deadlock.
                output = self._process.stdout.read()
                errors = self._process.stderr.read()
                code = self._process.wait()
                if not output:
                    raise SupervisorLost(
                        f"the supervisor ended with exit code {code} and no report: {errors.decode(errors='replace')}"
                    )
                self._report = Report(**json.loads(output))
            return self._report

    def stop(self) -> None:
        """Ask for the end; :meth:`wait` then tells when it came. Calling it twice is fine."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()


def run_supervised(order: Order) -> Report:
    """Run the order to its end.

    Raises:
        SupervisorLost: there is no report.
    """
    process = SupervisedProcess(order)
    try:
        return process.wait()
    finally:
        process.stop()
