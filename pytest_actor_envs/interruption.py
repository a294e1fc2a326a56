"""Ctrl-C, SIGTERM and the end of the terminal, each as one KeyboardInterrupt."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import time
from collections.abc import Generator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ONE_WISH = 10.0
"""Seconds in which another signal is the same wish, so that nothing disturbs what ends processes and removes files."""


SAID = b"gate: what was found is being gathered; whoever interrupts again in ten seconds loses all of it\n"
STANDARD_ERROR = 2


class Interruption:
    """The handler of `SIGNALS`: one KeyboardInterrupt for those that come soon after each other.

    Once results are gathered, which `hold` says, the first wish is only answered, and the next one loses them.
    """

    def __init__(self) -> None:
        self._last = -math.inf
        self._is_held = False
        self._is_answered = False

    def hold(self) -> None:
        """From now on results are gathered."""
        self._is_held = True

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last <= ONE_WISH:
            return
        self._last = now
        if not self._is_held or self._is_answered:
            raise KeyboardInterrupt
        self._is_answered = True
        with contextlib.suppress(OSError):  # the terminal may be what is gone
            os.write(STANDARD_ERROR, SAID)  # what a handler interrupted may be the stream's own code


@contextlib.contextmanager
def interruptible() -> Generator[Interruption, None, None]:
    """Handles `SIGNALS` by what is given, until the end; what is ignored stays so."""
    interruption = Interruption()
    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    previous = [signal.signal(number, interruption) for number in heard]
    try:
        yield interruption
    finally:
        for number, handler in zip(heard, previous, strict=True):
            signal.signal(number, handler)
