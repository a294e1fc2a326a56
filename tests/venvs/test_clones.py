"""An environment whose packages another one has as well is linked to that one, and is to the byte what uv builds."""

import hashlib
import os
import pathlib
import subprocess
import time
from collections.abc import Sequence

import pytest
from environment_checks import distributions_of, programs_of
from small_project import uv

from nemo_rl.utils import environment_builder, environment_stamp, prefetch_venvs, uv_command
from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_clone import CannotCloneError, Clone
from nemo_rl.utils.environment_lock import lock_file_of, locked
from nemo_rl.utils.environment_lookup import Action
from nemo_rl.utils.venvs import ensure_environment

FIRST = "small.actors.TableReader"
SECOND = "small.actors.ATableWriter"
OTHER = "small.actors.Colourful"
RUN = "one run"


@pytest.fixture
def tables(small_project_root: ActorProject, tmp_path_factory: pytest.TempPathFactory) -> ActorProject:
    """Two actors with a package that brings a program, and one that has only the project in common with them."""
    return small_project_root._replace(
        table={FIRST: ["tables"], SECOND: ["tables"], OTHER: ["colour"]},
        environments=tmp_path_factory.mktemp("t"),
    )


def at(project: ActorProject, length: int) -> ActorProject:
    """The project with environments in a folder whose path is so long that both forms of first lines occur, or one."""
    padding = length - len(str(project.environments)) - 1
    assert padding > 0
    return project._replace(environments=project.environments / ("x" * padding))


@pytest.fixture
def uv_starts(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The arguments of every start of uv from now on; uv itself runs."""
    starts: list[Sequence[str]] = []
    run_uv = uv_command.run_uv

    def noted(uv: str, arguments: Sequence[str], *others: object) -> None:
        starts.append(arguments)
        run_uv(uv, arguments, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(uv_command, "run_uv", noted)
    return starts


def wait_for_the_clock() -> None:
    """Let time go on so far that a file system, which counts in steps, has another time for what comes next."""
    time.sleep(0.02)


def build(project: ActorProject, actor: str, built: Sequence[str] = (), run: str = RUN) -> Action:
    return ensure_environment(project, actor, run=run, built=built, rebuild=True, report=lambda line: None).action


def contents(folder: pathlib.Path) -> dict[str, str]:
    """Every file, link and folder below a folder, with mode and content, and the folder's stamp without its run."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name, mode = str(path.relative_to(folder)), oct(path.lstat().st_mode)
        if path.is_symlink():
            found[name] = f"{mode} -> {os.readlink(path)}"
        elif path.is_dir():
            found[name] = mode
        elif name != environment_stamp.STAMP_NAME:
            found[name] = f"{mode} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    stamp = environment_stamp.read_stamp(folder)
    assert stamp is not None
    found["stamp"] = str(stamp._replace(run=""))
    return found


# The first lines of scripts hold "#!", this, "/", an actor of 24 or 25 letters and "/bin/python".
@pytest.mark.parametrize("length", [86, 87, 88, 89, 150])
def test_a_clone_is_to_the_byte_what_uv_builds_in_its_place(
    tables: ActorProject, length: int, uv_starts: list[Sequence[str]]
) -> None:
    tables = at(tables, length)
    assert build(tables, SECOND, run="by uv") is Action.BUILT
    by_uv = contents(tables.folder_of(SECOND))
    assert len(uv_starts) == 2 and "bin/sqlformat" in by_uv and "bin/small-hello" in by_uv
    build(tables, FIRST)
    uv_starts.clear()
    assert build(tables, SECOND, [FIRST]) is Action.BUILT
    assert uv_starts == []
    assert contents(tables.folder_of(SECOND)) == by_uv


def test_no_file_of_a_clone_knows_the_environment_that_it_comes_from(tables: ActorProject) -> None:
    build(tables, FIRST)
    build(tables, SECOND, [FIRST])
    for path in tables.folder_of(SECOND).rglob("*"):
        if path.is_symlink():
            assert FIRST not in os.readlink(path)
        elif path.is_file():
            assert FIRST.encode() not in path.read_bytes(), path
    assert set(distributions_of(tables.interpreter_of(SECOND))) == {"sqlparse", "small-project"}
    for program in programs_of(tables.folder_of(SECOND)):
        run = subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert run.returncode == 0, f"{program}: {run.stderr}"


def test_uv_finds_nothing_to_do_for_a_clone(tables: ActorProject, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tables, FIRST)
    build(tables, SECOND, [FIRST])
    build(tables, OTHER, [FIRST])
    for actor, extra in ((SECOND, "tables"), (OTHER, "colour")):
        monkeypatch.setenv("UV_PROJECT_ENVIRONMENT", str(tables.folder_of(actor)))
        folder = tables.folder_of(actor)
        command = [uv_command.find_uv(), "sync", "--locked", "--check", "--extra", extra, "--no-default-groups"]
        run = subprocess.run(command, cwd=tables.root, capture_output=True, text=True)
        assert run.returncode == 0 and "Would make no changes" in run.stderr, run.stderr
        assert "compatible" in uv(tables.root, "pip", "check", "--python", str(folder))


def test_the_project_is_linked_from_an_environment_with_other_packages(
    tables: ActorProject, uv_starts: list[Sequence[str]]
) -> None:
    build(tables, OTHER, run="by uv")
    by_uv = contents(tables.folder_of(OTHER))
    build(tables, FIRST)
    uv_starts.clear()
    assert build(tables, OTHER, [FIRST]) is Action.BUILT
    assert ["--no-install-project" in arguments for arguments in uv_starts] == [True]
    assert contents(tables.folder_of(OTHER)) == by_uv
    assert set(distributions_of(tables.interpreter_of(OTHER))) == {"termcolor", "small-project"}


def test_what_needs_no_path_is_shared_and_what_an_environment_may_change_is_not(tables: ActorProject) -> None:
    build(tables, FIRST)
    build(tables, SECOND, [FIRST])
    first, second = tables.folder_of(FIRST), tables.folder_of(SECOND)
    own = {
        str(path.relative_to(second))
        for path in second.rglob("*")
        if path.is_file() and not path.is_symlink() and path.stat().st_nlink == 1
    }
    assert {"pyvenv.cfg", "bin/activate", "bin/sqlformat", "bin/small-hello", environment_stamp.STAMP_NAME} <= own
    assert {path.rpartition("/")[2] for path in own if path.startswith("lib/")} == {"RECORD"}
    (record,) = second.glob("lib/python3*/site-packages/sqlparse-*.dist-info/RECORD")
    assert not record.samefile(first / record.relative_to(second))


def test_a_run_starts_uv_once_for_each_set_of_extras_and_once_for_the_project(
    small: ActorProject, uv_starts: list[Sequence[str]]
) -> None:
    assert prefetch_venvs.main(["--jobs", "1"], small) == 0
    sets = {tuple(extras) for extras in small.table.values() if extras is not None}
    assert len(small.actors_with_environment()) > len(sets)
    assert ["--no-install-project" in arguments for arguments in uv_starts].count(True) == len(sets)
    assert ["--no-install-project" in arguments for arguments in uv_starts].count(False) == 1
    for actor in small.actors_with_environment():
        assert "small-project" in distributions_of(small.interpreter_of(actor))


@pytest.mark.parametrize(
    "spoil", ["package added", "package removed", "program added", "stamp of another run", "moved"]
)
def test_an_environment_that_was_touched_since_it_was_built_is_not_cloned(
    tables: ActorProject, uv_starts: list[Sequence[str]], spoil: str
) -> None:
    build(tables, FIRST, run="an earlier run" if spoil == "stamp of another run" else RUN)
    wait_for_the_clock()
    folder = tables.folder_of(FIRST)
    (packages,) = folder.glob("lib/python3*/site-packages")
    if spoil == "package added":
        (packages / "late.py").write_text("")
    elif spoil == "package removed":
        (packages / "sqlparse" / "__init__.py").rename(folder / "elsewhere.py")
        (packages / "small_project.pth").unlink()
    elif spoil == "program added":
        (folder / "bin" / "late").write_text("")
    elif spoil == "moved":
        folder.rename(tables.folder_of(OTHER))
        tables = tables._replace(table={**tables.table, OTHER: ["tables"]})
    uv_starts.clear()
    assert build(tables, SECOND, [OTHER if spoil == "moved" else FIRST]) is Action.BUILT
    assert len(uv_starts) == 2
    assert set(distributions_of(tables.interpreter_of(SECOND))) == {"sqlparse", "small-project"}
    assert not list(tables.folder_of(SECOND).rglob("late*"))


def test_an_environment_that_somebody_builds_is_not_cloned_and_not_waited_for(
    tables: ActorProject, uv_starts: list[Sequence[str]]
) -> None:
    build(tables, FIRST)
    uv_starts.clear()
    with locked(lock_file_of(tables.folder_of(FIRST)), lambda line: None):
        assert build(tables, SECOND, [FIRST]) is Action.BUILT
    assert len(uv_starts) == 2
    assert set(distributions_of(tables.interpreter_of(SECOND))) == {"sqlparse", "small-project"}


def test_uv_builds_where_links_are_impossible(
    tables: ActorProject, uv_starts: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tables, FIRST)
    uv_starts.clear()
    links = 0

    def no_more_links(source: str, target: str) -> None:
        nonlocal links
        links += 1
        if links > 5:
            raise OSError(31, "Too many links")
        os.symlink(source, target)

    # No file system at hand runs out of links, so the call is what is replaced; what it left must not stay.
    monkeypatch.setattr(os, "link", no_more_links)
    assert build(tables, SECOND, [FIRST]) is Action.BUILT
    assert len(uv_starts) == 2
    assert set(distributions_of(tables.interpreter_of(SECOND))) == {"sqlparse", "small-project"}
    assert not any(path.is_symlink() for path in tables.folder_of(SECOND).rglob("*.py"))


@pytest.mark.parametrize("folder", ["with space", "Größe", "it's"])
def test_a_path_that_scripts_hold_in_another_form_is_not_cloned(
    tables: ActorProject, tmp_path: pathlib.Path, uv_starts: list[Sequence[str]], folder: str
) -> None:
    project = tables._replace(environments=tmp_path / folder)
    build(project, FIRST)
    uv_starts.clear()
    assert build(project, SECOND, [FIRST]) is Action.BUILT
    assert len(uv_starts) == 2
    for program in programs_of(project.folder_of(SECOND)):
        assert subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


def test_a_project_with_files_outside_of_its_environment_is_not_cloned(
    tables: ActorProject, tmp_path: pathlib.Path
) -> None:
    build(tables, FIRST)
    (record,) = tables.folder_of(FIRST).glob("lib/python3*/site-packages/small_project-*.dist-info/RECORD")
    with record.open("a") as file:
        file.write(f"{tmp_path}/elsewhere,,\n")
    clone = Clone(str(tables.folder_of(FIRST)), str(tables.folder_of(SECOND)), "small-project")
    with pytest.raises(CannotCloneError, match="is outside of"):
        clone.packages_cloned()


def test_a_folder_whose_name_begins_like_that_of_the_environment_is_not_taken_for_it(tables: ActorProject) -> None:
    build(tables, FIRST)
    source, target = str(tables.folder_of(FIRST)), str(tables.folder_of(SECOND))
    clone = Clone(source, target, "small-project")
    text = f"{source}/bin '{source}' {source}2 {source}-new {source}.lock".encode()
    assert clone.with_target(text) == f"{target}/bin '{target}' {source}2 {source}-new {source}.lock".encode()


def test_environments_below_a_symbolic_link_outlive_it(tables: ActorProject, tmp_path: pathlib.Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    project = tables._replace(environments=tmp_path / "link")
    build(project, FIRST)
    build(project, SECOND, [FIRST])
    (tmp_path / "link").unlink()
    project = tables._replace(environments=tmp_path / "real")
    for actor in (FIRST, SECOND):
        assert ensure_environment(project, actor).action is Action.REUSED
        for program in programs_of(project.folder_of(actor)):
            assert subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


def test_the_newest_change_of_packages_or_programs_counts(tables: ActorProject) -> None:
    build(tables, FIRST)
    assert environment_builder.untouched_since_stamped(tables.folder_of(FIRST))
    wait_for_the_clock()
    (tables.folder_of(FIRST) / "bin" / "late").write_text("")
    assert not environment_builder.untouched_since_stamped(tables.folder_of(FIRST))
