"""A pytest plugin for mutmut's first run, in which it notes the functions that each test reaches: those in forks as well.

mutmut notes them in memory, so what a forked child of a test reaches is lost with the child, and mutants of it would
count as reached by nobody. Of a test that fails in that run mutmut does not show what pytest says, so this plugin writes
it down as well.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import pytest

from pytest_actor_envs.gate.kill_recorder import FIRST_RUN, VARIABLE

FAILURES = "failures.txt"
LENGTH_OF_FAILURE = 2000


class ReachedFunctions(set[str]):
    """The set that mutmut adds to, and empties after each test; additions in forks come through a file."""

    def __init__(self) -> None:
        super().__init__()
        self._owner = os.getpid()
        self._file = tempfile.TemporaryFile("ab+", buffering=0)  # noqa: SIM115

    def add(self, name: str) -> None:
        if os.getpid() != self._owner and name not in self:
            with contextlib.suppress(OSError):  # a fork that closed what it inherited says nothing
                self._file.write(f"{name}\n".encode())  # one write, and the file is open for appending
        super().add(name)

    def add_those_of_forks(self) -> None:
        self._file.seek(0)
        self.update(self._file.read().decode().split())
        self._file.truncate(0)


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get(VARIABLE) == FIRST_RUN:
        from mutmut.state import state

        reached = state()._stats = ReachedFunctions()
        config.pluginmanager.register(FirstRun(reached, config.rootpath / FAILURES))


class FirstRun:
    """Counts what forks reached as reached by the test that ends, and writes down which tests fail, and how."""

    def __init__(self, reached: ReachedFunctions, failures: Path) -> None:
        self._reached = reached
        self._failures = failures
        failures.write_text("", encoding="utf-8")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            with self._failures.open("a", encoding="utf-8") as file:
                file.write(f"{report.nodeid}: {report.when}\n{report.longreprtext[-LENGTH_OF_FAILURE:]}\n")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self) -> None:
        self._reached.add_those_of_forks()
