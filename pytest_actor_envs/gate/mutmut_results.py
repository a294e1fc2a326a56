"""What a run of mutmut left in `mutants/`: exit statuses, failed tests, and what follows from both."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_actor_envs.gate.kept_session import STATISTICS
from pytest_actor_envs.gate.kill_recorder import ERROR, KILLS_FILE, NOT_ASKED
from pytest_actor_envs.gate.verdicts import Fate
from pytest_actor_envs.project import dotted

# What the process of a mutant ended with: a status of pytest, 0 to 5, or minus the number of a signal. 33 is mutmut's own.
NO_FAILURE, FAILURE, INTERRUPTED, USAGE, NO_TESTS, NOT_REACHED = 0, 1, 2, 4, 5, 33
KILLED = -9
# 24 is SIGXCPU, 152 as a shell tells it; 36 is mutmut's own, with which processor_time.py ends a mutant as well.
LIMIT_OF_TIME = frozenset({24, -24, 36, 152, KILLED})
# mutmut ends a mutant with -1, which the system makes 255, where pytest's status is USAGE.
NOT_STARTED = frozenset({USAGE, -1, 255})


@dataclass(frozen=True, slots=True)
class CodeMutant:
    """One mutant as mutmut knows it: its file, its exit status, and the (phase, test) that failed on it.

    (NOT_ASKED, number) among these says how many tests there was no time for, (ERROR, traceback) why none was run.
    """

    name: str
    path: str
    status: int | None
    failures: tuple[tuple[str, str], ...] = ()

    @property
    def killers(self) -> tuple[str, ...]:
        """Tests that failed in their call phase, which is the one thing that counts as a kill."""
        return tuple(dict.fromkeys(test for phase, test in self.failures if phase == "call"))

    @property
    def has_unasked_tests(self) -> bool:
        """Whether it lives, but its time was over before all tests were run."""
        return self.status == NO_FAILURE and any(phase == NOT_ASKED for phase, _ in self.failures)

    @property
    def fate(self) -> Fate:
        if self.killers:
            return Fate.KILLED
        if self.status is None or self.status in NOT_STARTED:
            return Fate.NO_VERDICT
        if self.status in {NO_FAILURE, NO_TESTS, NOT_REACHED}:
            return Fate.SURVIVED
        return Fate.TIMED_OUT if self.status in LIMIT_OF_TIME else Fate.CRASHED

    @property
    def reason(self) -> str:
        """What explains the fate, where the word alone does not."""
        if self.fate is Fate.KILLED:
            return ""
        errors = [f"{phase} of {test}" for phase, test in self.failures if phase not in {NOT_ASKED, ERROR}]
        raised = [text for phase, text in self.failures if phase == ERROR]
        left = [number for phase, number in self.failures if phase == NOT_ASKED]
        if left and self.status in {NO_FAILURE, *LIMIT_OF_TIME}:
            return f"the limit of time ended before {left[-1]} further tests were run"
        if self.status == NO_FAILURE:
            return ""
        if self.status in {NO_TESTS, NOT_REACHED}:
            return "no test in the process reaches it"
        if self.status is None:
            return "mutmut did not come to it"
        if self.status in NOT_STARTED:
            return "pytest ran nothing: a test that it was asked for is gone"
        if raised:
            return f"its tests could not be run to their end:\n{raised[-1]}"
        if errors:
            return f"errors in {', '.join(errors)}; no test failed"
        if self.status == KILLED:
            return "SIGKILL ended it, which comes at a limit of time and where the system's memory runs out"
        if self.status in LIMIT_OF_TIME:
            return "it was stopped at the limit of time"
        words = {FAILURE: "pytest failed but no test did", INTERRUPTED: "tests could not be collected"}
        return words.get(self.status, f"pytest ended with {self.status}")


@dataclass(frozen=True, slots=True)
class Results:
    """All mutants of one run, and for each mutated function the tests that reach it."""

    mutants: tuple[CodeMutant, ...]
    reached_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def tests_of(self, mutant: str) -> tuple[str, ...]:
        """The tests that reach the function of a mutant, sorted."""
        return self.reached_by.get(mutant.rpartition("__mutmut_")[0], ())


def read_results(folder: Path) -> Results:
    """The results in `mutants/`, mutants sorted by name. No file at all gives no mutants."""
    failures: dict[str, list[tuple[str, str]]] = {}
    for mutant, phase, test in _lines(folder / KILLS_FILE):
        failures.setdefault(mutant, []).append((phase, test))
    found: list[CodeMutant] = []
    for path in sorted(folder.rglob("*.meta")):
        source = path.relative_to(folder).as_posix().removesuffix(".meta")
        statuses = _statuses(path, source, failures)
        found.extend(
            CodeMutant(name, source, status, tuple(failures.get(name, ()))) for name, status in statuses.items()
        )
    return Results(tuple(sorted(found, key=lambda mutant: mutant.name)), _reached_by(folder / STATISTICS))


def _statuses(path: Path, source: str, noted: Mapping[str, Sequence[tuple[str, str]]]) -> dict[str, int | None]:
    """Mutant -> exit status of one file. Of a file that mutmut was writing when it was ended, what is `noted` is known."""
    try:
        statuses: dict[str, int | None] = json.loads(path.read_bytes())["exit_code_by_key"]
    except json.JSONDecodeError:
        functions = _functions(path.with_suffix(".spans"))
        names = [f"{dotted(source)}.{function}" for function in functions if not function.endswith("__mutmut_orig")]
        return {name: status_noted(noted.get(name, ())) for name in names}
    return statuses


def _functions(spans: Path) -> Collection[str]:
    """The functions in a mutated file; none where mutmut was ended while it made them."""
    try:
        functions: dict[str, object] = json.loads(spans.read_bytes())["spans"]
    except (FileNotFoundError, json.JSONDecodeError):
        return ()
    return functions


def status_noted(failures: Sequence[tuple[str, str]]) -> int | None:
    """The status of a mutant as far as (phase, test) lines tell: one that a test killed, or that had no more time."""
    phases = {phase for phase, _ in failures}
    if "call" in phases:
        return FAILURE
    return NO_FAILURE if phases == {NOT_ASKED} else None


def _lines(path: Path) -> Iterator[tuple[str, str, str]]:
    if path.exists():
        for line in path.read_bytes().splitlines():
            mutant, phase, test = json.loads(line)
            yield mutant, phase, test


def _reached_by(path: Path) -> dict[str, tuple[str, ...]]:
    if not path.exists():
        return {}
    try:
        reached: dict[str, list[str]] = json.loads(path.read_bytes())["tests_by_mangled_function_name"]
    except json.JSONDecodeError:  # mutmut was ended before there were mutants to judge
        return {}
    return {name: tuple(sorted(tests)) for name, tests in reached.items()}
