"""Worker processes for functions that may hang, also inside C code: the process is killed and replaced."""

import concurrent.futures
import dataclasses
import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import pebble

ArgumentT = TypeVar("ArgumentT")
ResultT = TypeVar("ResultT")


@dataclasses.dataclass(frozen=True)
class Outcome(Generic[ResultT]):
    """``value`` of a call that returned; else ``None``, and ``failure`` says why in a few words."""

    value: ResultT | None
    failure: str | None = None


class TimeLimitedPool:
    """Runs a function over items in processes of its own, each call within a limit of wall time and memory.

    Processes start with the first call. They end with the pool, and after a kill of the owner: an idle one notices the
    closed pipe, a busy one runs into a limit of processor time that is little longer than its limit of wall time.
    """

    def __init__(self, workers: int, time_limit: float, memory_limit: int) -> None:
        """Args: number of processes, seconds for each call, bytes of address space of each process."""
        if workers < 1 or time_limit <= 0 or memory_limit <= 0:
            raise ValueError(
                f"workers, time_limit and memory_limit have to be positive, got {workers}, {time_limit}, {memory_limit}"
            )
        self._time_limit = time_limit
        self._pool = pebble.ProcessPool(
            max_workers=workers,
            # A forked child of a process with threads, which every Ray actor is, may inherit a lock that is held.
            context=multiprocessing.get_context("spawn"),
            initializer=_limit_memory,
            initargs=(memory_limit,),
        )

    def map(self, function: Callable[[ArgumentT], ResultT], items: Sequence[ArgumentT]) -> list[Outcome[ResultT]]:
        """Call ``function``, which has to be importable by name, with each item.

        Returns:
            An outcome for each item, in order. An exception of the function, a crash of its process and a call that
            took too long are outcomes with a failure.
        """
        futures = [
            self._pool.schedule(
                _call_within_processor_time, args=(function, item, self._time_limit), timeout=self._time_limit
            )
            for item in items
        ]
        return [self._outcome(future) for future in futures]

    def _outcome(self, future: "pebble.ProcessFuture[ResultT]") -> Outcome[ResultT]:
        try:
            return Outcome(future.result())
        except concurrent.futures.TimeoutError:
            return Outcome(None, f"took longer than {self._time_limit:g} s")
        except pebble.ProcessExpired as error:
            return Outcome(None, f"its process ended with exit code {error.exitcode}")
        except MemoryError:
            return Outcome(None, "needed too much memory")
        except RecursionError:
            return Outcome(None, "was nested too deeply")

    def shutdown(self) -> None:
        """Kill the processes; calling it twice is fine."""
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()


def _limit_memory(limit: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _call_within_processor_time(
    function: Callable[[ArgumentT], ResultT], item: ArgumentT, time_limit: float
) -> ResultT:
    seconds = int(time.process_time() + time_limit) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
    return function(item)
