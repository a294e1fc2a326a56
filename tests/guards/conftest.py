"""A small whole project in memory that every guard holds on, to be broken by one edit at a time."""

from __future__ import annotations

import difflib
import gc
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from pytest_actor_envs.evaluation import Evaluation, guards_for
from pytest_actor_envs.model import Finding, Outcome, Verdict
from pytest_actor_envs.project import Project, project_in_memory
from pytest_actor_envs.sources.runtime import ChildRunner, Request
from tests.guards.asked_once import intact_project, keep_for_mutants, loaded_guards, run_once

PYPROJECT = """\
[project]
name = "sample"
version = "1"
dependencies = ["ray"]

[project.optional-dependencies]
alpha = ["six"]
beta = ["iniconfig"]
trtllm = ["pluggy"]
idle = []

[tool.pytest-actor-envs]
leaf = "sample/actor_environments.py"
docs = []

[tool.pytest-actor-envs.stand-alone-extras]
idle = "for people"
"""

LEAF = '''\
"""The table, and a script."""

import sys

ACTOR_ENVIRONMENTS = {
    # Beta and alpha are unpickled here.
    "sample.workers.First": ["beta", "alpha"],
    # Alpha is unpickled here.
    "sample.workers.Second": ["alpha"],
    "sample.workers.Third": None,
    # trtllm is loaded by its plugin.
    "sample.workers.Fourth": ["trtllm"],
}


def stage_of(extras):
    return "trtllm" if "trtllm" in extras else "deps"


def main(argv):
    known = {extra for extras in ACTOR_ENVIRONMENTS.values() for extra in extras or ()}
    if not argv or argv[0] not in ("all", "deps", "trtllm") or set(argv[1:]) - known:
        sys.stderr.write("unknown\\n")
        return 2
    for name, extras in sorted(ACTOR_ENVIRONMENTS.items()):
        if extras is not None and not set(extras) & set(argv[1:]) and argv[0] in ("all", stage_of(extras)):
            sys.stdout.write("\\t".join([name, stage_of(extras), " ".join("--extra " + e for e in extras)]) + "\\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
'''

EXECUTABLES = """\
import os
import sys


def command(extras):
    if extras is None or os.environ.get("NEMO_RL_PY_EXECUTABLES_SYSTEM") == "1":
        return sys.executable
    return " ".join(["uv", "run", "--locked", *("--extra " + extra for extra in extras), "--directory", "/project"])


class PY_EXECUTABLES:
    SYSTEM = command(None)
    BASE = command([])
    BETA_ALPHA = command(["beta", "alpha"])
    ALPHA = command(["alpha"])
    TRTLLM = command(["trtllm"])
"""

REGISTRY = """\
from sample.actor_environments import ACTOR_ENVIRONMENTS
from sample.py_executables import command

DECLARED = {"alpha", "beta", "trtllm"}


def reject(table):
    for name, extras in table.items():
        for extra in extras or ():
            if extra not in DECLARED:
                raise ValueError(name + ": undeclared extra " + extra)


reject(ACTOR_ENVIRONMENTS)

ACTOR_ENVIRONMENT_REGISTRY = {name: command(extras) for name, extras in ACTOR_ENVIRONMENTS.items()}
"""

WORKERS = """\
import ray

from sample.py_executables import PY_EXECUTABLES


class Base:
    DEFAULT_PY_EXECUTABLE = PY_EXECUTABLES.BETA_ALPHA


@ray.remote
class First(Base):
    pass


@ray.remote(num_cpus=1)
class Second:
    DEFAULT_PY_EXECUTABLE = PY_EXECUTABLES.ALPHA


@ray.remote
class Third:
    DEFAULT_PY_EXECUTABLE = PY_EXECUTABLES.SYSTEM


@ray.remote
class Fourth:
    pass
"""

FINGERPRINT = '''\
"""Hashes what an image was built from."""

import hashlib

COVERED = ("pyproject.toml", "uv.lock", "sample/actor_environments.py")


def fingerprint(root):
    return {path: hashlib.md5((root / path).read_bytes()).hexdigest() for path in COVERED}
'''

FILES: Mapping[str, str] = {
    "pyproject.toml": PYPROJECT,
    "sample/__init__.py": "",
    "sample/actor_environments.py": LEAF,
    "sample/py_executables.py": EXECUTABLES,
    "sample/ray_actor_environment_registry.py": REGISTRY,
    "sample/workers.py": WORKERS,
    "tools/generate_fingerprint.py": FINGERPRINT,
}


INTACT = intact_project(tuple(FILES.items()))
loaded_guards()


class Guarded:
    """A project with its evaluation."""

    def __init__(self, project: Project) -> None:
        project.runner = run_once
        self.project = project
        self.evaluation = Evaluation(project, guards_for(project, loaded_guards()))

    def outcomes(self, guard: str) -> dict[str, Outcome]:
        """Subject -> outcome."""
        cases = self.evaluation.cases(self.evaluation.guards[guard])
        return {case.subject.name: self.evaluation.outcome(case) for case in cases}

    def findings(self, guard: str) -> list[Finding]:
        """All findings of a guard, in the order of its subjects; none of its subjects may have crashed."""
        outcomes = self.outcomes(guard)
        crashed = [outcome.reason for outcome in outcomes.values() if outcome.verdict is Verdict.CRASHED]
        assert not crashed, crashed[0]
        return [finding for outcome in outcomes.values() for finding in outcome.findings]

    def messages(self, guard: str) -> list[str]:
        """Each finding as `path:line:column: message`."""
        return [f"{finding.location}: {finding.message}" for finding in self.findings(guard)]

    def answer(self, observer: str, answer: dict[str, Any], variables: Mapping[str, str] | None = None) -> None:
        """From now on `observer` answers this to requests with these variables, as a child that ended would."""
        others = self.project.runner

        def answered(request: Request, time_limit: float) -> dict[str, Any]:
            asked = request["observer"] == observer and request["variables"] == (variables or {})
            return answer if asked else others(request, time_limit)

        self.project.runner = answered

    def reports(self, guard: str) -> list[tuple[str, str, tuple[str, ...]]]:
        """Each finding as (`path:line:column`, message, fix)."""
        return [(str(finding.location), finding.message, finding.fix) for finding in self.findings(guard)]

    def proofs(self, name: str) -> list[str]:
        """What the guard says in each of its own mutants of the subject that must break: `subject, shape: messages`."""
        guard = self.evaluation.guards[name]
        lines = []
        for mutant in guard.mutants(self.project):
            mutated = Guarded(self.project.with_overlay(mutant.files))
            outcome = mutated.outcomes(name)[mutant.subject]
            said = " | ".join(finding.message for finding in outcome.findings) or outcome.verdict.value
            lines.append(f"{mutant.subject}, {mutant.shape}: {said}")
        return lines

    def changes(self, name: str) -> list[str]:
        """Each of the guard's own mutants as `subject, shape`, with a line for each line it adds, removes or changes."""
        listed = []
        for mutant in self.evaluation.guards[name].mutants(self.project):
            listed.append(f"{mutant.subject}, {mutant.shape}")
            for path, text in mutant.files.items():
                listed.extend(changed_lines(path, self._text(path), text))
        return listed

    def _text(self, path: str) -> str:
        return self.project.tree.read_text(path) if self.project.tree.exists(path) else ""

    def report(self, guard: str) -> list[str]:
        """Each finding as a terminal shows it: `path:line:column: message`, and a line for each line of the fix."""
        return [
            "\n    ".join([f"{finding.location}: {finding.message}", *finding.fix]) for finding in self.findings(guard)
        ]

    def reasons(self, guard: str) -> dict[str, str]:
        """Subject -> `verdict: reason`, of those that are blocked or undecided."""
        return {
            subject: f"{outcome.verdict.value}: {outcome.reason}"
            for subject, outcome in self.outcomes(guard).items()
            if outcome.reason
        }

    def mutants(self, guard: str) -> list[tuple[str, str, str]]:
        """(subject, shape, changed lines) of each mutant; all of them killed."""
        found = []
        for mutant in self.evaluation.guards[guard].mutants(self.project):
            mutated = Guarded(self.project.with_overlay(mutant.files))
            verdict = mutated.outcomes(guard)[mutant.subject].verdict
            assert verdict is Verdict.BROKEN, f"{mutant.shape} of {mutant.subject} is {verdict.value}"
            changes = [
                line for path, text in mutant.files.items() for line in changed_lines(path, self._text(path), text)
            ]
            found.append((mutant.subject, mutant.shape, "\n".join(changes)))
        return found

    def not_green(self) -> dict[str, str]:
        """Guard -> its worst verdict, of all guards that do not hold on every subject."""
        return dict(self._verdicts())

    def _verdicts(self) -> Iterator[tuple[str, str]]:
        for case in self.evaluation.all_cases():
            verdict = self.evaluation.outcome(case).verdict
            if verdict is not Verdict.HOLDS:
                yield case.guard.name, verdict.value


def changed_lines(path: str, before: str, after: str | None) -> Iterator[str]:
    """`path:line: -old` or `+new` of each line that is changed, blank ones left out."""
    if after is None:
        yield f"{path}: gone"
        return
    if not after:
        yield f"{path}: empty"
    old, new = before.splitlines(), after.splitlines()
    for tag, first, last, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from (f"{path}:{number + 1}: -{old[number]}" for number in range(first, last) if old[number])
            yield from (f"{path}:{number + 1}: +{new[number]}" for number in range(start, end) if new[number])


@pytest.fixture
def guarded() -> Callable[[Mapping[str, str]], Guarded]:
    """`guarded({path: text})`: a whole project of the test's own."""
    return lambda files: Guarded(project_in_memory(files))


Edits = Mapping[str, tuple[str, str] | str | None]


@pytest.fixture
def sample() -> Callable[..., Guarded]:
    """`sample({path: (old, new) or whole text or None})`: the sample project with these edits."""

    def made(edits: Edits | None = None) -> Guarded:
        changed: dict[str, str | None] = {}
        for path, edit in (edits or {}).items():
            if isinstance(edit, tuple):
                old, new = edit
                assert old in FILES[path], f"{old!r} does not stand in {path}"
                changed[path] = FILES[path].replace(old, new)
            else:
                changed[path] = edit
        if all(path in FILES and text is not None for path, text in changed.items()):
            return Guarded(INTACT.with_overlay(changed))
        # Which files there are decides what the configuration's defaults are.
        return Guarded(
            project_in_memory({path: text for path, text in {**FILES, **changed}.items() if text is not None})
        )

    return made


SMALL = """\
[project]
name = "small"
dependencies = ["ray"]

[project.optional-dependencies]
alpha = ["six"]
beta = ["iniconfig"]

[tool.pytest-actor-envs]
leaf = "pkg/actor_environments.py"
docs = []
"""


@pytest.fixture
def small(guarded: Callable[[Mapping[str, str]], Guarded]) -> Callable[..., Guarded]:
    """`small(table, {path: text}, configuration)`: a package with a table of these lines; more lines of configuration."""

    def made(table: str, files: Mapping[str, str] | None = None, configuration: str = "") -> Guarded:
        leaf = f"ACTOR_ENVIRONMENTS = {{\n{table}}}\n"
        return guarded({"pyproject.toml": SMALL + configuration, "pkg/actor_environments.py": leaf, **(files or {})})

    return made


@pytest.fixture
def runner() -> Iterator[ChildRunner]:
    """What runs project code in processes of its own, which end with the test."""
    runner = ChildRunner()
    yield runner
    del runner
    gc.collect()


def pytest_sessionfinish() -> None:
    keep_for_mutants()
