"""Ctrl-C, SIGTERM and the end of the terminal, each as one KeyboardInterrupt."""

from __future__ import annotations

import contextlib
import math
import signal
import time
from collections.abc import Generator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ONE_WISH = 10.0
"""Seconds in which another signal is the same wish, so that nothing disturbs what ends processes and removes files."""


@contextlib.contextmanager
def interruptible() -> Generator[None, None, None]:
    """Any of `SIGNALS` raises KeyboardInterrupt, once for those that come soon after each other; what is ignored stays so."""
    last = -math.inf

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > ONE_WISH:
            last = now
            raise KeyboardInterrupt

    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    previous = [signal.signal(number, interrupt) for number in heard]
    try:
        yield
    finally:
        for number, handler in zip(heard, previous, strict=True):
            signal.signal(number, handler)
