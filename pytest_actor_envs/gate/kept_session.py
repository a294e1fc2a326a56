"""The tests that mutmut's fork server collects once, kept for the children that it forks, one for each mutant.

mutmut collects in its server, so that modules are imported there, and then starts pytest anew in each child; most of a
child's time went into that start. So the session that the server collected stays set up, and a child runs those of its
items that it is asked for as it would run new ones: no fixture is set up when a child is forked, and what a child
captures and its temporary folders are its own.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from _pytest.config import _prepareconfig

from pytest_actor_envs.gate.huge_pages import gather_memory

COLLECT_ONLY = "--collect-only"
STATISTICS = "mutmut-stats.json"
MODULES = "modules.json"
LIKELY_KILLERS = "ACTOR_ENVS_GATE_LIKELY_KILLERS"
"""The variable that names a file: mutant -> ids of tests that killed it in an earlier run."""
Watcher = Callable[[pytest.TestReport], None]


class KeptSession:
    """A collected session, its items by id, the seconds that each test took in mutmut's first run, likely killers."""

    def __init__(
        self, session: pytest.Session, seconds: Mapping[str, float], likely: Mapping[str, Sequence[str]]
    ) -> None:
        self.session = session
        self.config = session.config
        self.items = {item.nodeid: item for item in session.items}
        self._seconds = seconds
        self._likely = likely
        self._watcher: Watcher | None = None
        for item in session.items:
            item.location  # noqa: B018 - looked up once here, not in each child
        self.config.pluginmanager.register(self)  # here, since in a child it would take a tenth of its time

    def has(self, names: Iterable[str]) -> bool:
        """Whether all tests with these ids were collected."""
        return self.items.keys() >= set(names)

    def those_likely(self, mutant: str, names: Sequence[str]) -> list[str]:
        """The ids of tests, those first that are likely to kill the mutant, else in the order that they have."""
        likely = self._likely.get(mutant, ())
        return sorted(names, key=lambda name: name not in likely)

    def in_order(self, names: Iterable[str], kills: Mapping[str, int]) -> list[str]:
        """The ids of tests, those that killed last first, the quickest first among those that did not kill.

        Generated guards work when they are set up, which mutmut does not time, and the first of them reads the project:
        they come behind.
        """

        def rank(name: str) -> tuple[int, bool, float, str]:
            is_generated = not isinstance(self.items[name], pytest.Function)
            return -kills.get(name, 0), is_generated, self._seconds.get(name, 0.0), name

        return sorted(names, key=rank)

    def run(self, names: Sequence[str], is_over: Callable[[], bool]) -> int:
        """Runs the tests with these ids, in this order, until `is_over` says so, or one of them stops the session.

        Gives how many it ran.
        """
        items = [self.items[name] for name in names]
        for number, item in enumerate(items, 1):
            following = items[number] if number < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if is_over() or self.session.shouldstop or self.session.shouldfail:
                return number
        return len(items)

    def begin(self, watcher: Watcher) -> None:
        """Makes this process, a child, one that runs tests, and `watcher` the one who is told what becomes of them."""
        self._watcher = watcher
        silent = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (1, 2):
            os.dup2(silent, descriptor)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """Says that a phase failed, not how, since nobody reads that: pytest's own report reads source files for it."""
        assert call.when != "collect", "what was collected is kept"
        outcome: Literal["passed", "failed", "skipped"] = "passed"
        if call.excinfo is not None:
            outcome = "skipped" if call.excinfo.errisinstance(pytest.skip.Exception) else "failed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._watcher is not None:
            self._watcher(report)

    def end(self) -> None:
        """Tears down what is left, and lets plugins remove what they made."""
        os.chdir(self.session.startpath)
        self.config.hook.pytest_sessionfinish(session=self.session, exitstatus=pytest.ExitCode.OK)


def keep_session(config: pytest.Config) -> KeptSession:
    """Collects what a run with the arguments of `config` would, in a session that stays set up until the process ends.

    Raises what collecting raises: pytest.UsageError, pytest.Session.Interrupted.
    """
    arguments = [str(argument) for argument in config.invocation_params.args if argument != COLLECT_ONLY]
    # pytest.main ends what it sets up; this is how pytester and pytest-xdist come to a session of their own.
    # What tests print is kept in memory, not in files, which children would share.
    kept = _prepareconfig([*arguments, "--capture=sys"])
    kept._do_configure()
    kept.pluginmanager.unregister(name="terminalreporter")  # children say nothing
    session = pytest.Session.from_config(kept)
    kept.hook.pytest_sessionstart(session=session)
    kept.hook.pytest_collection(session=session)
    _import_modules(kept.rootpath)
    gc.collect()
    gc.freeze()  # so that children do not copy what the collector would touch
    gather_memory()
    seconds = _read(kept.rootpath / STATISTICS).get("duration_by_test", {})
    return KeptSession(session, seconds, _read(Path(os.environ.get(LIKELY_KILLERS, os.devnull))))


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def note_likely_killers(path: Path, killers: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Writes down which tests are likely to kill which mutant; the variable that tells a run of mutmut where."""
    path.write_text(json.dumps(killers), encoding="utf-8")
    return {LIKELY_KILLERS: str(path)}


def note_modules(folder: Path) -> None:
    """Writes down the modules that tests came to import, but for those below `folder`, which may be mutated."""
    modules = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    foreign = [name for name, file in modules.items() if file and not Path(file).is_relative_to(folder)]
    (folder / MODULES).write_text(json.dumps(foreign), encoding="utf-8")


def _import_modules(folder: Path) -> None:
    """Imports what tests came to import in mutmut's first run, so that no child has to."""
    path = folder / MODULES
    for name in json.loads(path.read_text(encoding="utf-8")) if path.exists() else ():
        with contextlib.suppress(ImportError):  # then the test that needs it says so
            importlib.import_module(name)
