"""What a person sees of builds: how each ended, on a terminal below a line that changes, elsewhere as plain lines."""

import threading
from collections.abc import Sequence
from typing import NamedTuple, Protocol, TextIO

from nemo_rl.utils.environment_lookup import Outcome

ERASE_LINE = "\r\x1b[K"


class Result(NamedTuple):
    """How the build for one actor ended; exactly one of the last two is set."""

    actor: str
    outcome: Outcome | None = None
    error: str | None = None

    def line(self) -> str:
        if self.outcome is None:
            return f"FAILED {self.actor}"
        return f"{self.outcome.action.value} {self.actor} ({self.outcome.seconds:.1f} s)"


class BuildsInterrupted(KeyboardInterrupt):
    """Somebody interrupted the builds; ``results`` has those that had ended. Others may still run."""

    def __init__(self, results: Sequence[Result]) -> None:
        super().__init__()
        self.results = results


class Progress(Protocol):
    """Where builders, in several threads, tell what they do."""

    def phase(self, line: str) -> None:
        """A builder began something, or waits."""

    def finished(self, line: str) -> None:
        """One environment is done, or failed; the line stays."""

    def close(self) -> None:
        """Nothing more is shown, whatever builders that still run may tell."""


class PlainProgress:
    """Every line, as it comes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._closed = False
        self._lock = threading.Lock()

    def phase(self, line: str) -> None:
        with self._lock:
            if not self._closed:
                print(line, file=self._stream, flush=True)

    def finished(self, line: str) -> None:
        self.phase(line)

    def close(self) -> None:
        with self._lock:
            self._closed = True


class TerminalProgress:
    """Finished environments as lines, and below them how many are left and what was begun last."""

    def __init__(self, stream: TextIO, total: int) -> None:
        self._stream = stream
        self._total = total
        self._done = 0
        self._last = ""
        self._closed = False
        self._lock = threading.Lock()

    def _draw(self, above: str) -> None:
        if self._closed:
            return
        # Imported here: it takes longer to import than all of this module, and only a terminal needs it.
        import shutil

        bottom = f"[{self._done}/{self._total}] {self._last}"[: shutil.get_terminal_size().columns - 1]
        self._stream.write(f"{ERASE_LINE}{above}{bottom}")
        self._stream.flush()

    def phase(self, line: str) -> None:
        with self._lock:
            self._last = line
            self._draw("")

    def finished(self, line: str) -> None:
        with self._lock:
            self._done += 1
            self._draw(f"{line}\n")

    def close(self) -> None:
        """Take the changing line away."""
        with self._lock:
            self._closed = True
            self._stream.write(ERASE_LINE)
            self._stream.flush()


def progress_for(stream: TextIO, total: int) -> Progress:
    """The display that suits a stream; ``total`` is the number of environments."""
    return TerminalProgress(stream, total) if stream.isatty() else PlainProgress(stream)
