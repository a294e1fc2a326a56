"""A lock that processes, threads and nodes on a shared file system respect, and that dies with its holder.

It is ``flock`` on a file beside the environment: the kernel frees it when its last holder ends, however that ended,
and the Linux client of NFS turns it into a lock of the server. A program that the holder starts can inherit the lock,
so that nobody else begins while such a program still writes. The file stays: removing it would let two holders lock two
files.
"""

import contextlib
import errno
import fcntl
import json
import os
import pathlib
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

FIRST_PAUSE_SECONDS = 0.02
LONGEST_PAUSE_SECONDS = 0.5
REPORT_SECONDS = 10.0
UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class LocksUnsupportedError(OSError):
    """The file system has no locks that reach all who use it."""


class HeldLock(NamedTuple):
    """A lock that this process holds.

    Attributes:
        descriptor: of the locked file; a program that inherits it keeps the lock until it ends.
    """

    descriptor: int

    def note(self, phase: str) -> None:
        """Tell those who wait what is being done."""
        text = json.dumps({"host": os.uname().nodename, "pid": os.getpid(), "phase": phase}).encode() + b"\n"
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, text, 0)


def holder_of(path: pathlib.Path) -> str:
    """What the holder of a lock last noted, for a person: ``process 17 on node-3: installing packages``."""
    try:
        note = json.loads(path.read_bytes())
        return f"process {note['pid']} on {note['host']}: {note['phase']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def try_to_lock(descriptor: int, path: pathlib.Path, operation: int) -> bool:
    """Lock an open file, if that can be done at once: the answer says whether.

    Raises ``OSError``, and :class:`LocksUnsupportedError` where nobody can lock.
    """
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
        raise LocksUnsupportedError(error.errno, "the file system offers no locks", str(path)) from error
    return True


def wait_for(descriptor: int, path: pathlib.Path, report: Callable[[str], None]) -> None:
    """Lock an open file, however long that takes; ``report`` gets a line whenever the holder's phase changes."""
    began = last_report = time.monotonic()
    pause, last_holder = FIRST_PAUSE_SECONDS, ""
    while True:
        if try_to_lock(descriptor, path, fcntl.LOCK_EX):
            return
        holder, now = holder_of(path), time.monotonic()
        if holder != last_holder or now - last_report >= REPORT_SECONDS:
            report(f"waiting for {holder} ({now - began:.0f} s)")
            last_holder, last_report = holder, now
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def opened(path: pathlib.Path) -> int:
    """Descriptor of a lock file, which is made where it is missing. Raises ``OSError``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)


@contextlib.contextmanager
def locked(path: pathlib.Path, report: Callable[[str], None]) -> Iterator[HeldLock]:
    """Hold the lock of a file, which is made where it is missing; wait for it, and ``report`` the waiting.

    Raises:
        LocksUnsupportedError: the file system cannot lock.
        OSError: the file cannot be made or opened for writing.
    """
    descriptor = opened(path)
    try:
        wait_for(descriptor, path, report)
        try:
            yield HeldLock(descriptor)
        finally:
            # Explicitly, so that a program that inherited the lock and lives on does not keep it.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locked_if_free(path: pathlib.Path, shared: bool = False) -> Iterator[HeldLock | None]:
    """Hold the lock of a file if it can be had at once; ``None`` where it cannot, or where nobody can lock.

    Args:
        path: of the file, which is made where it is missing.
        shared: with others who do so too, but with nobody who is :func:`locked`.

    Raises ``OSError`` where the file cannot be made or opened for writing.
    """
    descriptor = opened(path)
    try:
        try:
            is_held = try_to_lock(descriptor, path, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        except LocksUnsupportedError:
            is_held = False
        try:
            yield HeldLock(descriptor) if is_held else None
        finally:
            if is_held:
                fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def lock_file_of(folder: pathlib.Path) -> pathlib.Path:
    """The file, beside the folder of an environment, whose lock a builder holds."""
    return folder.with_name(f"{folder.name}.lock")
