"""A limit of processor time for one process, with its children that have ended."""

from __future__ import annotations

import math
import os
import resource
import signal

LIMIT_OF_TIME = 36
"""mutmut's own exit status for a mutant that was stopped."""
BY_THE_CLOCK = 6
"""So many times its limit a process may take by the clock: others want the processors as well."""


class ProcessorTime:
    """`seconds` of processor time from now on; infinity is no limit.

    When they are over, `is_over` says so. Twice as many end this process with SIGXCPU, and one that does nothing with
    LIMIT_OF_TIME.
    """

    def __init__(self, seconds: float) -> None:
        self._until = _used() + seconds
        if math.isfinite(seconds):
            own = resource.getrusage(resource.RUSAGE_SELF)
            end = math.ceil(own.ru_utime + own.ru_stime + 2 * seconds)
            hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
            resource.setrlimit(resource.RLIMIT_CPU, (end if hard == resource.RLIM_INFINITY else min(end, hard), hard))
            signal.signal(signal.SIGALRM, lambda number, frame: os._exit(LIMIT_OF_TIME))
            signal.setitimer(signal.ITIMER_REAL, BY_THE_CLOCK * seconds)

    def is_over(self) -> bool:
        """Whether the time is used up."""
        return _used() > self._until


def _used() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system
