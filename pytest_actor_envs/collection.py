"""The pytest nodes: pyproject.toml holds guards, a guard holds one item for each subject."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_actor_envs.session import session_of

if TYPE_CHECKING:
    from pytest_actor_envs.model import Outcome


class BrokenGuard(Exception):
    """A guard is broken; the argument is the text of all its findings."""


class CrashedGuard(Exception):
    """A guard raised something of its own; the argument says what."""


def guarded_file(path: Path, parent: pytest.Collector) -> GuardedFile | None:
    """The node of pyproject.toml, `None` where it configures no guards."""
    if session_of(parent.config).guard_names is None:
        return None
    node: GuardedFile = GuardedFile.from_parent(parent, path=path)
    return node


class GuardedFile(pytest.File):
    """pyproject.toml, where the configuration is; never the leaf, which pytest's own collector would import."""

    def collect(self) -> Iterator[pytest.Collector]:
        for name in session_of(self.config).guard_names or ():
            yield GuardNode.from_parent(self, name=name)


class GuardNode(pytest.Collector):
    """One guard. Its items judge, unless it is known that they hold."""

    def collect(self) -> Iterator[pytest.Item]:
        session = session_of(self.config)
        held = session.held(self.name)
        if held is not None:
            for name, path, line in held:
                yield GuardItem.from_parent(self, name=name, place=(path, line))
            return
        for case in session.cases(self.name):
            place, judge = case.subject.location, partial(session.outcome, case)
            yield GuardItem.from_parent(self, name=case.name, place=(place.path, place.line), judge=judge)


class GuardItem(pytest.Item):
    """One guard and one subject. It looks in the set-up phase, so that a crash is an error and never a failure.

    `place` are the path and the line of the subject. `judge` gives the outcome; without it the guard is known to hold.
    """

    def __init__(self, *, place: tuple[str, int], judge: Callable[[], Outcome] | None = None, **node: Any) -> None:
        super().__init__(**node)
        self.place = place
        self.judge = judge
        self.outcome: Outcome | None = None

    @property
    def guard(self) -> str:
        assert isinstance(self.parent, GuardNode)
        return self.parent.name

    def setup(self) -> None:
        if self.judge is None:
            return
        from pytest_actor_envs.model import Verdict

        self.outcome = self.judge()
        if self.outcome.verdict is Verdict.CRASHED:
            raise CrashedGuard(self._text(self.outcome))

    def runtest(self) -> None:
        if self.outcome is None:
            return
        from pytest_actor_envs.model import Verdict

        if self.outcome.verdict is Verdict.HOLDS:
            return
        is_strict = self.outcome.verdict is Verdict.UNDECIDED and self.config.option.actor_envs_strict
        if self.outcome.verdict is Verdict.BROKEN or is_strict:
            raise BrokenGuard(self._text(self.outcome))
        pytest.skip(self._text(self.outcome))

    def _text(self, outcome: Outcome) -> str:
        from pytest_actor_envs.report.terminal import outcome_text

        return outcome_text(self.guard, outcome)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, BrokenGuard | CrashedGuard):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        path, line = self.place
        return self.config.rootpath / path, line - 1, f"{self.guard} of {self.name}"
