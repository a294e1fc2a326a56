"""A program that the kernel ends with the process that started it."""

import ctypes
import os
import pathlib
import signal

import pytest

from nemo_rl.utils import end_with_parent

PR_GET_PDEATHSIG = 2


def asked_of_the_kernel(parent: int, folder: pathlib.Path) -> str:
    """What a fork that becomes `/program` would be started as, and the signal that it gets when its parent ends."""
    told = folder / "told"
    child = os.fork()
    if child == 0:

        def become(program: str, arguments: list[str]) -> None:
            number = ctypes.c_int()
            ctypes.CDLL(None).prctl(PR_GET_PDEATHSIG, ctypes.byref(number))
            told.write_text(f"{program} {arguments} {number.value}")

        os.execv = become  # type: ignore[assignment]
        try:
            end_with_parent.main([str(parent), "/program", "a", "b"])
        except SystemExit as end:
            told.write_text(str(end.code))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return told.read_text()


def test_it_becomes_the_program_which_is_killed_with_its_parent(tmp_path: pathlib.Path) -> None:
    expected = f"/program ['/program', 'a', 'b'] {int(signal.SIGKILL)}"
    assert asked_of_the_kernel(os.getpid(), tmp_path) == expected


def test_it_does_not_start_for_a_parent_that_is_gone(tmp_path: pathlib.Path) -> None:
    assert asked_of_the_kernel(os.getppid(), tmp_path) == "the process that wanted this program is gone"


def test_a_program_that_is_not_there_is_an_error(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(end_with_parent.ctypes, "CDLL", lambda name: type("Kernel", (), {"prctl": lambda *words: 0})())
    with pytest.raises(FileNotFoundError):
        end_with_parent.main([str(os.getppid()), str(tmp_path / "none")])


def test_what_is_asked_of_the_kernel_and_what_it_becomes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same once more in this process, where nothing is asked and nothing becomes anything else."""
    done: list[tuple[object, ...]] = []

    class Kernel:
        def __init__(self, name: None) -> None:
            assert name is None

        def prctl(self, *words: object) -> None:
            done.append(words)

    monkeypatch.setattr(end_with_parent.ctypes, "CDLL", Kernel)
    monkeypatch.setattr(end_with_parent.os, "execv", lambda *words: done.append(words))
    end_with_parent.main([str(os.getppid()), "/program", "a", "b"])
    asked = (1, signal.SIGKILL)
    assert done == [asked, ("/program", ["/program", "a", "b"])]
    with pytest.raises(SystemExit) as end:
        end_with_parent.main([str(os.getpid()), "/program"])
    assert end.value.code == "the process that wanted this program is gone"
    assert done[2:] == [asked]
