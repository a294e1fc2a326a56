"""What the verdicts that gate-full keeps were found from, and which of them hold when that has changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Set
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from pytest_actor_envs.gate.guard_sources import PLUGIN_FOLDER
from pytest_actor_envs.gate.kill_recorder import EVERY_KILLER, NOT_ASKED, SECONDS
from pytest_actor_envs.gate.mutmut_results import CodeMutant
from pytest_actor_envs.gate.verdicts import Fate
from pytest_actor_envs.sources.kept_files import write_into_place

GUARDS = "pyproject.toml"
"""In place of a test's file: a generated guard's."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How a mutant is asked: seconds of processor time for its tests, and whether they go on once one has killed it."""

    seconds: float
    every_killer: bool = False

    @property
    def variables(self) -> dict[str, str]:
        """What tells kill_recorder.py."""
        return {SECONDS: str(self.seconds), EVERY_KILLER: "1" if self.every_killer else "0"}


@dataclass(frozen=True, slots=True)
class State:
    """Hash of each file by path, interpreter and what is installed, and how mutants were asked."""

    files: Mapping[str, str]
    versions: tuple[str, ...]
    asking: Asking

    def differing(self, other: State) -> set[str]:
        """Paths of the files that are not the same in both."""
        return {
            path for path in self.files.keys() | other.files.keys() if self.files.get(path) != other.files.get(path)
        }


def read_state(file: Path) -> State | None:
    """What `write_state` wrote; nothing where there is no file, or one of another format."""
    try:
        found = json.loads(file.read_bytes())
        return State(dict(found["files"]), tuple(found["versions"]), Asking(**found["asking"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def write_state(file: Path, state: State) -> None:
    """Writes a state down for the next run, in one go."""
    write_into_place(file, json.dumps(asdict(state)))


def lasting(mutants: Iterable[CodeMutant], before: State, after: State) -> set[str]:
    """The names of those mutants whose verdicts hold in a state of the same versions.

    None where now all killers are asked for. Where files differ, those that a test killed, if neither the mutant's file
    nor that of such a test, nor a conftest.py above that, nor for a guard the plugin differs. None that ran out of time
    where there is more of it.
    """
    if after.asking.every_killer and not before.asking.every_killer:
        return set()
    differing = before.differing(after)
    has_more_time = after.asking.seconds > before.asking.seconds
    return {
        mutant.name
        for mutant in mutants
        if not (has_more_time and _ran_out_of_time(mutant)) and (not differing or _outlives(mutant, differing))
    }


def _ran_out_of_time(mutant: CodeMutant) -> bool:
    has_more_tests = any(phase == NOT_ASKED for phase, _ in mutant.failures)
    return mutant.fate is Fate.TIMED_OUT or (has_more_tests and not mutant.killers)


def _outlives(mutant: CodeMutant, differing: Set[str]) -> bool:
    return mutant.path not in differing and any(_is_as_it_was(killer, differing) for killer in mutant.killers)


def _is_as_it_was(test: str, differing: Set[str]) -> bool:
    file = PurePosixPath(test.partition("::")[0])
    if file.as_posix() == GUARDS and any(path.startswith(f"{PLUGIN_FOLDER.name}/") for path in differing):
        return False
    return differing.isdisjoint({file.as_posix(), *((folder / "conftest.py").as_posix() for folder in file.parents)})
