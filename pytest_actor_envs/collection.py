"""The pytest nodes: pyproject.toml holds guards, a guard holds one item for each subject."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_actor_envs.evaluation import Case, Evaluation, guards_for
from pytest_actor_envs.guards import inactive_families, inactive_guards
from pytest_actor_envs.model import ConfigurationError, Guard, Outcome, Verdict
from pytest_actor_envs.project import Project, open_project
from pytest_actor_envs.report.terminal import outcome_text
from pytest_actor_envs.sources.answers import UntracedAnswers

EVALUATION = pytest.StashKey["Evaluation | None"]()
FACTS_FOR_WORKERS = pytest.StashKey[str]()
FACTS = "actor_envs_facts"
READING_FAMILIES = ("actors", "extras")
"""Families whose guards only read, and most of the project's modules."""


class BrokenGuard(Exception):
    """A guard is broken; the argument is the text of all its findings."""


class CrashedGuard(Exception):
    """A guard raised something of its own; the argument says what."""


def evaluation_of(config: pytest.Config) -> Evaluation | None:
    """The evaluation of the project at pytest's root, made once a run; `None` where nothing is configured."""
    if EVALUATION not in config.stash:
        try:
            project = open_project(config.rootpath, UntracedAnswers())
        except ConfigurationError as error:
            raise pytest.UsageError(str(error)) from None
        if project is not None:
            _take_facts(config, project)
        config.stash[EVALUATION] = None if project is None else Evaluation(project, guards_for(project))
    return config.stash[EVALUATION]


def _take_facts(config: pytest.Config, project: Project) -> None:
    given = getattr(config, "workerinput", {}).get(FACTS)
    folder = _cache_folder(config)
    if given is not None:
        project.facts.keep(given)
    elif folder is not None:
        project.facts.load(folder)


def _cache_folder(config: pytest.Config) -> Path | None:
    """The plugin's folder in pytest's cache, `None` where the cache is off."""
    cache = getattr(config, "cache", None)
    return None if cache is None else Path(cache.mkdir("actor-envs"))


def facts_for_workers(config: pytest.Config) -> str | None:
    """What guards read of the project, as JSON, read once by the controller; `None` where nothing is guarded."""
    if FACTS_FOR_WORKERS not in config.stash:
        evaluation = evaluation_of(config)
        if evaluation is None:
            return None
        for guard in evaluation.guards.values():
            if guard.family in READING_FAMILIES:
                for case in evaluation.cases(guard):
                    evaluation.outcome(case)
        config.stash[FACTS_FOR_WORKERS] = evaluation.project.facts.facts
    return config.stash[FACTS_FOR_WORKERS]


def save_facts(config: pytest.Config) -> None:
    """Leaves what was read in pytest's cache. Workers leave that to the controller."""
    evaluation, folder = config.stash.get(EVALUATION, None), _cache_folder(config)
    if evaluation is None or folder is None or hasattr(config, "workerinput"):
        return
    with contextlib.suppress(OSError):  # a cache that cannot be written makes the next run slower, and nothing else
        evaluation.project.facts.save(folder)


def header(config: pytest.Config) -> str | None:
    """The line of the report's header: the leaf, and the families that are off."""
    evaluation = evaluation_of(config)
    if evaluation is None:
        return None
    off = [*inactive_families(evaluation.project), *inactive_guards(evaluation.project)]
    listed = "; ".join(f"{family}: {reason}" for family, reason in off)
    return f"actor-envs: {evaluation.project.config.leaf}" + (f" (off: {listed})" if listed else "")


def guarded_file(path: Path, parent: pytest.Collector) -> GuardedFile | None:
    """The node of pyproject.toml, `None` where it configures no guards."""
    if evaluation_of(parent.config) is None:
        return None
    node: GuardedFile = GuardedFile.from_parent(parent, path=path)
    return node


class GuardedFile(pytest.File):
    """pyproject.toml, where the configuration is; never the leaf, which pytest's own collector would import."""

    def collect(self) -> Iterator[pytest.Collector]:
        evaluation = evaluation_of(self.config)
        assert evaluation is not None
        for guard in evaluation.guards.values():
            yield GuardNode.from_parent(self, name=guard.name, guard=guard, evaluation=evaluation)


class GuardNode(pytest.Collector):
    """One guard."""

    def __init__(self, *, guard: Guard, evaluation: Evaluation, **node: Any) -> None:
        super().__init__(**node)
        self.guard = guard
        self.evaluation = evaluation

    def collect(self) -> Iterator[pytest.Item]:
        for case in self.evaluation.cases(self.guard):
            yield GuardItem.from_parent(self, name=case.name, case=case, evaluation=self.evaluation)


class GuardItem(pytest.Item):
    """One guard and one subject. It looks in the set-up phase, so that a crash is an error and never a failure."""

    def __init__(self, *, case: Case, evaluation: Evaluation, **node: Any) -> None:
        super().__init__(**node)
        self.case = case
        self.evaluation = evaluation
        self.outcome: Outcome | None = None

    def setup(self) -> None:
        self.outcome = self.evaluation.outcome(self.case)
        if self.outcome.verdict is Verdict.CRASHED:
            raise CrashedGuard(outcome_text(self.case.guard.name, self.outcome))

    def runtest(self) -> None:
        assert self.outcome is not None
        text = outcome_text(self.case.guard.name, self.outcome)
        if self.outcome.verdict is Verdict.BROKEN:
            raise BrokenGuard(text)
        if self.outcome.verdict is Verdict.UNDECIDED and self.config.option.actor_envs_strict:
            raise BrokenGuard(text)
        if self.outcome.verdict is not Verdict.HOLDS:
            pytest.skip(text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, BrokenGuard | CrashedGuard):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        place = self.case.subject.location
        title = f"{self.case.guard.name} of {self.case.subject.name}"
        return self.config.rootpath / place.path, place.line - 1, title
