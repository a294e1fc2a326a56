"""Keep an external server running: start it, ask for its health, restart it, stop it."""

import dataclasses
import threading
import time
from collections.abc import Callable
from typing import Literal

from nemo_rl.utils.process_supervisor import Order
from nemo_rl.utils.supervised_process import SupervisedProcess, SupervisorLost

State = Literal["starting", "healthy", "unhealthy", "waiting", "failed", "stopped"]


@dataclasses.dataclass(frozen=True)
class RestartPolicy:
    """When a server counts as ill, and how often it is started anew.

    Attributes:
        start_limit: seconds from the start to the first healthy answer.
        health_interval: seconds between two health checks.
        failed_checks: that many failed checks in a row after it was healthy end the server.
        max_restarts: without a healthy period between; then the server has failed for good.
        first_delay: seconds before the first restart; each further one waits twice as long.
        longest_delay: seconds.
        healthy_period: seconds of health after which earlier restarts are forgotten.
        grace: seconds between SIGTERM and SIGKILL.
    """

    start_limit: float = 600.0
    health_interval: float = 5.0
    failed_checks: int = 3
    max_restarts: int = 3
    first_delay: float = 1.0
    longest_delay: float = 60.0
    healthy_period: float = 300.0
    grace: float = 10.0

    def __post_init__(self) -> None:
        if self.health_interval <= 0 or self.start_limit <= 0 or self.failed_checks < 1:
            raise ValueError(
                "health_interval, start_limit and failed_checks have to be positive, "
                f"got {self.health_interval}, {self.start_limit} and {self.failed_checks}"
            )

    def delay(self, restart: int) -> float:
        """Seconds before restart number ``restart``, counted from 1."""
        # Beyond 2 ** 60 every delay is the longest one, and soon after a float overflows.
        return min(self.longest_delay, self.first_delay * 2.0 ** min(restart - 1, 60))


@dataclasses.dataclass(frozen=True)
class ServerStatus:
    """``state``; restarts in a row and in all; and what ended the server last, empty if nothing did.

    ``starting`` and ``healthy`` speak for themselves; ``unhealthy``: it was healthy, and the last check failed;
    ``waiting``: before a restart; ``failed``: no restart is left; ``stopped``: on request, or not yet started.
    """

    state: State
    restarts_in_a_row: int = 0
    restarts: int = 0
    last_failure: str = ""


class SupervisedServer:
    """One server process and the thread that watches over it.

    The server and its descendants end with the process that holds this object, also when that is killed.
    """

    def __init__(self, order: Order, policy: RestartPolicy, is_healthy: Callable[[], bool]) -> None:
        """Args: what to run, how to treat it, and a health check that returns within a limit of its own."""
        self._order = order
        self._policy = policy
        self._is_healthy = is_healthy
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._status = ServerStatus("stopped")
        self._thread: threading.Thread | None = None

    @property
    def status(self) -> ServerStatus:
        """As of now."""
        with self._changed:
            return self._status

    def start(self) -> None:
        """Start the server; returns at once.

        Raises:
            RuntimeError: it was started before.
        """
        if self._thread is not None:
            raise RuntimeError("the server was started before")
        self._say(state="starting")
        self._thread = threading.Thread(target=self._watch_over, name="server-supervision", daemon=True)
        self._thread.start()

    def wait_until_healthy(self) -> ServerStatus:
        """Wait until the server is healthy, or failed, or stopped; return which."""
        with self._changed:
            self._changed.wait_for(lambda: self._status.state in ("healthy", "failed", "stopped"))
            return self._status

    def stop(self) -> None:
        """End the server and its descendants and wait until they are gone. Calling it twice is fine."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        if self.status.state != "failed":
            self._say(state="stopped")

    def _say(self, **changes: object) -> None:
        with self._changed:
            self._status = dataclasses.replace(self._status, **changes)  # type: ignore[arg-type]
            self._changed.notify_all()

    def _watch_over(self) -> None:
        policy = self._policy
        in_a_row = 0
        while not self._stopping.is_set():
            self._say(state="starting", restarts_in_a_row=in_a_row)
            failure, healthy_for = self._run_once()
            if self._stopping.is_set():
                break
            in_a_row = 1 if healthy_for >= policy.healthy_period else in_a_row + 1
            if in_a_row > policy.max_restarts:
                self._say(state="failed", last_failure=failure)
                return
            self._say(state="waiting", last_failure=failure)
            if not self._stopping.wait(policy.delay(in_a_row)):
                self._say(restarts=self.status.restarts + 1)

    def _run_once(self) -> tuple[str, float]:
        """Run the server until it ends or has to be ended; say why, and for how many seconds it was healthy."""
        try:
            process = SupervisedProcess(self._order)
        except OSError as error:
            return f"the supervisor could not be started: {error}", 0.0
        healthy_since: float | None = None
        failure = ""
        failed_checks = 0
        started = time.monotonic()
        while not failure and process.running and not self._stopping.is_set():
            if self._is_healthy():
                if process.running:
                    healthy_since = healthy_since or time.monotonic()
                    failed_checks = 0
                    self._say(state="healthy")
            elif healthy_since is None:
                if time.monotonic() - started > self._policy.start_limit:
                    failure = f"not healthy within {self._policy.start_limit:g} s of its start"
            else:
                failed_checks += 1
                self._say(state="unhealthy")
                if failed_checks >= self._policy.failed_checks:
                    failure = f"{failed_checks} health checks in a row failed"
            self._stopping.wait(
                self._policy.health_interval if healthy_since else min(0.1, self._policy.health_interval)
            )
        process.stop()
        try:
            report = process.wait()
        except SupervisorLost as error:
            failure = failure or str(error)
        else:
            failure = failure or f"it ended by itself with exit code {report.exit_code}"
        return failure, 0.0 if healthy_since is None else time.monotonic() - healthy_since
