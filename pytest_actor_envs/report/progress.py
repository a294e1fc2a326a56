"""How far a long run is: one line that is written over on a terminal, plain lines now and then elsewhere."""

from __future__ import annotations

import os
import time
from typing import TextIO

SECONDS_ON_TERMINAL = 0.2
SECONDS_ELSEWHERE = 10.0
USUAL_COLUMNS = 80


class ProgressLine:
    """Shows counts and the time left on `stream`. Called with what is counted, how many are done, and of how many."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._what = ""
        self._started = self._shown = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what != self._what:
            self.clear()
            self._what, self._started, self._shown = what, now, 0.0 if self._terminal else now
        if now - self._shown < (SECONDS_ON_TERMINAL if self._terminal else SECONDS_ELSEWHERE) and done < total:
            return
        self._shown = now
        text = progress_text(what, done, total, now - self._started)
        # A line that is wider than the terminal goes on in the next one, where nothing would take it off again.
        self._stream.write(f"\r\x1b[K{text[: _columns(self._stream) - 1]}" if self._terminal else f"{text}\n")
        self._stream.flush()

    def clear(self) -> None:
        """Takes the line off a terminal, so that what follows stands alone."""
        if self._terminal and self._what:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def _columns(terminal: TextIO) -> int:
    """How wide the terminal is; one that does not know is as wide as they used to be."""
    try:
        return os.get_terminal_size(terminal.fileno()).columns or USUAL_COLUMNS
    except OSError:
        return USUAL_COLUMNS


def progress_text(what: str, done: int, total: int, seconds: float) -> str:
    """`subject mutants: 120 of 1526, 40/s, 35 s left`; the time left by the pace so far."""
    text = f"{what}: {done} of {total}"
    if not done or seconds <= 0:
        return text
    pace = done / seconds
    left = (total - done) / pace
    return f"{text}, {pace:.0f}/s" + (f", {left:.0f} s left" if done < total else f", {seconds:.0f} s")
