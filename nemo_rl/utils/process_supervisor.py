"""Run one command within limits, so that nothing of it outlives the one who asked for it.

A script for Linux, standard library only, that :mod:`nemo_rl.utils.supervised_process` starts. Its protocol:

- standard input: one line of JSON, an :class:`Order`. The pipe then stays open as a lifeline: when it closes, because
  the owner stops the command or was killed itself, the command and all of its descendants end.
- standard output: one line of JSON, a :class:`Report`, once every descendant is gone.

Descendants are found in one of two ways. An *isolated* command runs in a PID namespace of its own where the kernel
allows one: it can neither see nor signal a process outside, and the kernel ends all of it at once. Otherwise orphans
come back to this process, which is their subreaper; a command that runs as the same user can then kill this process and
so escape, which is why isolation is tried first. Neither hides files or the network. Should this process
be killed, by lack of memory for example, the command dies with it, and if not isolated, its descendants stay.
"""

import contextlib
import ctypes
import dataclasses
import fcntl
import json
import os
import resource
import selectors
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator

OUTCOME_DESCRIPTOR = 3
"""Where the command may write results apart from its output; a pipe that the report returns as ``outcome``."""

# linux/prctl.h and linux/sched.h
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000

LIMIT_CHECK_SECONDS = 0.01
IGNORED_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclasses.dataclass(frozen=True)
class Order:
    """What to run. ``None`` means: no limit.

    Attributes:
        command: program and arguments; no shell.
        environment: all of the command's environment variables.
        folder: working directory; ``None`` for a new one under the system's temporary folder, removed at the end.
        input: text on the command's standard input.
        log: file to which both outputs are appended; ``None`` to collect them in the report.
        isolated: try to give the command a PID namespace of its own.
        grace: seconds between SIGTERM and SIGKILL when the lifeline closes; an isolated command gets none.
        time_limit: seconds of wall time.
        memory_limit: bytes of address space of each process, and of resident memory of all together.
        output_limit: bytes of standard output and of standard error, each.
        outcome_limit: bytes of the outcome.
        process_limit: number of processes at the same time, counted every 10 ms.
        file_size_limit: bytes of each file that the command writes.
    """

    command: list[str]
    environment: dict[str, str]
    folder: str | None = None
    input: str = ""
    log: str | None = None
    isolated: bool = False
    grace: float = 0.0
    time_limit: float | None = None
    memory_limit: int | None = None
    output_limit: int | None = None
    outcome_limit: int | None = None
    process_limit: int | None = None
    file_size_limit: int | None = None


@dataclasses.dataclass(frozen=True)
class Report:
    """How it ended.

    Attributes:
        reason: ``exited``, ``stopped`` (the lifeline closed), or the limit that was passed: ``time``, ``memory``,
            ``output`` or ``processes``.
        exit_code: of the command; 128 + n after signal n; 127 where it could not be started.
        stdout: what it wrote, at most ``output_limit`` bytes, invalid UTF-8 replaced.
        stderr: the same.
        outcome: what it wrote to :data:`OUTCOME_DESCRIPTOR`, at most ``outcome_limit`` bytes.
        isolated: whether it had a PID namespace of its own.
        seconds: wall time.
    """

    reason: str
    exit_code: int
    stdout: str
    stderr: str
    outcome: str
    isolated: bool
    seconds: float


def descendants(pid: int) -> set[int]:
    """Process ids below ``pid``, from /proc, which needs the kernel option CONFIG_PROC_CHILDREN."""
    found: set[int] = set()
    pending = [pid]
    while pending:
        for child in _children(pending.pop()):
            if child not in found:
                found.add(child)
                pending.append(child)
    return found


def _children(pid: int) -> Iterator[int]:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            path = f"/proc/{pid}/task/{thread}/children"
            with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(path, encoding="ascii") as file:
                yield from map(int, file.read().split())


def resident_bytes(pids: set[int]) -> int:
    """Resident memory of the processes together; pages that they share count once for each."""
    total = 0
    for pid in pids:
        path = f"/proc/{pid}/statm"
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(path, encoding="ascii") as file:
            total += int(file.read().split()[1])
    return total * resource.getpagesize()


def end_descendants() -> dict[int, int]:
    """Kill everything below this process and wait until nothing is left.

    Returns:
        Process id -> wait status of all that ended.

    Each process is killed before its children are listed, so that no child is added to a list that was read. Orphans
    come to this process, so that whatever a fork in progress left is at the top of the next sweep.
    """
    ended: dict[int, int] = {}
    while True:
        pending = list(_children(os.getpid()))
        while pending:
            pid = pending.pop()
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            pending.extend(_children(pid))
        try:
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                ended[found[0]] = found[1]
        except ChildProcessError:
            return ended


def processes_of_user(user: int) -> int:
    """Number of threads that the kernel counts for a user against its limit of processes, from /proc."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        path = f"/proc/{name}"
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if os.stat(path).st_uid == user:
                count += len(os.listdir(f"{path}/task"))
    return count


def remove_folder(folder: str) -> None:
    """Remove a folder of which the command may have locked parts against its own user."""
    for path, folders, _ in os.walk(folder):
        for name in folders:
            inside = os.path.join(path, name)
            if not os.path.islink(inside):
                os.chmod(inside, 0o700)
    shutil.rmtree(folder)


class Supervisor:
    """Starts one order, watches its limits, and ends it."""

    def __init__(self, order: Order, lifeline: int) -> None:
        self.order = order
        self.lifeline = lifeline
        self.selector = selectors.DefaultSelector()
        self.collected: dict[int, bytearray] = {}
        self.limits: dict[int, int | None] = {}
        self.isolated = order.isolated and self._enter_namespace()
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        if order.process_limit is not None:
            # No limit of processes holds for root, and among thousands this one has to get its turn. Its children
            # have ordinary priority again.
            with contextlib.suppress(PermissionError):
                os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))

    def run(self) -> Report:
        """Run the order to its end, whichever that is."""
        folder = self.order.folder or tempfile.mkdtemp(prefix="supervised-")
        started = time.monotonic()
        try:
            reason, exit_code = self._run_in(folder)
        finally:
            if self.order.folder is None:
                remove_folder(folder)
        stdout, stderr, outcome = [data.decode("utf-8", "replace") for data in self.collected.values()] or [""] * 3
        return Report(reason, exit_code, stdout, stderr, outcome, self.isolated, time.monotonic() - started)

    def _enter_namespace(self) -> bool:
        user, group = os.geteuid(), os.getegid()
        if user == 0 and LIBC.unshare(CLONE_NEWPID) == 0:
            return True
        if LIBC.unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0:
            return False
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
        return True

    def _run_in(self, folder: str) -> tuple[str, int]:
        writers = self._outputs()
        child = os.fork()
        if child == 0:
            self._become_child(folder, writers)
        for writer in writers:
            os.close(writer)
        self.selector.register(self.lifeline, selectors.EVENT_READ)
        exit_watch = os.pidfd_open(child)
        self.selector.register(exit_watch, selectors.EVENT_READ)
        reason = self._watch(child, exit_watch)
        self.selector.unregister(self.lifeline)
        if reason == "stopped" and self.order.grace and not self.isolated:
            self._ask_to_end(child, exit_watch)
        exit_code = self._end(child)
        self.selector.unregister(exit_watch)
        while self.selector.get_map():
            self._collect(self.selector.select())
        return reason, exit_code

    def _outputs(self) -> list[int]:
        """The descriptors that become the command's standard output, standard error and outcome."""
        if self.order.log is not None:
            log = os.open(self.order.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            return [log, os.dup(log), os.open(os.devnull, os.O_WRONLY)]
        writers = []
        for limit in (self.order.output_limit, self.order.output_limit, self.order.outcome_limit):
            reader, writer = os.pipe()
            os.set_blocking(reader, False)
            self.collected[reader] = bytearray()
            self.limits[reader] = limit
            self.selector.register(reader, selectors.EVENT_READ)
            writers.append(writer)
        return writers

    def _become_child(self, folder: str, writers: list[int]) -> None:
        """In the forked child: become the command, or the first process of its namespace, which forks it."""
        try:
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if self.isolated:
                command = os.fork()
                if command:
                    ended, status = os.wait()
                    while ended != command:
                        ended, status = os.wait()
                    os._exit(_exit_code(status))
            self._execute(folder, writers)
        except OSError as error:
            os.write(writers[1], f"{self.order.command[0]} could not be started: {error}\n".encode())
        finally:
            os._exit(127)

    def _execute(self, folder: str, writers: list[int]) -> None:
        os.setsid()
        os.chdir(folder)
        text = os.memfd_create("input")
        with os.fdopen(os.dup(text), "w", encoding="utf-8") as file:
            file.write(self.order.input)
        os.lseek(text, 0, os.SEEK_SET)
        # Numbers above the targets first, so that no dup2 overwrites a source that is still needed.
        sources = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 16) for number in (text, *writers)]
        for target, source in enumerate(sources):
            os.dup2(source, target)
        for signal_number in (*IGNORED_SIGNALS, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(signal_number, signal.SIG_DFL)
        for number, limit in (
            (resource.RLIMIT_AS, self.order.memory_limit),
            (resource.RLIMIT_FSIZE, self.order.file_size_limit),
            (resource.RLIMIT_NPROC, self._kernel_process_limit()),
        ):
            if limit is not None:
                resource.setrlimit(number, (limit, limit))
        if self.order.isolated:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.execve(self.order.command[0], self.order.command, self.order.environment)

    def _kernel_process_limit(self) -> int | None:
        """The count every 10 ms is exact but late; this is at once, but never holds for root."""
        if self.order.process_limit is None or os.geteuid() == 0:
            return None
        # The supervisor and the first process of the namespace count in there.
        return self.order.process_limit + (2 if self.isolated else processes_of_user(os.geteuid()))

    def _watch(self, child: int, exit_watch: int) -> str:
        """Wait until the command exits, the lifeline closes or a limit is passed; say which."""
        order = self.order
        deadline = None if order.time_limit is None else time.monotonic() + order.time_limit
        counted = order.process_limit is not None or order.memory_limit is not None
        while True:
            wait = LIMIT_CHECK_SECONDS if counted else 0.2
            if deadline is not None:
                wait = min(wait, max(0.0, deadline - time.monotonic()))
            ready = self.selector.select(wait)
            if not self._collect(ready):
                return "output"
            numbers = {key.fd for key, _ in ready}
            if exit_watch in numbers:
                return "exited"
            if self.lifeline in numbers and not os.read(self.lifeline, 4096):
                return "stopped"
            if deadline is not None and time.monotonic() >= deadline:
                return "time"
            if counted:
                # The first process of a namespace is ours, not the command's.
                pids = descendants(child) | (set() if self.isolated else {child})
                if order.process_limit is not None and len(pids) > order.process_limit:
                    return "processes"
                if order.memory_limit is not None and resident_bytes(pids) > order.memory_limit:
                    return "memory"
            self._reap_orphans(child)

    def _collect(self, ready: list[tuple[selectors.SelectorKey, int]]) -> bool:
        """Read what the command wrote; false once it is more than the limit, which the text is cut at."""
        for key, _ in ready:
            buffer = self.collected.get(key.fd)
            if buffer is None:
                continue
            data = os.read(key.fd, 1 << 16)
            if not data:
                self.selector.unregister(key.fd)
                continue
            buffer += data
            limit = self.limits[key.fd]
            if limit is not None and len(buffer) > limit:
                del buffer[limit:]
                self.selector.unregister(key.fd)
                return False
        return True

    def _reap_orphans(self, child: int) -> None:
        if self.isolated:
            return
        with contextlib.suppress(ChildProcessError):
            # WNOWAIT leaves the command's own exit status for _end.
            while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if found.si_pid == child:
                    return
                os.waitpid(found.si_pid, 0)

    def _ask_to_end(self, child: int, exit_watch: int) -> None:
        os.kill(child, signal.SIGTERM)
        deadline = time.monotonic() + self.order.grace
        while (left := deadline - time.monotonic()) > 0:
            ready = self.selector.select(left)
            self._collect(ready)
            if any(key.fd == exit_watch for key, _ in ready):
                return

    def _end(self, child: int) -> int:
        """Kill what is left, wait until it is gone, and return the command's exit code."""
        if self.isolated:
            # The kernel kills a namespace with its first process, and lets us wait for that one last.
            os.kill(child, signal.SIGKILL)
            return _exit_code(os.waitpid(child, 0)[1])
        return _exit_code(end_descendants()[child])


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def read_order(lifeline: int) -> Order:
    """Read the first line of the lifeline.

    Raises:
        EOFError: the owner was gone before it had said what to run.
    """
    line = bytearray()
    while not line.endswith(b"\n"):
        data = os.read(lifeline, 1 << 16)
        if not data:
            raise EOFError("the lifeline closed before the order was complete")
        line += data
    return Order(**json.loads(line))


def main() -> int:
    """Read the order, run it, write the report."""
    for number in IGNORED_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    report = Supervisor(read_order(0), 0).run()
    sys.stdout.write(json.dumps(dataclasses.asdict(report)) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
