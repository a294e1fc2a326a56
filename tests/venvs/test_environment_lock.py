"""The lock of one environment: who has it, what those who wait are told, and where there are no locks."""

import errno
import fcntl
import json
import os
import pathlib
from collections.abc import Callable

import pytest

from nemo_rl.utils import environment_lock
from nemo_rl.utils.environment_lock import (
    HeldLock,
    LocksUnsupportedError,
    holder_of,
    lock_file_of,
    locked,
    locked_if_free,
    opened,
    try_to_lock,
    wait_for,
)


def nothing(line: str) -> None:
    pytest.fail(f"nobody should wait: {line}")


def is_free(path: pathlib.Path, shared: bool = False) -> bool:
    with locked_if_free(path, shared) as lock:
        return lock is not None


def test_one_holds_a_lock_and_gives_it_back_however_it_ends(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "new/folders/a.lock"
    descriptors = set(os.listdir("/proc/self/fd"))
    with pytest.raises(ZeroDivisionError), locked(path, nothing) as lock:
        assert path.samefile(f"/proc/self/fd/{lock.descriptor}")
        assert not os.get_inheritable(lock.descriptor)
        assert not is_free(path) and not is_free(path, shared=True)
        raise ZeroDivisionError
    assert is_free(path) and is_free(path)
    assert set(os.listdir("/proc/self/fd")) == descriptors


def test_a_program_that_inherited_the_lock_does_not_keep_it_once_it_is_given_back(tmp_path: pathlib.Path) -> None:
    for context in (locked(tmp_path / "a.lock", nothing), locked_if_free(tmp_path / "a.lock")):
        with context as lock:
            assert lock is not None
            inherited = os.dup(lock.descriptor)
        assert is_free(tmp_path / "a.lock")
        os.close(inherited)


def test_several_may_share_a_lock_that_nobody_holds_alone(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.lock"
    with locked_if_free(path, shared=True) as first, locked_if_free(path, shared=True) as second:
        assert first is not None and second is not None
        assert not is_free(path)
    assert is_free(path)
    with locked_if_free(path) as alone:
        assert alone is not None and not is_free(path, shared=True)


def test_who_could_not_have_it_takes_it_from_nobody(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.lock"
    with locked(path, nothing):
        with locked_if_free(path) as other:
            assert other is None
        assert not is_free(path)


def test_a_lock_file_may_be_written_by_all_and_lies_beside_the_folder(tmp_path: pathlib.Path) -> None:
    assert lock_file_of(pathlib.Path("/venvs/a.b.One")) == pathlib.Path("/venvs/a.b.One.lock")
    old = os.umask(0)
    try:
        os.close(opened(tmp_path / "a.lock"))
    finally:
        os.umask(old)
    assert (tmp_path / "a.lock").stat().st_mode & 0o777 == 0o666


def test_what_the_holder_noted_last_is_what_is_known_of_it(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.lock"
    assert holder_of(path) == "another process"
    with locked(path, nothing) as lock:
        assert holder_of(path) == "another process"
        lock.note("a long description of what is done")
        lock.note("installing \N{SNOWMAN}")
        assert json.loads(path.read_text()) == {
            "host": os.uname().nodename,
            "pid": os.getpid(),
            "phase": "installing \N{SNOWMAN}",
        }
        assert path.read_bytes().endswith(b"}\n")
    assert holder_of(path) == f"process {os.getpid()} on {os.uname().nodename}: installing \N{SNOWMAN}"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"pid": 1, "host": "h"}', "\xff"])
def test_rubbish_in_a_lock_file_says_nothing(tmp_path: pathlib.Path, text: str) -> None:
    (tmp_path / "a.lock").write_bytes(text.encode("latin-1"))
    assert holder_of(tmp_path / "a.lock") == "another process"


def failing(number: int) -> Callable[[int, int], None]:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    return flock


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_said_to_be(
    number: int, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.lock"
    monkeypatch.setattr(fcntl, "flock", failing(number))
    with pytest.raises(LocksUnsupportedError) as error, locked(path, nothing):
        pytest.fail("locked")
    assert (error.value.errno, error.value.strerror) == (number, "the file system offers no locks")
    assert error.value.filename == str(path)
    assert not is_free(path)


def test_any_other_error_is_raised_as_it_is(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    descriptor = opened(tmp_path / "a.lock")
    monkeypatch.setattr(fcntl, "flock", failing(errno.EIO))
    with pytest.raises(OSError) as error:
        try_to_lock(descriptor, tmp_path / "a.lock", fcntl.LOCK_EX)
    os.close(descriptor)
    assert type(error.value) is OSError and error.value.errno == errno.EIO


class Clock:
    """Time goes on by what was slept. A holder changes what it does, and ends, at some of these times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, phases: dict[float, str], ends: float) -> None:
        self.now = 100.0
        self.phases, self.ends = phases, 100.0 + ends
        self.slept: list[float] = []
        monkeypatch.setattr(environment_lock.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(environment_lock.time, "sleep", self.sleep)
        monkeypatch.setattr(environment_lock, "holder_of", self.holder_of)
        monkeypatch.setattr(environment_lock, "try_to_lock", self.try_to_lock)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def holder_of(self, path: pathlib.Path) -> str:
        assert path.name == "a.lock"
        return [phase for start, phase in self.phases.items() if start <= self.now - 100.0][-1]

    def try_to_lock(self, descriptor: int, path: pathlib.Path, operation: int) -> bool:
        assert (descriptor, path.name, operation) == (7, "a.lock", fcntl.LOCK_EX)
        return self.now >= self.ends


def test_those_who_wait_are_told_of_each_change_and_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, {0.0: "process 1: removing", 2.0: "process 1: installing"}, 23.0)
    told: list[str] = []
    wait_for(7, pathlib.Path("a.lock"), told.append)
    assert told == [
        "waiting for process 1: removing (0 s)",
        "waiting for process 1: installing (2 s)",
        "waiting for process 1: installing (12 s)",
        "waiting for process 1: installing (22 s)",
    ]
    assert clock.slept[:7] == [0.02, 0.04, 0.08, 0.16, 0.32, 0.5, 0.5]
    assert set(clock.slept[7:]) == {0.5}


def test_a_report_is_due_after_exactly_that_time(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch, {0.0: "another process"}, 21.0)
    monkeypatch.setattr(environment_lock, "FIRST_PAUSE_SECONDS", 10.0)
    monkeypatch.setattr(environment_lock, "LONGEST_PAUSE_SECONDS", 10.0)
    told: list[str] = []
    wait_for(7, pathlib.Path("a.lock"), told.append)
    assert told == [f"waiting for another process ({seconds} s)" for seconds in (0, 10, 20)]


def test_a_lock_that_is_free_is_had_at_once(tmp_path: pathlib.Path) -> None:
    descriptor = opened(tmp_path / "a.lock")
    wait_for(descriptor, tmp_path / "a.lock", nothing)
    HeldLock(descriptor).note("done")
    assert not is_free(tmp_path / "a.lock")
    os.close(descriptor)
    assert is_free(tmp_path / "a.lock")
