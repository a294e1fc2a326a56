"""A build that is killed leaves nothing that is taken for finished, and keeps nobody waiting.

Builders are real processes, killed by SIGKILL in the middle of what uv really does.
"""

import fcntl
import json
import pathlib
import random
import signal
import subprocess
import time
from collections.abc import Callable, Sequence

import builder_process
import pytest
from bulky_project import ACTOR, FILES, TWIN
from environment_checks import distributions_of, programs_of

from nemo_rl.utils import environment_stamp
from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_lock import holder_of, lock_file_of
from nemo_rl.utils.environment_lookup import Action
from nemo_rl.utils.environment_stamp import DEPENDENCIES
from nemo_rl.utils.venvs import ensure_environment

ATTEMPTS = 10
POLL_SECONDS = 0.0005
LIMIT_SECONDS = 30.0


def packages(project: ActorProject) -> pathlib.Path:
    return next(project.folder_of(ACTOR).glob("lib/python3*/site-packages"), pathlib.Path("/nonexistent"))


def count(folder: pathlib.Path) -> int:
    return sum(1 for _ in folder.glob("m*.py"))


def lock_is_taken(project: ActorProject) -> bool:
    return "process" in holder_of(lock_file_of(project.folder_of(ACTOR))).split()[0]


def environment_is_created(project: ActorProject) -> bool:
    return (project.folder_of(ACTOR) / "pyvenv.cfg").exists()


def dependencies_are_half_installed(project: ActorProject) -> bool:
    return (packages(project) / "bulky").exists()


def dependencies_are_stamped(project: ActorProject) -> bool:
    stamp = environment_stamp.read_stamp(project.folder_of(ACTOR))
    return stamp is not None and stamp.state == DEPENDENCIES


def project_is_half_installed(project: ActorProject) -> bool:
    return (packages(project) / "bulky_project").exists()


def was_half_way(phase: Callable[[ActorProject], bool], project: ActorProject) -> bool:
    """Whether what a killed builder left shows that the kill struck in the phase, and not after it."""
    stamp = environment_stamp.read_stamp(project.folder_of(ACTOR))
    dependencies, own = count(packages(project) / "bulky"), count(packages(project) / "bulky_project")
    half_way: dict[Callable[[ActorProject], bool], bool] = {
        lock_is_taken: stamp is None and dependencies == 0,
        environment_is_created: stamp is None and dependencies < FILES,
        dependencies_are_half_installed: stamp is None and 0 < dependencies < FILES,
        dependencies_are_stamped: stamp is not None and stamp.state == DEPENDENCIES and own == 0,
        project_is_half_installed: stamp is not None and stamp.state == DEPENDENCIES and 0 < own < FILES,
    }
    return half_way[phase]


def kill_in(phase: Callable[[ActorProject], bool], project: ActorProject, built: Sequence[str]) -> bool:
    """Start a builder and kill it as soon as it is in a phase; tells whether it was caught there."""
    builder = builder_process.start(project, ACTOR, built=built)
    deadline = time.monotonic() + LIMIT_SECONDS
    while not phase(project) and builder.poll() is None:
        assert time.monotonic() < deadline, "the builder hangs"
        time.sleep(POLL_SECONDS)
    builder.kill()
    builder.communicate()
    return builder.returncode == -signal.SIGKILL


def wait_for_uv_to_end(project: ActorProject) -> None:
    """Return when nobody, the uv of a killed builder included, holds the lock."""
    with lock_file_of(project.folder_of(ACTOR)).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def assert_recovered(project: ActorProject) -> Action:
    """Build what a kill left; the environment has to be whole, to the last byte."""
    outcome = ensure_environment(project, ACTOR, report=lambda line: None)
    assert distributions_of(outcome.python) == {"bulky": "1.0", "bulky-project": "0.1.0"}
    assert count(packages(project) / "bulky") == count(packages(project) / "bulky_project") == FILES
    for program in programs_of(project.folder_of(ACTOR)):
        assert subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    assert ensure_environment(project, ACTOR).action is Action.REUSED
    return outcome.action


@pytest.fixture(scope="module")
def seconds_of_a_build(bulky_project_root: ActorProject, tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long a build takes from a warm cache, so that kills strike within it."""
    folder = tmp_path_factory.mktemp("measured")
    for name in ("cold", "warm"):
        began = time.monotonic()
        builder = builder_process.start(bulky_project_root._replace(environments=folder / name), ACTOR)
        assert builder.communicate()[0] == "built\n"
    return time.monotonic() - began


@pytest.mark.parametrize("built", [(), (TWIN,)], ids=["by uv", "by links"])
@pytest.mark.parametrize(
    ("phase", "expected"),
    [
        (lock_is_taken, [Action.BUILT]),
        (environment_is_created, [Action.BUILT]),
        (dependencies_are_half_installed, [Action.BUILT]),
        (dependencies_are_stamped, [Action.COMPLETED]),
        # Completed if the project's .dist-info was not begun, since uv then installs all of it.
        (project_is_half_installed, [Action.BUILT, Action.COMPLETED]),
    ],
)
def test_a_build_that_was_killed_in_a_phase_is_recovered(
    phase: Callable[[ActorProject], bool],
    expected: list[Action],
    built: Sequence[str],
    bulky: ActorProject,
    seconds_of_a_build: float,
) -> None:
    for attempt in range(ATTEMPTS):
        project = bulky._replace(environments=bulky.environments / str(attempt))
        killed = kill_in(phase, project, built)
        wait_for_uv_to_end(project)
        if killed and was_half_way(phase, project):
            assert assert_recovered(project) in expected
            return
    pytest.fail(f"none of {ATTEMPTS} kills struck where {phase.__name__}")


@pytest.mark.parametrize("seed", range(10))
def test_a_build_that_was_killed_at_a_random_point_is_recovered(
    seed: int, bulky: ActorProject, seconds_of_a_build: float
) -> None:
    builder = builder_process.start(bulky, ACTOR)
    time.sleep(random.Random(seed).uniform(0.02, 1) * seconds_of_a_build)
    builder.kill()
    builder.communicate()
    # A builder that was faster than measured has finished; its environment has to be whole as well.
    assert builder.returncode in (-signal.SIGKILL, 0)
    assert_recovered(bulky)


@pytest.mark.parametrize("seed", range(5))
def test_a_clone_that_was_killed_at_a_random_point_is_recovered(
    seed: int, bulky: ActorProject, seconds_of_a_build: float
) -> None:
    builder = builder_process.start(bulky, ACTOR, built=[TWIN])
    deadline = time.monotonic() + LIMIT_SECONDS
    while not lock_file_of(bulky.folder_of(ACTOR)).exists():
        assert builder.poll() is None and time.monotonic() < deadline
        time.sleep(POLL_SECONDS)
    # Two sets of links take about a third of what uv needs to start, build the project and link as much.
    time.sleep(random.Random(seed).uniform(0, 0.4) * seconds_of_a_build)
    builder.kill()
    builder.communicate()
    assert builder.returncode in (-signal.SIGKILL, 0)
    assert_recovered(bulky)
    assert distributions_of(bulky.interpreter_of(TWIN)) == {"bulky": "1.0", "bulky-project": "0.1.0"}


def test_a_kill_while_the_old_environment_is_removed_is_recovered(
    bulky: ActorProject, seconds_of_a_build: float
) -> None:
    other = bulky._replace(table={ACTOR: ["none"]})
    for _ in range(ATTEMPTS):
        ensure_environment(bulky, ACTOR, report=lambda line: None)
        installed = packages(bulky)
        builder = builder_process.start(other, ACTOR)
        while count(installed / "bulky") == FILES and (installed / "bulky_project").exists() and builder.poll() is None:
            time.sleep(POLL_SECONDS)
        builder.kill()
        builder.communicate()
        if installed.exists() and count(installed / "bulky") + count(installed / "bulky_project") > 0:
            assert assert_recovered(bulky) is Action.BUILT
            return
    pytest.fail("no kill struck while the environment was removed")


def test_the_old_environment_has_lost_its_stamp_before_anything_else_of_it_is_removed(
    bulky: ActorProject, seconds_of_a_build: float
) -> None:
    ensure_environment(bulky, ACTOR, report=lambda line: None)
    other = bulky._replace(table={ACTOR: ["none"]})
    builder = builder_process.start(other, ACTOR, killed_before="shutil.rmtree")
    builder.communicate()
    assert builder.returncode == -signal.SIGKILL
    assert environment_stamp.read_stamp(bulky.folder_of(ACTOR)) is None
    assert assert_recovered(bulky) is Action.BUILT


def test_those_who_wait_go_on_when_the_builder_dies_and_see_what_they_wait_for(
    bulky: ActorProject, seconds_of_a_build: float
) -> None:
    builder = builder_process.start(bulky, ACTOR)
    while not environment_is_created(bulky):
        assert builder.poll() is None
        time.sleep(POLL_SECONDS)
    builder.send_signal(signal.SIGSTOP)
    waiting = builder_process.start(bulky, ACTOR)
    assert waiting.stderr is not None
    line = waiting.stderr.readline()
    assert f"waiting for process {builder.pid} on " in line
    assert "installing third-party packages" in line
    builder.kill()
    assert waiting.communicate(timeout=LIMIT_SECONDS)[0] == "built\n"
    assert_recovered(bulky)
    builder.communicate()


def test_eight_builders_of_one_environment_build_it_once(bulky: ActorProject, seconds_of_a_build: float) -> None:
    builders = [builder_process.start(bulky, ACTOR) for _ in range(8)]
    actions = sorted(builder.communicate(timeout=4 * LIMIT_SECONDS)[0].strip() for builder in builders)
    assert actions == ["built"] + 7 * ["reused"]
    assert_recovered(bulky)


def test_a_lock_file_with_rubbish_in_it_is_no_obstacle(bulky: ActorProject, seconds_of_a_build: float) -> None:
    lock = lock_file_of(bulky.folder_of(ACTOR))
    lock.parent.mkdir(parents=True)
    lock.write_text(json.dumps(["rubbish"]))
    assert_recovered(bulky)
