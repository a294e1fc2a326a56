"""What one run of pytest knows of the project, what it tells its workers, and what it leaves for the next run.

The evaluation, and all that it imports, waits until something has to be judged.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_actor_envs.sources.answers import UntracedAnswers
from pytest_actor_envs.sources.collector import without_collector
from pytest_actor_envs.sources.tree import MUTANT, Tree, original_root
from pytest_actor_envs.verdict_store import HeldCase, Verdicts, VerdictStore

if TYPE_CHECKING:
    from pytest_actor_envs.evaluation import Evaluation
    from pytest_actor_envs.judgements import Case
    from pytest_actor_envs.model import Outcome

READING_FAMILIES = ("actors", "extras")
"""Families whose guards read most of the project's modules: the controller does it for all workers."""
KEPT_FAMILIES = (*READING_FAMILIES, "docs", "image")
"""Families whose guards do nothing but read, so that what they read decides."""

FACTS, VERDICTS = "actor_envs_facts", "actor_envs_verdicts"


class GuardedSession:
    """The project at pytest's root, in one run."""

    def __init__(self, config: pytest.Config) -> None:
        self._root = config.rootpath
        self._cache = getattr(config, "cache", None)
        self._given: dict[str, str] | None = getattr(config, "workerinput", None)
        self._tree = self._untouched_tree()
        self._store: VerdictStore | None = None

    def _untouched_tree(self) -> Tree:
        return Tree(original_root(self._root, os.environ), answers=UntracedAnswers())

    @cached_property
    def _folder(self) -> Path | None:
        """The plugin's folder in pytest's cache, `None` where there is none or it is the controller's business."""
        if self._cache is None or self._given is not None:
            return None
        try:
            return Path(self._cache.mkdir("actor-envs"))
        except OSError:  # a checkout that cannot be written is judged all the same
            return None

    @cached_property
    def verdicts(self) -> Verdicts | None:
        """What an earlier run, or the controller of this one, found to hold, and what is so still; `None` if unknown."""
        if self._given is not None:
            given = json.loads(self._given.get(VERDICTS, "null"))
            return None if given is None else Verdicts(*given)
        if self._folder is None or MUTANT in os.environ:
            return None
        self._store = VerdictStore(self._folder)
        found = self._store.load(self._tree)
        if found is None:
            self._tree = self._untouched_tree()  # what is judged does not depend on what was compared
        return found

    @cached_property
    def evaluation(self) -> Evaluation | None:
        """The evaluation of the project; `None` where nothing is configured. Raises pytest.UsageError."""
        from pytest_actor_envs.evaluation import Evaluation, guards_for
        from pytest_actor_envs.model import ConfigurationError
        from pytest_actor_envs.project import open_project

        _ = self.verdicts  # first, since it settles which tree is judged
        try:
            project = open_project(self._root, self._tree)
            if project is None:
                return None
            with without_collector():
                if self._given is not None and FACTS in self._given:
                    project.facts.keep(self._given[FACTS])
                elif self._folder is not None:
                    project.facts.load(self._folder)
                return Evaluation(project, guards_for(project))
        except ConfigurationError as error:
            raise pytest.UsageError(str(error)) from None

    @property
    def header(self) -> str | None:
        """The line of the report's header: the leaf, and the families that are off; `None` where nothing is guarded."""
        if self.verdicts is not None:
            return self.verdicts.header
        return None if self.evaluation is None else _header(self.evaluation)

    @property
    def guard_names(self) -> Sequence[str] | None:
        """The guards that run, in order; `None` where nothing is guarded."""
        if self.verdicts is not None:
            return list(self.verdicts.guards)
        return None if self.evaluation is None else list(self.evaluation.guards)

    def held(self, guard: str) -> Sequence[HeldCase] | None:
        """The guard's cases, where it is known that all of them hold."""
        return None if self.verdicts is None else self.verdicts.guards[guard]

    def cases(self, guard: str) -> Sequence[Case]:
        """The cases of a guard that it is asked for."""
        evaluation = self._judging
        if evaluation.guards[guard].family not in KEPT_FAMILIES and self._given is None:
            _get_ready(evaluation)
        with without_collector():
            return evaluation.cases(evaluation.guards[guard])

    def outcome(self, case: Case) -> Outcome:
        """The verdict of a case."""
        with without_collector():
            return self._judging.outcome(case)

    @property
    def _judging(self) -> Evaluation:
        assert self.evaluation is not None, "whoever has a guard has an evaluation"
        return self.evaluation

    @cached_property
    def for_workers(self) -> dict[str, str]:
        """What the controller read and judged once for all workers, as JSON; empty where nothing is guarded."""
        if self.verdicts is None or not all(self.verdicts.guards.values()):
            evaluation = self.evaluation
            if evaluation is None:
                return {}
            for guard in evaluation.guards.values():
                if guard.family in READING_FAMILIES and not self.held(guard.name):
                    for case in self.cases(guard.name):
                        self.outcome(case)
            return {FACTS: evaluation.project.facts.facts, VERDICTS: json.dumps(self._verdicts_now(evaluation))}
        return {VERDICTS: json.dumps(self.verdicts)}

    def _verdicts_now(self, evaluation: Evaluation) -> Verdicts | None:
        """What is known to hold; `None` with guards of other distributions, whose source nobody compares."""
        guards: dict[str, Sequence[HeldCase] | None] = {}
        for name, guard in evaluation.guards.items():
            if not guard.check.__module__.startswith(f"{__package__}."):
                return None
            guards[name] = None if self.verdicts is None else self.verdicts.guards[name]
            held = evaluation.held(guard) if guard.family in KEPT_FAMILIES else None
            if held is not None:
                places = [(case.name, case.subject.location) for case in held]
                guards[name] = [(name, place.path, place.line) for name, place in places]
        return Verdicts(_header(evaluation), guards)

    def save(self) -> None:
        """Leaves what was read and what held in pytest's cache. Workers leave that to the controller."""
        evaluation = self.__dict__.get("evaluation")
        if evaluation is None or self._folder is None:
            return
        with contextlib.suppress(OSError):  # a cache that cannot be written makes the next run slower, and nothing else
            evaluation.project.facts.save(self._folder)
            verdicts = self._verdicts_now(evaluation)
            if self._store is not None and verdicts is not None and any(verdicts.guards.values()):
                self._store.save(self._tree, verdicts)
        # Whatever pytest does from here on, it collects garbage several times: nothing of this has to be visited.
        del self.evaluation


def _get_ready(evaluation: Evaluation) -> None:
    """Starts what project code runs in, while this process reads; a worker may never be asked to judge such a guard."""
    from pytest_actor_envs.sources.runtime import ChildRunner

    runner = evaluation.project.runner
    if isinstance(runner, ChildRunner):
        runner.start()


def _header(evaluation: Evaluation) -> str:
    from pytest_actor_envs.guards import inactive_families, inactive_guards

    off = [*inactive_families(evaluation.project), *inactive_guards(evaluation.project)]
    listed = "; ".join(f"{family}: {reason}" for family, reason in off)
    return f"actor-envs: {evaluation.project.config.leaf}" + (f" (off: {listed})" if listed else "")


SESSION = pytest.StashKey[GuardedSession]()


def session_of(config: pytest.Config) -> GuardedSession:
    """What this run knows, made once."""
    if SESSION not in config.stash:
        config.stash[SESSION] = GuardedSession(config)
    return config.stash[SESSION]
