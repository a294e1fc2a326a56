"""Standard streams that a program may be given in any state: closed, full, read by nobody, or in a narrow encoding.

Standard library only, and little of it: this is imported before anything else.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Callable, Generator
from typing import TextIO, cast

NOBODY_READS = frozenset({errno.EPIPE, errno.EIO})
"""What a pipe says whose reader has ended, as `head` does, and a terminal that is gone."""


class OutputLost(Exception):
    """What was to be said cannot be written; the argument is why."""


class Stream:
    """A text stream on which writing goes on after its reader has gone, to nobody.

    Raises OutputLost, once, where something else keeps it from being written and that `matters`.
    """

    def __init__(self, stream: TextIO, matters: bool) -> None:
        self._stream = stream
        self._matters = matters
        self._is_lost = False

    def write(self, text: str) -> int:
        """Writes at once: what is left for the end of the program fails where nobody can say so."""
        self._tried(lambda: self._stream.write(text))
        self.flush()
        return len(text)

    def flush(self) -> None:
        self._tried(self._stream.flush)

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def _tried(self, action: Callable[[], object]) -> None:
        if self._is_lost:
            return
        try:
            action()
        except OSError as error:
            self._is_lost = True
            with contextlib.suppress(OSError):
                # What is still in the stream's memory has to go somewhere when the interpreter ends.
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            if self._matters and error.errno not in NOBODY_READS:
                raise OutputLost(error.strerror) from None


@contextlib.contextmanager
def standard_streams() -> Generator[None, None, None]:
    """`sys.stdout` and `sys.stderr` as `Stream`s that say what their encoding lacks by backslashes."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed; its number would be given to the next file that is opened
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    out, err = Stream(sys.stdout, matters=True), Stream(sys.stderr, matters=False)
    with contextlib.redirect_stdout(cast(TextIO, out)), contextlib.redirect_stderr(cast(TextIO, err)):
        yield
