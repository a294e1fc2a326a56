"""What executing a file does besides defining things; needs a process of its own, since audit hooks stay.

Standard library only, since it runs in the child processes of behavioural guards.
"""

from __future__ import annotations

import _thread
import contextlib
import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

EVENTS = {
    "socket.__new__": "opens a socket",
    "socket.connect": "opens a socket",
    "socket.bind": "opens a socket",
    "socket.getaddrinfo": "asks the network",
    "subprocess.Popen": "starts a process",
    "os.system": "starts a process",
    "os.exec": "starts a process",
    "os.fork": "starts a process",
    "os.forkpty": "starts a process",
    "os.posix_spawn": "starts a process",
    "os.spawn": "starts a process",
    "os.mkdir": "makes a folder",
    "os.rename": "moves a file",
    "os.remove": "removes a file",
    "os.rmdir": "removes a folder",
    "os.link": "links a file",
    "os.symlink": "links a file",
    "os.truncate": "writes a file",
    "os.chmod": "changes a file",
    "os.chown": "changes a file",
    "os.utime": "changes a file",
}
THREAD_STARTERS = ("start_new_thread", "_start_new_thread", "start_joinable_thread", "_start_joinable_thread")
CHANGES_OF_SURROUNDINGS = frozenset({"os.putenv", "os.unsetenv", "os.chdir"})
MODES_THAT_WRITE = frozenset("wax+")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Effects:
    """Watches one file while it is executed: each effect once, with the line of the file that had it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.found: list[dict[str, Any]] = []
        self._watching = False
        self._line = 1
        self._surroundings_may_differ = False

    def add(self, effect: str, line: int) -> None:
        if {"effect": effect, "line": line} not in self.found:
            self.found.append({"effect": effect, "line": line})

    def execute(self, execution: Callable[[], Any]) -> Any:
        """Runs `execution` under watch and gives its result; what it raises passes through."""
        with _output_file() as output:
            state = _Surroundings(output)

            def trace(frame: FrameType, event: str, argument: Any) -> Any:
                if not self._is_ours(frame):
                    return None
                self._note(state)
                self._line = frame.f_lineno or 1
                return trace

            saved_trace = sys.gettrace()
            self._watching = True
            sys.settrace(trace)
            try:
                return execution()
            finally:
                sys.settrace(saved_trace)
                self._watching = False
                self._surroundings_may_differ = True
                self._note(state)

    def _is_ours(self, frame: FrameType) -> bool:
        filename = frame.f_code.co_filename
        return filename == self.path or filename.endswith(f"/{self.path}")

    def _note(self, state: _Surroundings) -> None:
        looks_at_all, self._surroundings_may_differ = self._surroundings_may_differ, False
        for effect in state.changes(looks_at_all):
            self.add(effect, self._line)

    def _current_line(self) -> int:
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if self._is_ours(frame):
                return frame.f_lineno or 1
            frame = frame.f_back
        return self._line

    def install(self) -> None:
        """Hooks into this process, for good."""
        sys.addaudithook(self._hook)
        # No audit event tells of a thread on every Python, so the functions that start one are wrapped.
        for holder in (threading, _thread):
            for name in THREAD_STARTERS:
                if hasattr(holder, name):
                    setattr(holder, name, self._watched_start(getattr(holder, name)))

    def _hook(self, event: str, details: tuple[Any, ...]) -> None:
        if event in CHANGES_OF_SURROUNDINGS:
            self._surroundings_may_differ = True
        if not self._watching:
            return
        effect = EVENTS.get(event)
        if event == "open":
            name, mode, flags = (*details, None, None)[:3]
            if MODES_THAT_WRITE.intersection(mode or ()) or (flags or 0) & WRITING:
                effect = f"writes the file {name!r}"
        if effect:
            self.add(effect, self._current_line())

    def _watched_start(self, start: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*details: Any, **named: Any) -> Any:
            if self._watching:
                self.add("starts a thread", self._current_line())
            return start(*details, **named)

        return watched


class _Surroundings:
    """What code must leave as it is, and how much it printed."""

    def __init__(self, output: int) -> None:
        self._output = output
        self._last = {**self._at_each_line(), **self._at_an_event()}

    def _at_each_line(self) -> dict[str, object]:
        return {"prints": os.fstat(self._output).st_size, "changes sys.path": list(sys.path)}

    def _at_an_event(self) -> dict[str, object]:
        """What takes longer to look at, and cannot change without an audit event but by detours."""
        return {"changes the environment": dict(os.environ), "changes the working directory": os.getcwd()}

    def changes(self, looks_at_all: bool) -> list[str]:
        """What is different since the last call."""
        before, now = self._last, self._at_each_line()
        if looks_at_all:
            now.update(self._at_an_event())
        self._last = {**before, **now}
        changed = [effect for effect, value in now.items() if value != before[effect]]
        return [f"prints {self._printed(before)!r}" if effect == "prints" else effect for effect in changed]

    def _printed(self, before: dict[str, object]) -> str:
        start = before["prints"]
        assert isinstance(start, int)
        return os.pread(self._output, 60, start).decode(errors="replace").rstrip("\n")


@contextlib.contextmanager
def _output_file() -> Iterator[int]:
    """The descriptor of a file that takes all output inside, also what is written past `sys.stdout`."""
    with contextlib.ExitStack() as stack:
        number = stack.enter_context(tempfile.TemporaryFile()).fileno()
        saved = {standard: os.dup(standard) for standard in (1, 2)}
        streams = sys.stdout, sys.stderr
        for stream in streams:
            stream.flush()
        for standard in saved:
            os.dup2(number, standard)
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.FileIO(number, "w", closefd=False), encoding="utf-8", write_through=True) for _ in saved
        )
        try:
            yield number
        finally:
            sys.stdout, sys.stderr = streams
            for standard, copy in saved.items():
                os.dup2(copy, standard)
                os.close(copy)
