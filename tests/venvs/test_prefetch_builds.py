"""In which order, for whom and how many at once the prefetch builds; here nothing is built."""

import os
import pathlib
import signal
import threading
import time
from collections.abc import Callable, Sequence

import pytest

from nemo_rl.utils import prefetch_builds
from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.environment_lookup import Action, Outcome
from nemo_rl.utils.prefetch_progress import BuildsInterrupted, Result
from nemo_rl.utils.prefetch_venvs import ended_before, interruption_line, leave

PROJECT = ActorProject(
    pathlib.Path("/project"),
    {"a.One": ["x", "y"], "a.Other": ["z"], "a.Same": ["y", "x"], "a.Two": ["x"]},
    pathlib.Path("/venvs"),
)
SAME = Outcome("a.Same", pathlib.Path("/python"), Action.BUILT, 1.0)
OUTCOMES = {
    "a.One": Outcome("a.One", pathlib.Path("/python"), Action.BUILT, 1.0),
    "a.Other": EnvironmentBuildError("no z"),
    "a.Same": SAME,
    "a.Two": Outcome("a.Two", pathlib.Path("/python"), Action.REUSED, 1.0),
}


class Lines:
    """A progress that keeps what it is told."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.lines: list[str] = []

    def phase(self, line: str) -> None:
        self.phases.append(line)

    def finished(self, line: str) -> None:
        self.lines.append(line)

    def close(self) -> None:
        pytest.fail("whoever made it closes it")


class Builders:
    """What stands for the builder of one environment."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.at_once = self.most_at_once = 0

    def ensure_environment(
        self, project: ActorProject, actor: str, *, run: str, built: Sequence[str], report: Callable[[str], None]
    ) -> Outcome:
        assert (project, run) == (PROJECT, "this run")
        self.asked.append((actor, tuple(built)))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        time.sleep(0.01)
        self.at_once -= 1
        report(f"{actor}: built")
        outcome = OUTCOMES[actor]
        if isinstance(outcome, EnvironmentBuildError):
            raise outcome
        return outcome


@pytest.fixture
def builders(monkeypatch: pytest.MonkeyPatch) -> Builders:
    builders = Builders()
    monkeypatch.setattr(prefetch_builds, "ensure_environment", builders.ensure_environment)
    return builders


def result(actor: str) -> Result:
    outcome = OUTCOMES[actor]
    return Result(actor, error=str(outcome)) if isinstance(outcome, Exception) else Result(actor, outcome=outcome)


def test_of_equal_extras_the_first_goes_ahead_and_what_was_built_is_handed_on(builders: Builders) -> None:
    progress = Lines()
    actors = list(PROJECT.table)
    assert prefetch_builds.build_all(PROJECT, actors, "this run", 1, progress) == [result(actor) for actor in actors]
    assert builders.asked == [
        ("a.One", ()),
        ("a.Other", ("a.One",)),
        ("a.Two", ("a.One",)),
        ("a.Same", ("a.One",)),
    ]
    assert builders.most_at_once == 1
    assert progress.phases == ["a.One: built", "a.Other: built", "a.Two: built", "a.Same: built"]
    assert progress.lines == [
        "built a.One (1.0 s)",
        "FAILED a.Other",
        "reused a.Two (1.0 s)",
        "built a.Same (1.0 s)",
    ]


def test_as_many_as_were_asked_for_are_built_at_once(builders: Builders) -> None:
    actors = ["a.Two", "a.Same", "a.Other"]
    assert prefetch_builds.build_all(PROJECT, actors, "this run", 3, Lines()) == [result(actor) for actor in actors]
    assert builders.most_at_once == 3


def test_only_what_was_built_is_handed_on(builders: Builders) -> None:
    ended = prefetch_builds.Ended([], [])
    for actor in PROJECT.table:
        assert prefetch_builds.build_one(PROJECT, actor, "this run", ended, Lines()) == result(actor)
    assert ended.built == ["a.One", "a.Same"]


def test_a_ctrl_c_that_another_thread_is_handed_is_heard_while_builders_wait(
    monkeypatch: pytest.MonkeyPatch, builders: Builders
) -> None:
    released, gave_up = threading.Event(), threading.Event()

    def waiting(project: ActorProject, actor: str, *, run: str, built: Sequence[str], report: object) -> Outcome:
        time.sleep(0.1)  # by then the main thread waits as well, and nothing but the end of that wakes it
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        if not released.wait(10):
            gave_up.set()
        return SAME

    monkeypatch.setattr(prefetch_builds, "ensure_environment", waiting)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(BuildsInterrupted):
            prefetch_builds.build_all(PROJECT, ["a.Same"], "this run", 1, Lines())
        assert not gave_up.is_set(), "it was heard only when the builder had ended"
    finally:
        released.set()
        signal.signal(signal.SIGINT, before)


class Interrupted(Lines):
    """A progress whose reader interrupts when a line says that an environment is done."""

    def finished(self, line: str) -> None:
        raise KeyboardInterrupt


def test_what_was_said_to_be_done_counts_as_done_for_an_interruption_right_then(builders: Builders) -> None:
    with pytest.raises(BuildsInterrupted) as interruption:
        prefetch_builds.build_all(PROJECT, ["a.Two"], "this run", 1, Interrupted())
    assert interruption.value.results == [result("a.Two")]


def test_an_interruption_says_which_were_complete_and_which_are_not_yet() -> None:
    built, reused = (Result(actor, SAME) for actor in ("a.Two", "a.One"))
    failed = Result("a.Other", error="no z")
    actors = ["a.One", "a.Two", "a.Other", "a.Same"]
    line = "prefetch_venvs: interrupted; built or found complete: {}; not yet: {}; the same command goes on from here"
    assert interruption_line(actors, [built, failed, reused]) == line.format("a.One, a.Two", "a.Other, a.Same")
    assert interruption_line(actors[:1], []) == line.format("none", "a.One")
    assert interruption_line(actors[:1], [reused]) == line.format("a.One", "none")


def test_only_an_interruption_of_builds_knows_of_results() -> None:
    failed = Result("a.Other", error="no z")
    assert ended_before(BuildsInterrupted([failed])) == [failed]
    assert ended_before(KeyboardInterrupt()) == ()


def status_of(ending: Callable[[], object]) -> int:
    """The exit status of a process that this one forks, which does nothing else; 1 where it comes back."""
    child = os.fork()
    if child == 0:
        try:
            ending()
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_after_an_interruption_the_process_ends_without_waiting_for_its_builders() -> None:
    assert status_of(lambda: leave(130)) == 130


@pytest.mark.parametrize("code", [0, 1, 2])
def test_after_any_other_end_the_process_ends_as_python_does(code: int) -> None:
    with pytest.raises(SystemExit) as ended:
        leave(code)
    assert ended.value.code == code
