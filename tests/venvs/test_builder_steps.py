"""Each step of a build, in order, with something quick in place of uv; test_build.py builds with the real one."""

import contextlib
import os
import pathlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hand_made_environments import make_environment, project_in

from nemo_rl.utils import environment_builder, uv_command, venvs
from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_builder import DOWNLOADS_LOCK, metadata_in, untouched_since_stamped
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.environment_lock import HeldLock, holder_of, lock_file_of, locked, locked_if_free
from nemo_rl.utils.environment_lookup import Action, Outcome, wanted_stamps
from nemo_rl.utils.environment_stamp import DEPENDENCIES, read_stamp, write_stamp
from nemo_rl.utils.uv_command import UvError, sync_arguments
from nemo_rl.utils.venvs import ensure_environment, explained

ONE, TWIN, OTHER = "a.One", "a.Twin", "a.Other"
PACKAGES = "lib/python3.12/site-packages"
INSTALL, ADD, REMOVE = "installing third-party packages", "adding the project", "removing what was there"
DOWNLOAD = "downloading and installing third-party packages"


@pytest.fixture
def project(tmp_path: pathlib.Path) -> ActorProject:
    return project_in(tmp_path, One=["y", "x"], Twin=["x", "y"], Other=["z"], Driver=None)


class Uv:
    """Makes what uv would, as far as the builder looks; `during(arguments)` may do more, or raise."""

    def __init__(self, project: ActorProject) -> None:
        self.project = project
        self.calls: list[tuple[str, str]] = []
        self.before: Callable[[Sequence[str]], object] = lambda arguments: None
        self.during: Callable[[Sequence[str]], object] = lambda arguments: None

    def run(
        self, uv: str, arguments: Sequence[str], folder: pathlib.Path, descriptor: int, note: Callable[[str], None]
    ) -> None:
        assert uv == "/the/uv" and folder.parent.name == "real"
        assert lock_file_of(folder).samefile(f"/proc/self/fd/{descriptor}")
        self.calls.append((folder.name, self.kind_of(folder.name, arguments)))
        self.before(arguments)
        (folder / "bin").mkdir(parents=True, exist_ok=True)
        (folder / "bin/python").touch(mode=0o755)
        (folder / "pyvenv.cfg").write_text("uv = 1.2\n")
        packages = folder / PACKAGES
        packages.mkdir(parents=True, exist_ok=True)
        (packages / "third_party.py").touch()
        if "--no-install-project" not in arguments:
            assert metadata_in(folder, "by-hand") == []
            (packages / "By_Hand-1.dist-info").mkdir()
            (packages / "By_Hand-1.dist-info/RECORD").write_text("By_Hand-1.dist-info/RECORD,,\n")
        note(f"note of {folder.name}")
        self.during(arguments)

    def kind_of(self, actor: str, arguments: Sequence[str]) -> str:
        extras = self.project.extras_of(actor) or ()
        for kind, with_project, offline in [
            ("packages", False, False),
            ("cached", False, True),
            ("project", True, False),
        ]:
            if arguments == sync_arguments(self.project.root, sys.executable, extras, with_project, offline):
                return kind
        pytest.fail(f"unknown arguments: {arguments}")

    def fail_on(self, *flags: str) -> None:
        def fail(arguments: Sequence[str]) -> None:
            if all(flag in arguments for flag in flags):
                raise UvError("uv ended")

        self.during = fail


@pytest.fixture
def uv(project: ActorProject, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Uv:
    uv = Uv(project)

    def cache_of(program: str) -> pathlib.Path:
        assert program == "/the/uv"
        return tmp_path / "cache"

    monkeypatch.setattr(uv_command, "run_uv", uv.run)
    monkeypatch.setattr(uv_command, "find_uv", lambda: "/the/uv")
    monkeypatch.setattr(uv_command, "cache_of", cache_of)
    return uv


class Build:
    """Builds, and what was reported of the last one."""

    def __init__(self, project: ActorProject) -> None:
        self.project = project
        self.lines: list[str] = []

    def __call__(self, actor: str = ONE, **settings: Any) -> Outcome:
        self.lines = []
        settings = {"rebuild": False, "run": "this run", **settings}
        return ensure_environment(self.project, actor, report=self.lines.append, **settings)

    def error(self, actor: str = ONE, **settings: Any) -> str:
        with pytest.raises(EnvironmentBuildError) as error:
            self(actor, **settings)
        extras = ", ".join(self.project.extras_of(actor) or ())
        first = f"the environment of {actor} (extras: {extras}) was not built\n    "
        assert str(error.value).startswith(first)
        return str(error.value).removeprefix(first)

    def phases(self, actor: str = ONE) -> list[str]:
        assert all(line.startswith(f"{actor}: ") for line in self.lines)
        return [line.removeprefix(f"{actor}: ") for line in self.lines]


@pytest.fixture
def build(project: ActorProject, uv: Uv) -> Build:
    return Build(project)


def test_an_environment_is_built_in_two_steps_with_a_stamp_after_each(
    build: Build, uv: Uv, project: ActorProject, tmp_path: pathlib.Path
) -> None:
    seen: list[object] = []
    uv.during = lambda _: seen.append(
        (read_stamp(project.folder_of(ONE)), holder_of(lock_file_of(project.folder_of(ONE))).partition(": ")[2])
    )
    outcome = build()
    assert outcome == Outcome(
        ONE, project.interpreter_of(ONE), Action.BUILT, outcome.seconds, ("note of a.One", "note of a.One")
    )
    assert 0 <= outcome.seconds < 60
    assert build.phases() == [INSTALL, ADD]
    assert uv.calls == [(ONE, "packages"), (ONE, "project")]
    complete = wanted_stamps(project, [ONE], "this run")[ONE]._replace(uv="1.2")
    assert seen == [(None, INSTALL), (complete._replace(state=DEPENDENCIES, project=""), ADD)]
    assert read_stamp(project.folder_of(ONE)) == complete
    assert holder_of(tmp_path / "cache" / DOWNLOADS_LOCK).endswith(": downloading packages")
    assert build().action is Action.REUSED
    assert build.lines == [] and len(uv.calls) == 2


def test_while_another_one_downloads_the_cache_may_do(build: Build, uv: Uv, tmp_path: pathlib.Path) -> None:
    with locked(tmp_path / "cache" / DOWNLOADS_LOCK, lambda line: None):
        assert build().action is Action.BUILT
    assert uv.calls == [(ONE, "cached"), (ONE, "project")]
    assert build.phases() == [INSTALL, ADD]


def test_where_it_does_not_the_download_is_waited_for(
    build: Build, uv: Uv, project: ActorProject, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    downloads = tmp_path / "cache" / DOWNLOADS_LOCK
    waits: list[str] = []

    @contextlib.contextmanager
    def taken(path: pathlib.Path, shared: bool = False) -> Iterator[None]:
        yield None

    @contextlib.contextmanager
    def waited_for(path: pathlib.Path, report: Callable[[str], None]) -> Iterator[HeldLock]:
        assert path == downloads
        waits.append("left nothing" if not project.folder_of(ONE).exists() else "left something")
        report("waiting")
        with locked(path, report) as lock:
            yield lock

    monkeypatch.setattr(environment_builder, "locked_if_free", taken)
    monkeypatch.setattr(environment_builder, "locked", waited_for)
    uv.fail_on("--offline")
    assert build().action is Action.BUILT
    assert uv.calls == [(ONE, "cached"), (ONE, "packages"), (ONE, "project")]
    assert waits == ["left nothing"]
    assert build.phases() == [INSTALL, "waiting", DOWNLOAD, ADD]
    assert holder_of(downloads).endswith(": downloading packages")


def test_an_environment_of_dependencies_is_completed(build: Build, uv: Uv, project: ActorProject) -> None:
    wanted = wanted_stamps(project, [ONE], "earlier")[ONE]
    make_environment(project, ONE, wanted._replace(state=DEPENDENCIES, project=""))
    (project.folder_of(ONE) / "kept").touch()
    assert build().action is Action.COMPLETED
    assert uv.calls == [(ONE, "project")] and build.phases() == [ADD]
    assert (project.folder_of(ONE) / "kept").exists()


def test_one_with_traces_of_the_project_is_built_anew(build: Build, uv: Uv, project: ActorProject) -> None:
    wanted = wanted_stamps(project, [ONE], "earlier")[ONE]
    make_environment(project, ONE, wanted._replace(state=DEPENDENCIES, project=""))
    (project.folder_of(ONE) / PACKAGES / "by_hand-1.dist-info").mkdir(parents=True)
    assert build().action is Action.BUILT
    assert build.phases() == [REMOVE, INSTALL, ADD]
    assert uv.calls == [(ONE, "packages"), (ONE, "project")]


def test_a_forced_rebuild_takes_the_old_one_away_stamp_first(
    build: Build, uv: Uv, project: ActorProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_environment(project, ONE)
    removed: list[bool] = []
    rmtree = environment_builder.shutil.rmtree

    def noted(folder: pathlib.Path, **options: bool) -> None:
        removed.append(read_stamp(folder) is None)
        rmtree(folder, **options)

    monkeypatch.setattr(environment_builder.shutil, "rmtree", noted)
    assert build(rebuild=True).action is Action.BUILT
    assert build.phases() == [REMOVE, INSTALL, ADD]
    assert removed[0]
    assert build(rebuild=True).action is Action.REUSED
    assert build(rebuild=True, run="the next").action is Action.BUILT
    monkeypatch.setenv("NRL_FORCE_REBUILD_VENVS", "1")
    assert build(rebuild=None, run="another").action is Action.BUILT
    monkeypatch.setenv("NRL_FORCE_REBUILD_VENVS", "0")
    assert build(rebuild=None, run="one more").action is Action.REUSED


def test_without_a_name_the_run_is_this_process(
    build: Build, project: ActorProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(venvs, "this_run", lambda: "this process")
    build(run=None)
    stamp = read_stamp(project.folder_of(ONE))
    assert stamp is not None and stamp.run == "this process"


@pytest.mark.parametrize(("complete", "action"), [(True, Action.REUSED), (False, Action.COMPLETED)])
def test_what_somebody_built_meanwhile_is_taken_even_by_a_forced_rebuild(
    complete: bool, action: Action, build: Build, project: ActorProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = wanted_stamps(project, [ONE], "another run")[ONE]
    make_environment(project, ONE, wanted._replace(run="long ago"))
    meanwhile = wanted if complete else wanted._replace(state=DEPENDENCIES, project="")

    def look_again_at(folder: pathlib.Path) -> None:
        assert folder == project.folder_of(ONE)
        write_stamp(folder, meanwhile)

    monkeypatch.setattr(venvs, "look_again_at", look_again_at)
    assert build(rebuild=True).action is action


def test_dependencies_of_an_earlier_run_do_not_do_for_a_forced_rebuild(build: Build, project: ActorProject) -> None:
    wanted = wanted_stamps(project, [ONE], "earlier")[ONE]
    make_environment(project, ONE, wanted._replace(state=DEPENDENCIES, project=""))
    assert build(rebuild=True).action is Action.BUILT


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_no_folder_is_in_the_way_and_kept(kind: str, build: Build, project: ActorProject, uv: Uv) -> None:
    place = project.folder_of(ONE)
    place.touch() if kind == "file" else place.symlink_to("nowhere")
    real = pathlib.Path(os.path.realpath(project.environments)) / ONE
    assert build.error() == f"{real} is in the way: it is no folder; remove it"
    assert os.path.lexists(place) and uv.calls == []
    assert build.phases() == [REMOVE]


def test_a_failure_leaves_nothing_or_what_its_stamp_describes(build: Build, uv: Uv, project: ActorProject) -> None:
    uv.fail_on("--no-install-project")
    assert build.error() == "uv ended"
    assert not project.folder_of(ONE).exists()
    uv.during = lambda arguments: arguments[arguments.index("--no-install-project")]
    with pytest.raises(ValueError):
        build()
    stamp = read_stamp(project.folder_of(ONE))
    assert stamp is not None and stamp.state == DEPENDENCIES
    uv.during = lambda arguments: None
    (project.folder_of(ONE) / PACKAGES / "By_Hand-1.dist-info").rename(project.folder_of(ONE) / "gone")
    assert build().action is Action.COMPLETED


def test_a_lock_that_changes_while_it_is_installed_fails_the_build(build: Build, uv: Uv, project: ActorProject) -> None:
    uv.during = lambda arguments: (project.root / "uv.lock").write_text("another")
    assert build.error() == "uv.lock was changed while the environment was built; build it again"


def test_an_extra_that_installs_nothing_fails_before_anything_is_done(
    build: Build, uv: Uv, project: ActorProject
) -> None:
    with (project.root / "pyproject.toml").open("a") as file:
        file.write("[project.optional-dependencies]\nx = [\"a; python_version >= '3.99'\"]\n")
    assert build.error().startswith(f"the extra 'x' installs nothing on CPython {sys.version.split()[0]} ")
    assert uv.calls == [] and build.lines == []


def test_equal_extras_are_linked_and_the_project_from_any(build: Build, uv: Uv, project: ActorProject) -> None:
    build()
    uv.calls.clear()
    assert build(TWIN, built=[OTHER, ONE]).action is Action.BUILT
    assert build.phases(TWIN) == [INSTALL, ADD]
    assert uv.calls == [(TWIN, "project")]  # the first of those that were built is not there
    assert build(OTHER, built=[ONE, TWIN]).action is Action.BUILT
    assert uv.calls[1:] == [(OTHER, "packages")]
    third_party = f"{PACKAGES}/third_party.py"
    assert (project.folder_of(TWIN) / third_party).samefile(project.folder_of(ONE) / third_party)
    record = f"{PACKAGES}/By_Hand-1.dist-info/RECORD"
    assert (project.folder_of(OTHER) / record).samefile(project.folder_of(ONE) / record)
    stamps = wanted_stamps(project, [TWIN, OTHER], "this run")
    # A clone has no programs of uv's own here, so it is the file of the environment that says which uv it was.
    assert [read_stamp(project.folder_of(actor)) for actor in (TWIN, OTHER)] == [
        stamp._replace(uv="1.2") for stamp in stamps.values()
    ]


@pytest.mark.parametrize("spoilt", ["run", "lock", "state", "stamp", "packages", "programs", "held"])
def test_what_is_not_as_this_run_built_it_is_not_linked(
    spoilt: str, build: Build, uv: Uv, project: ActorProject
) -> None:
    build()
    uv.calls.clear()
    folder = project.folder_of(ONE)
    stamp = read_stamp(folder)
    assert stamp is not None and untouched_since_stamped(folder)
    changed = {"run": {"run": "x"}, "lock": {"lock": "x"}, "state": {"state": DEPENDENCIES}}.get(spoilt)
    if changed is not None:
        write_stamp(folder, stamp._replace(**changed))
    elif spoilt == "stamp":
        (folder / "actor-environment.json").unlink()
    elif spoilt in ("packages", "programs"):
        place = folder / (PACKAGES if spoilt == "packages" else "bin")
        later = (folder / "actor-environment.json").stat().st_mtime_ns + 1000
        os.utime(place, ns=(later, later))
        assert not untouched_since_stamped(folder)
    with (
        locked(lock_file_of(pathlib.Path(os.path.realpath(folder))), lambda line: None)
        if spoilt == "held"
        else (contextlib.nullcontext())
    ):
        assert build(TWIN, built=[ONE]).action is Action.BUILT
    assert uv.calls == [(TWIN, "packages"), (TWIN, "project")]


def test_a_clone_that_fails_half_way_leaves_nothing_for_uv(build: Build, uv: Uv, project: ActorProject) -> None:
    build()
    uv.calls.clear()
    record = project.folder_of(ONE) / PACKAGES / "By_Hand-1.dist-info/RECORD"
    record.write_text("By_Hand-1.dist-info/RECORD,,\nnone.py,,\n")
    assert build(TWIN, built=[ONE]).action is Action.BUILT
    # Packages could be linked; of the project one file was, its metadata not, and uv starts without either.
    assert uv.calls == [(TWIN, "project")]
    record.write_text("../../../../../outside,,\n")
    uv.calls.clear()
    assert build(TWIN, built=[ONE], rebuild=True, run="this run too").action is Action.BUILT
    assert uv.calls == [(TWIN, "packages"), (TWIN, "project")]


def test_what_a_failed_clone_left_is_gone_before_uv_begins(
    build: Build, uv: Uv, project: ActorProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    build()

    def half_done(clone: environment_builder.Clone) -> None:
        (pathlib.Path(clone.target) / "left").mkdir(parents=True)
        raise OSError("no more links")

    monkeypatch.setattr(environment_builder.Clone, "packages_cloned", half_done)
    assert build(TWIN, built=[ONE]).action is Action.BUILT
    assert not (project.folder_of(TWIN) / "left").exists()


def test_what_a_failed_clone_of_the_project_left_is_gone_before_uv_begins(
    build: Build, uv: Uv, monkeypatch: pytest.MonkeyPatch
) -> None:
    build()

    def half_done(clone: environment_builder.Clone) -> None:
        (pathlib.Path(clone.target) / PACKAGES / "By_Hand-1.dist-info").mkdir()
        raise OSError("no more links")

    monkeypatch.setattr(environment_builder.Clone, "project_cloned", half_done)
    assert build(TWIN, built=[ONE]).action is Action.BUILT
    assert uv.calls[-1] == (TWIN, "project")


def test_several_may_be_linked_from_one_at_once(build: Build, uv: Uv, project: ActorProject) -> None:
    build()
    uv.calls.clear()
    with locked_if_free(lock_file_of(pathlib.Path(os.path.realpath(project.folder_of(ONE)))), shared=True) as lock:
        assert lock is not None
        assert build(TWIN, built=[ONE]).action is Action.BUILT
    assert uv.calls == []


def test_without_an_interpreter_of_its_own_the_project_gets_this_one(build: Build, uv: Uv) -> None:
    build.project = build.project._replace(python=None)
    assert build().action is Action.BUILT
    assert uv.calls == [(ONE, "packages"), (ONE, "project")]


def test_an_attempt_without_the_network_may_leave_nothing(
    build: Build, uv: Uv, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextlib.contextmanager
    def taken(path: pathlib.Path, shared: bool = False) -> Iterator[None]:
        yield None

    def fail(arguments: Sequence[str]) -> None:
        if "--offline" in arguments:
            raise UvError("not in the cache")

    monkeypatch.setattr(environment_builder, "locked_if_free", taken)
    uv.before = fail
    assert build().action is Action.BUILT
    assert uv.calls == [(ONE, "cached"), (ONE, "packages"), (ONE, "project")]


def test_a_change_at_the_time_of_the_stamp_is_none_since_it(build: Build, project: ActorProject) -> None:
    build()
    folder = project.folder_of(ONE)
    stamped = (folder / "actor-environment.json").stat().st_mtime_ns
    for place in (folder / "bin", folder / PACKAGES):
        os.utime(place, ns=(stamped, stamped))
    assert untouched_since_stamped(folder)


def test_a_failed_file_has_advice_and_the_actor_and_its_extras(project: ActorProject) -> None:
    first = "the environment of a.One (extras: y, x) was not built\n    "
    assert explained(project, ONE, EnvironmentBuildError("No space left on device")) == (
        f"{first}No space left on device"
    )
    full = OSError(28, "No space left on device", "/x")
    assert explained(project, ONE, full) == f"{first}{full}{uv_command.advice_on(str(full))}"
    assert explained(project, ONE, OSError("odd")) == (
        f"{first}odd\n    set NEMO_RL_VENV_DIR and UV_CACHE_DIR to folders that can be used"
    )


def test_a_folder_that_cannot_be_made_is_an_error_with_advice(project: ActorProject, tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").touch()
    build = Build(project._replace(environments=tmp_path / "file"))
    assert re.fullmatch(
        r"\[Errno 17\] File exists: '.*/file'\n    set NEMO_RL_VENV_DIR and UV_CACHE_DIR to .*", build.error()
    )


def test_folders_are_opened_to_be_looked_at_again(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[pathlib.Path, int]] = []
    open_file = os.open

    def noted(path: pathlib.Path, flags: int) -> int:
        opened.append((path, flags))
        return open_file(path, flags)

    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "open", noted)
    descriptors = os.listdir("/proc/self/fd")
    for place in (tmp_path, tmp_path / "none", tmp_path / "file", tmp_path / "none/none"):
        venvs.look_again_at(place)
    assert os.listdir("/proc/self/fd") == descriptors
    flags = os.O_RDONLY | os.O_DIRECTORY
    asked = [tmp_path.parent, tmp_path, tmp_path, tmp_path / "none", tmp_path, tmp_path / "file"]
    assert opened == [(place, flags) for place in [*asked, tmp_path / "none", tmp_path / "none/none"]]


def test_reports_are_lines_on_stderr_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream:
        def __init__(self) -> None:
            self.said: list[str] = []

        def write(self, text: str) -> None:
            self.said.append(text)

        def flush(self) -> None:
            self.said.append("flushed")

    stream = Stream()
    monkeypatch.setattr(sys, "stderr", stream)
    venvs.print_report("a line")
    assert stream.said == ["a line", "\n", "flushed"]
