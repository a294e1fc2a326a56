"""A pytest plugin for mutmut's runs, loaded with `-p` in `[tool.mutmut]`: writes down which test fails on which mutant.

mutmut keeps pytest's exit status alone, which says neither which tests failed nor whether one failed at all: an error
in a set-up gives the same status. Each failed phase is one line of `kills.jsonl` beside the mutated sources:
`["name of the mutant", "call", "id of the test"]`.
"""

from __future__ import annotations

import json
import os

import pytest

FILE = "kills.jsonl"
VARIABLE = "MUTANT_UNDER_TEST"
EVERYTHING = "ACTOR_ENVS_GATE_EVERY_KILLER"
# What mutmut puts into the variable while no mutant is active.
FORCED_FAILURE = "fail"
NO_MUTANT = frozenset({"", FORCED_FAILURE, "stats", "list_all_tests", "mutant_generation"})
CODE_OF_GUARDS = "pytest_actor_envs."
GENERATED = "pyproject.toml::"


class KillRecorder:
    """Appends the failures of one session, and ends it where the mutant is dead and no test of its own is left.

    A mutant's own tests are the generated guards and the file `test_NAME.py` for the module NAME: they are all run, so
    that it is known which of them kill. The tests of others reach it in passing and only have to kill what those miss.
    With `everything`, all are run.
    """

    def __init__(self, folder: str, mutant: str, everything: bool) -> None:
        self.mutant = mutant
        self.own_file = f"test_{module_of(mutant).rpartition('.')[2]}.py"
        self.everything = everything
        self.is_dead = False
        # Opened at once, since tests change folders. Workers end in os._exit, which loses what is buffered.
        self.descriptor = os.open(os.path.join(folder, FILE), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def is_own(self, item: pytest.Item) -> bool:
        return item.path.name in {self.own_file, "pyproject.toml"}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: not self.is_own(item))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            line = json.dumps([self.mutant, report.when, report.nodeid]) + "\n"
            os.write(self.descriptor, line.encode())
            self.is_dead = self.is_dead or report.when == "call"

    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        if self.is_dead and not self.everything and nextitem is not None and not self.is_own(nextitem):
            item.session.shouldfail = "the mutant is dead"

    def pytest_unconfigure(self) -> None:
        os.close(self.descriptor)


def module_of(mutant: str) -> str:
    """The module of a mutant that mutmut named `package.module.x_function__mutmut_1`."""
    return mutant.rpartition(".")[0]


def pytest_configure(config: pytest.Config) -> None:
    mutant = os.environ.get(VARIABLE, "")
    if mutant == FORCED_FAILURE:
        # mutmut asks whether any test can fail; --maxfail=0 would have all of them fail.
        config.option.maxfail = 1
    if mutant in NO_MUTANT:
        return
    recorder = KillRecorder(str(config.rootpath), mutant, os.environ.get(EVERYTHING) == "1")
    config.pluginmanager.register(recorder, "actor-envs-kill-recorder")
    if mutant.startswith(CODE_OF_GUARDS):
        # Generated guards judge this project; a changed guard also changes which of them there are, and pytest runs
        # nothing at all if it is asked for one that is gone. So guards are left to the tests over projects in memory.
        config.args[:] = [argument for argument in config.args if not argument.startswith(GENERATED)]
