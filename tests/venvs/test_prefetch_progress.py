"""What is written while environments are built, to a terminal and elsewhere."""

import io
import pathlib

import pytest

from nemo_rl.utils.environment_lookup import Action, Outcome
from nemo_rl.utils.prefetch_progress import PlainProgress, Progress, Result, TerminalProgress, progress_for


class Stream(io.StringIO):
    """Text of which is known how much was there at each flush."""

    def __init__(self, is_a_terminal: bool) -> None:
        super().__init__()
        self.is_a_terminal = is_a_terminal
        self.flushed: list[int] = []

    def isatty(self) -> bool:
        return self.is_a_terminal

    def flush(self) -> None:
        self.flushed.append(len(self.getvalue()))


def all_said(progress: Progress) -> None:
    progress.finished("built a")
    progress.phase("b: installing")
    progress.finished("built b")
    progress.phase("c: installing, with a long explanation")
    progress.close()


def test_a_terminal_has_one_line_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "31")
    stream = Stream(True)
    progress = progress_for(stream, 3)
    assert type(progress) is TerminalProgress
    all_said(progress)
    parts = [
        "built a\n[1/3] ",
        "[1/3] b: installing",
        "built b\n[2/3] b: installing",
        "[2/3] c: installing, with a lo",
        "",
    ]
    assert stream.getvalue().split("\r\x1b[K") == ["", *parts]
    assert stream.flushed == [sum(len(part) + 4 for part in parts[: number + 1]) for number in range(5)]


def test_elsewhere_every_line_is_written_at_once() -> None:
    stream = Stream(False)
    progress = progress_for(stream, 3)
    assert type(progress) is PlainProgress
    all_said(progress)
    lines = ["built a\n", "b: installing\n", "built b\n", "c: installing, with a long explanation\n"]
    assert stream.getvalue() == "".join(lines)
    assert stream.flushed == [sum(map(len, lines[: number + 1])) for number in range(4)]


def test_a_result_is_a_line() -> None:
    outcome = Outcome("a.One", pathlib.Path("/python"), Action.COMPLETED, 1.26)
    assert Result("a.One", outcome=outcome).line() == "completed a.One (1.3 s)"
    assert Result("a.One", error="why").line() == "FAILED a.One"
