"""Which stamps are wanted, and which of those that are found fit, without building anything."""

import os
import pathlib
import sys

import pytest
from hand_made_environments import make_environment, project_in

from nemo_rl.utils import environment_lookup
from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.environment_lookup import (
    Action,
    Outcome,
    complete_environments,
    fitting_stamp,
    is_complete,
    rebuild_is_forced,
    this_run,
    wanted_stamps,
)
from nemo_rl.utils.environment_stamp import COMPLETE, DEPENDENCIES, hash_of, stamp_for, write_stamp

ONE, TWO, THREE, DRIVER = "a.One", "a.Two", "a.Three", "a.Driver"


@pytest.fixture
def project(tmp_path: pathlib.Path) -> ActorProject:
    return project_in(tmp_path, One=["y", "x", "y"], Two=["x"], Three=["x"], Driver=None)


def test_a_wanted_stamp_has_all_that_the_environment_would_be_built_for(
    project: ActorProject, tmp_path: pathlib.Path
) -> None:
    common = stamp_for("", (), project.root / "uv.lock", sys.executable)
    expected = common._replace(state=COMPLETE, project=str(tmp_path / "root"), run="run")
    assert wanted_stamps(project, [ONE, TWO], "run") == {
        ONE: expected._replace(extras=("x", "y"), folder=str(tmp_path / "real" / ONE)),
        TWO: expected._replace(extras=("x",), folder=str(tmp_path / "real" / TWO)),
    }
    assert wanted_stamps(project._replace(python=None), [], "run") == {}
    assert expected.lock == hash_of(project.root / "uv.lock")


def test_without_an_interpreter_of_its_own_it_is_this_one(project: ActorProject) -> None:
    assert wanted_stamps(project._replace(python=None), [ONE], "run") == wanted_stamps(project, [ONE], "run")


def test_an_actor_of_the_driver_wants_none(project: ActorProject) -> None:
    with pytest.raises(ValueError) as error:
        wanted_stamps(project, [ONE, DRIVER], "run")
    assert str(error.value) == f"{DRIVER} runs on the driver's interpreter and has no environment of its own"


def test_a_missing_lock_and_what_is_no_interpreter_are_errors_of_the_build(project: ActorProject) -> None:
    with pytest.raises(EnvironmentBuildError) as error:
        wanted_stamps(project._replace(python="/none/python"), [ONE], "run")
    assert str(error.value) == "/none/python cannot be started: No such file or directory"
    lock = project.root / "uv.lock"
    lock.unlink()
    with pytest.raises(EnvironmentBuildError) as error:
        wanted_stamps(project, [ONE], "run")
    assert str(error.value) == (
        f"there is no {lock}, which says what environments consist of\n"
        f"    write it: uv lock --directory {project.root} (here: make lock)"
    )
    lock.mkdir()
    with pytest.raises(EnvironmentBuildError) as error:
        wanted_stamps(project, [ONE], "run")
    assert str(error.value) == f"[Errno 21] Is a directory: '{lock}'"


def test_an_environment_serves_with_a_stamp_that_fits_and_an_interpreter(project: ActorProject) -> None:
    wanted = wanted_stamps(project, [ONE], "run")[ONE]
    folder = project.folder_of(ONE)
    assert fitting_stamp(folder, wanted) is None
    make_environment(project, ONE)
    assert fitting_stamp(folder, wanted) == wanted._replace(run="earlier")
    unfinished = wanted._replace(state=DEPENDENCIES, project="")
    write_stamp(folder, unfinished)
    assert fitting_stamp(folder, wanted) == unfinished
    write_stamp(folder, wanted._replace(lock="another"))
    assert fitting_stamp(folder, wanted) is None
    write_stamp(folder, wanted)
    project.interpreter_of(ONE).chmod(0o644)
    assert fitting_stamp(folder, wanted) is None
    project.interpreter_of(ONE).unlink()
    assert fitting_stamp(folder, wanted) is None


def test_what_is_complete(project: ActorProject) -> None:
    wanted = wanted_stamps(project, [ONE], "run")[ONE]
    assert [is_complete(None), is_complete(wanted), is_complete(wanted._replace(state=DEPENDENCIES))] == [
        False,
        True,
        False,
    ]


def test_environments_that_are_complete_are_found_with_what_it_took(
    project: ActorProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_environment(project, ONE)
    make_environment(project, TWO, wanted_stamps(project, [TWO], "run")[TWO]._replace(state=DEPENDENCIES))
    times = iter([5.0, 5.25, 6.0, 7.0, 7.5])
    monkeypatch.setattr(environment_lookup.time, "monotonic", lambda: next(times))
    assert complete_environments(project, [ONE, TWO, THREE], "run") == {
        ONE: Outcome(ONE, project.environments / ONE / "bin" / "python", Action.REUSED, 0.25)
    }


@pytest.mark.parametrize(
    ("value", "forced"),
    [(None, False), ("", False), ("0", False), ("False", False), ("1", True), ("true", True), ("TRUE", True)],
)
def test_when_a_rebuild_is_forced(value: str | None, forced: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NRL_FORCE_REBUILD_VENVS", raising=False)
    if value is not None:
        monkeypatch.setenv("NRL_FORCE_REBUILD_VENVS", value)
    assert rebuild_is_forced() is forced


def test_another_value_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NRL_FORCE_REBUILD_VENVS", "Yes")
    with pytest.raises(ValueError) as error:
        rebuild_is_forced()
    assert str(error.value) == "NRL_FORCE_REBUILD_VENVS is 'Yes'; set it to true or false, or unset it"


def test_a_run_is_named_by_machine_process_and_start(monkeypatch: pytest.MonkeyPatch) -> None:
    name = this_run()
    assert this_run() == name
    asked: list[str] = []

    def read(path: pathlib.Path) -> bytes:
        asked.append(str(path))
        return f"17 (a) b) c) {' '.join(map(str, range(3, 53)))}".encode()

    monkeypatch.setattr(pathlib.Path, "read_bytes", read)
    assert this_run() == f"{os.uname().nodename}:{os.getpid()}:22"
    assert asked == ["/proc/self/stat"]
