"""A pytest plugin for mutmut's runs, loaded with `-p` in `[tool.mutmut]`: writes down which test fails on which mutant.

mutmut keeps pytest's exit status alone, which says neither which tests failed nor whether one failed at all: an error
in a set-up gives the same status. Each failed phase is one line of `kills.jsonl` beside the mutated sources:
`["name of the mutant", "call", "id of the test"]`.

It also keeps what mutmut's fork server collected, and runs those tests in the children that it forks (kept_session.py).
There the variable `ACTOR_ENVS_GATE_SECONDS` limits the processor time that one mutant gets: when it is over, no further
test is asked, and a line says how many were not: `["name of the mutant", "not asked", "12"]`. A single test that goes
on for as long again is stopped, and so is a mutant for which pytest starts anew, since a test was not collected or mutmut
has no server. What keeps the tests of a mutant from being run is a line as well: `["name of the mutant", "error", "why"]`.
"""

from __future__ import annotations

import gc
import json
import math
import os
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence

import pytest

from pytest_actor_envs.gate.kept_session import KeptSession, keep_session, note_modules
from pytest_actor_envs.gate.processor_time import ProcessorTime
from pytest_actor_envs.model import ConfigurationError

KILLS_FILE = "kills.jsonl"
BYTES_OF_LATE_KILLS = 1 << 16
"""Bytes of the file's end in which a child looks for tests that are likely to kill: mutmut takes functions in turn."""
VARIABLE = "MUTANT_UNDER_TEST"
EVERY_KILLER = "ACTOR_ENVS_GATE_EVERY_KILLER"
SECONDS = "ACTOR_ENVS_GATE_SECONDS"
NOT_ASKED = "not asked"
"""In place of a phase: how many tests a mutant was not asked because its time was over."""
ERROR = "error"
"""In place of a phase: a traceback of what is no test."""
LENGTH_OF_ERROR = 4000
# What mutmut puts into the variable while no mutant is active.
FORCED_FAILURE = "fail"
FIRST_RUN = "stats"
NO_MUTANT = frozenset({"", FORCED_FAILURE, FIRST_RUN, "list_all_tests", "mutant_generation"})
CODE_OF_GUARDS = "pytest_actor_envs."
PYPROJECT = "pyproject.toml"
RECORDER_NAME = "actor-envs-kill-recorder"


class KillRecorder:
    """Appends the failures of one session, and asks those tests that are needed to know who kills.

    A mutant's own tests are the generated guards and the file `test_NAME.py` for the module NAME. They are asked first,
    until one fails; the tests of others, which reach it in passing, where no own test does. With `everything` all are
    run, in one go, so that every killer is known.
    """

    def __init__(self, folder: str, mutant: str, arguments: list[str], everything: bool) -> None:
        own_file = f"test_{module_of(mutant).rpartition('.')[2]}.py"
        own = [argument for argument in arguments if _file(argument) in {own_file, PYPROJECT}]
        self.mutant = mutant
        self.first = arguments if everything or not own else own
        known = set(self.first)
        self.second = [argument for argument in arguments if argument not in known]
        self.may_stop = not everything
        self.is_dead = False
        self.has_failed = False
        # Opened at once, since tests change folders. Workers end in os._exit, which loses what is buffered.
        self.path = os.path.join(folder, KILLS_FILE)
        self.descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        done = yield
        if self.second and not self.is_dead:
            items = list(session.perform_collect(self.second))
            for item, following in zip(items, [*items[1:], None], strict=True):
                session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.shouldfail:
                    break
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            line = json.dumps([self.mutant, report.when, report.nodeid]) + "\n"
            os.write(self.descriptor, line.encode())
            self.has_failed = True
            self.is_dead = self.is_dead or report.when == "call"

    def note_those_not_asked(self, tests: int) -> None:
        """Writes down how many tests reach the mutant and were not asked."""
        os.write(self.descriptor, (json.dumps([self.mutant, NOT_ASKED, str(tests)]) + "\n").encode())

    def note_error(self, text: str) -> None:
        """Writes down why the tests of the mutant could not be run."""
        os.write(self.descriptor, (json.dumps([self.mutant, ERROR, text[-LENGTH_OF_ERROR:]]) + "\n").encode())

    def kills_of_siblings(self) -> dict[str, int]:
        """The tests that killed other mutants of the same function of late; the later the last kill, the higher."""
        beginning = json.dumps([self.mutant.rpartition("__mutmut_")[0] + "__mutmut_"])[:-2].encode()
        with open(self.path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - BYTES_OF_LATE_KILLS))
            kills = [json.loads(line) for line in file.read().split(b"\n")[:-1] if line.startswith(beginning)]
        return {test: number for number, (_, phase, test) in enumerate(kills, 1) if phase == "call"}

    def is_over(self) -> bool:
        """Whether no further test needs to be asked."""
        return self.is_dead and self.may_stop

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        if self.is_over():
            item.session.shouldfail = "the mutant is dead"

    def pytest_unconfigure(self) -> None:
        os.close(self.descriptor)


def _file(argument: str) -> str:
    return argument.partition("::")[0].rpartition("/")[2]


def module_of(mutant: str) -> str:
    """The module of a mutant that mutmut named `package.module.x_function__mutmut_1`."""
    return mutant.rpartition(".")[0]


def seconds_allowed(environment: Mapping[str, str]) -> float:
    """The processor time that the tests of one mutant get, infinity where none is said. Raises ConfigurationError."""
    text = environment.get(SECONDS, "inf")
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds > 0:
        raise ConfigurationError(
            f"gate: the variable {SECONDS} is no number of seconds above 0: '{text}'\n    unset it, or set it to one, as 60"
        )
    return seconds


def pytest_configure(config: pytest.Config) -> None:
    mutant = os.environ.get(VARIABLE, "")
    try:
        seconds = seconds_allowed(os.environ)
    except ConfigurationError as error:
        raise pytest.UsageError(str(error)) from None
    if mutant == FORCED_FAILURE:
        # mutmut asks whether any test can fail; --maxfail=0 would have all of them fail.
        config.option.maxfail = 1
    if mutant in NO_MUTANT:
        return
    ProcessorTime(seconds)
    recorder = _recorder(str(config.rootpath), mutant, config.args)
    config.args[:] = recorder.first
    config.pluginmanager.register(recorder, RECORDER_NAME)


def _recorder(folder: str, mutant: str, arguments: list[str]) -> KillRecorder:
    if mutant.startswith(CODE_OF_GUARDS):
        # Generated guards judge this project; a changed guard also changes which of them there are, and pytest runs
        # nothing at all if it is asked for one that is gone. So guards are left to the tests over projects in memory.
        arguments = [argument for argument in arguments if _file(argument) != PYPROJECT]
    return KillRecorder(folder, mutant, arguments, os.environ.get(EVERY_KILLER) == "1")


def pytest_collection_finish() -> None:
    gc.freeze()  # what was collected stays, so that looking at it again finds no garbage


def pytest_sessionfinish(session: pytest.Session) -> None:
    if os.environ.get(VARIABLE) == FIRST_RUN:
        note_modules(session.config.rootpath)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    # Only mutmut's fork server collects while the variable is there and says nothing.
    if os.environ.get(VARIABLE) != "" or not config.option.collectonly:
        return None
    replacement = pytest.MonkeyPatch()
    replacement.setattr(pytest, "main", _main_of_children(keep_session(config), pytest.main, replacement.undo))
    return pytest.ExitCode.OK


Main = Callable[..., int]


def _main_of_children(kept: KeptSession, main: Main, restore: Callable[[], None]) -> Main:
    """What `pytest.main` is in the children of mutmut's server, which call it once, for one mutant."""

    def main_of_children(arguments: Sequence[str], plugins: Sequence[object] = ()) -> int:
        restore()  # a test that runs pytest in this process runs the real one
        mutant = os.environ.get(VARIABLE, "")
        asked = [argument for argument in arguments if "::" in argument]
        if mutant in NO_MUTANT or plugins or not asked or not kept.has(asked):
            return main(arguments, plugins)
        return _run_kept(kept, _recorder(str(kept.config.rootpath), mutant, asked))

    return main_of_children


def _run_kept(kept: KeptSession, recorder: KillRecorder) -> int:
    """Runs the tests of one mutant; what is given is the exit status that pytest would end with."""
    try:
        limit = ProcessorTime(seconds_allowed(os.environ))
        kept.begin(recorder.pytest_runtest_logreport)
        kills = recorder.kills_of_siblings()
        names = [*kept.in_order(recorder.first, kills), *kept.in_order(recorder.second, kills)]
        names = kept.those_likely(recorder.mutant, names)
        asked = kept.run(names, lambda: recorder.is_over() or limit.is_over())
        if asked < len(names) and not recorder.is_dead:
            recorder.note_those_not_asked(len(names) - asked)
        kept.end()
    except (KeyboardInterrupt, pytest.exit.Exception):
        return pytest.ExitCode.INTERRUPTED
    except BaseException:
        recorder.note_error(traceback.format_exc())
        return pytest.ExitCode.INTERNAL_ERROR
    return pytest.ExitCode.TESTS_FAILED if recorder.has_failed else pytest.ExitCode.OK
