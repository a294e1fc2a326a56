"""What tests of guards share and is found out once: answers about the code of projects in memory, an intact project.

pytest imports a conftest.py anew in each of mutmut's sessions, and this module only in the first.
Answers are asked once for all mutants of guards.

An answer follows from the request alone: it holds the whole code. So it does not depend on a guard, and what mutmut's
first run of the tests was told is told again, out of a file, to the tests of each mutant of a guard. Mutants of what
answers (`sources/`) get no answer out of it.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.project import Project, project_in_memory
from pytest_actor_envs.sources.forks import run_in_fork
from pytest_actor_envs.sources.runtime import NEED_A_CHILD, ChildRunner, Request, run_in_process

VARIABLE = "MUTANT_UNDER_TEST"
CODE_OF_GUARDS = "pytest_actor_envs.guards."
FILE = Path("answers.json").absolute()


def _of_the_first_run() -> dict[str, Any]:
    under_mutmut = VARIABLE in os.environ and FILE.is_file()
    return dict(json.loads(FILE.read_text(encoding="utf-8"))) if under_mutmut else {}


_EARLIER = _of_the_first_run()
_ANSWERS: dict[str, Any] = {}
_CHILD = ChildRunner()  # `run_in_process` starts one for each question, which takes longer than most tests that ask


loaded_guards = cache(load_guards)


@cache
def intact_project(files: tuple[tuple[str, str], ...]) -> Project:
    """The project in memory that has these (path, text); what is read of it here is shared by all made of it."""
    project = project_in_memory(dict(files))
    project.runner = run_once
    assert project.pyproject.extras
    assert project.table.readable
    return project


def run_once(request: Request, time_limit: float) -> dict[str, Any]:
    """What `run_in_process` answers."""
    key = json.dumps(request, sort_keys=True)
    mutant = os.environ.get(VARIABLE, "")
    if (not mutant or mutant.startswith(CODE_OF_GUARDS)) and key in _EARLIER:
        earlier: dict[str, Any] = json.loads(_EARLIER[key])
        return earlier
    if key not in _ANSWERS:
        run = _CHILD if request["observer"] in NEED_A_CHILD else run_in_process
        _ANSWERS[key] = json.dumps(run(request, time_limit))
    answer: dict[str, Any] = json.loads(_ANSWERS[key])
    return answer


def run_apart(request: Request, time_limit: float) -> dict[str, Any]:
    """The answer of a process for this request only, a fork of this one wherever that can answer."""
    run = run_in_process if request["observer"] == "alone" else run_in_fork
    return run(request, time_limit)


def keep_for_mutants() -> None:
    """Writes the answers of mutmut's first run; does nothing in any other."""
    if os.environ.get(VARIABLE) == "stats":
        FILE.write_text(json.dumps(_ANSWERS), encoding="utf-8")
