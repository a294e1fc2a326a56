"""Where an environment cannot be built there is one clear error, and nothing half-built."""

import contextlib
import ctypes
import errno
import fcntl
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from environment_checks import distributions_of

from nemo_rl.utils import environment_lock, environment_stamp, uv_command
from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.environment_lock import LocksUnsupportedError
from nemo_rl.utils.environment_lookup import Action
from nemo_rl.utils.venvs import ensure_environment

READER = "small.actors.MarkupReader"
LIBC = ctypes.CDLL(None, use_errno=True)
MS_RDONLY = 1


def error_of(project: ActorProject, actor: str = READER) -> str:
    """The message of a build that has to fail, after which no folder is left that could be taken for an environment."""
    with pytest.raises(EnvironmentBuildError) as caught:
        ensure_environment(project, actor, report=lambda line: None)
    assert not project.folder_of(actor).exists()
    return str(caught.value)


@contextlib.contextmanager
def mounted(folder: pathlib.Path, options: str, flags: int = 0) -> Iterator[None]:
    """A small file system in a folder; skips the test where this process may not mount."""
    folder.mkdir(parents=True)
    if LIBC.mount(b"tmpfs", str(folder).encode(), b"tmpfs", flags, options.encode()) != 0:
        pytest.skip(f"a file system for the test cannot be mounted: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        LIBC.umount2(str(folder).encode(), 0)


def test_an_error_has_the_actor_its_extras_the_last_lines_of_uv_and_the_command_to_repeat(
    small: ActorProject, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty-cache"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    error = error_of(small)
    assert f"the environment of {READER} (extras: markup) was not built" in error
    assert re.search(r"\n    \| .*network", error, re.IGNORECASE)
    assert "the package index cannot be reached" in error


def test_the_command_to_repeat_by_hand_fails_and_succeeds_like_the_build(
    small: ActorProject, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty-cache"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    (command,) = re.findall(r"to repeat by hand: (.*)", error_of(small))
    assert subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True).returncode != 0
    monkeypatch.delenv("UV_OFFLINE")
    assert subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True).returncode == 0
    assert "toml" in distributions_of(small.interpreter_of(READER))


def test_an_index_that_does_not_answer_is_named_as_the_reason(
    small: ActorProject, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty-cache"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    assert "the package index cannot be reached" in error_of(small)


def test_a_full_disk_is_named_as_the_reason(small: ActorProject, tmp_path: pathlib.Path) -> None:
    with mounted(tmp_path / "tiny", "size=100k"):
        error = error_of(small._replace(environments=tmp_path / "tiny" / "environments"))
    assert "the disk is full: free some space, or set NEMO_RL_VENV_DIR" in error


def test_a_read_only_folder_is_named_as_the_reason(small: ActorProject, tmp_path: pathlib.Path) -> None:
    with mounted(tmp_path / "fixed", "size=100k", MS_RDONLY):
        error = error_of(small._replace(environments=tmp_path / "fixed" / "environments"))
    assert "a folder cannot be written: set NEMO_RL_VENV_DIR" in error


def test_a_file_in_the_way_is_named_and_kept(small: ActorProject) -> None:
    small.environments.mkdir()
    small.folder_of(READER).write_text("precious")
    with pytest.raises(EnvironmentBuildError, match="is in the way: it is no folder; remove it"):
        ensure_environment(small, READER, report=lambda line: None)
    assert small.folder_of(READER).read_text() == "precious"


def test_without_uv_the_error_says_how_to_get_it(small: ActorProject, monkeypatch: pytest.MonkeyPatch) -> None:
    # An interpreter without the package uv, on a PATH without the program.
    script = (
        f"import sys; sys.path[:0] = {[str(pathlib.Path(uv_command.__file__).parents[2])]!r}\n"
        "from nemo_rl.utils.uv_command import find_uv\n"
        "find_uv()"
    )
    command = [os.path.realpath(sys.executable), "-I", "-S", "-c", script]
    run = subprocess.run(command, env={"PATH": "/nonexistent"}, capture_output=True)
    assert b"UvError: uv builds the environments of actors, and there is none" in run.stderr
    assert b"install it: python -m pip install uv" in run.stderr


def test_without_uv_nothing_is_begun(small: ActorProject, tmp_path: pathlib.Path) -> None:
    script = (
        f"import pathlib, sys; sys.path[:0] = {[str(pathlib.Path(uv_command.__file__).parents[2])]!r}\n"
        "from nemo_rl.utils.actor_project import ActorProject\n"
        "from nemo_rl.utils.venvs import ensure_environment\n"
        f"project = ActorProject(pathlib.Path({str(small.root)!r}), {{'a.B': ['markup']}}, pathlib.Path(sys.argv[1]))\n"
        "ensure_environment(project, 'a.B')"
    )
    command = [os.path.realpath(sys.executable), "-I", "-S", "-c", script, str(tmp_path / "e")]
    run = subprocess.run(command, env={"PATH": "/nonexistent"}, capture_output=True, text=True)
    assert "the environment of a.B (extras: markup) was not built\n    uv builds the environments" in run.stderr
    assert [path.name for path in (tmp_path / "e").iterdir()] == ["a.B.lock"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot be read: No such file or directory"),
        ("[project\n", "is no TOML: .* line 1, column 9"),
        ("[tool.uv]\n", r"has no \[project\] with a name"),
    ],
)
def test_a_project_that_cannot_be_read_is_named_with_the_reason(
    small: ActorProject, tmp_path: pathlib.Path, text: str | None, message: str
) -> None:
    (tmp_path / "uv.lock").touch()
    if text is not None:
        (tmp_path / "pyproject.toml").write_text(text)
    error = error_of(small._replace(root=tmp_path))
    assert re.search(rf"\n    {re.escape(str(tmp_path / 'pyproject.toml'))} {message}", error)


def test_a_full_cache_is_named_as_the_reason(
    small: ActorProject, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "tiny"))
    with mounted(tmp_path / "tiny", "size=60k"):
        assert "the disk is full: free some space, or set NEMO_RL_VENV_DIR and UV_CACHE_DIR" in error_of(small)


def test_uv_is_found_by_several_threads_at_once() -> None:
    script = (
        "import concurrent.futures, sys, threading\n"
        "from nemo_rl.utils.uv_command import find_uv\n"
        # As if this were no virtual environment, where there is nothing to search.
        "sys.setswitchinterval(1e-6)\nsys.prefix = sys.base_prefix\n"
        "start = threading.Barrier(8)\n"
        "with concurrent.futures.ThreadPoolExecutor(8) as pool:\n"
        "    assert len(set(pool.map(lambda _: start.wait() >= 0 and find_uv(), range(8)))) == 1\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_a_broken_uv_is_an_error_of_the_build(
    small: ActorProject, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "uv"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(uv_command, "find_uv", lambda: str(broken))
    assert "uv ended with exit code 3" in error_of(small)


def test_an_extra_that_its_markers_exclude_fails_with_the_python_that_it_needs(small: ActorProject) -> None:
    project = small._replace(table={READER: ["markup", "future"]})
    error = error_of(project)
    assert "the extra 'future' installs nothing on CPython" in error
    assert 'iniconfig needs python_version >= "3.99"' in error
    assert 'python_version >= "3.98"' in error


def test_a_missing_lock_is_an_error_that_says_how_to_write_it(small: ActorProject, tmp_path: pathlib.Path) -> None:
    (tmp_path / "unlocked").mkdir()
    (tmp_path / "unlocked" / "pyproject.toml").write_text((small.root / "pyproject.toml").read_text())
    project = small._replace(root=tmp_path / "unlocked")
    error = error_of(project)
    assert f"uv lock --directory {project.root}" in error
    subprocess.run([uv_command.find_uv(), *re.findall(r"uv (lock .*) \(", error)[0].split()], check=True)
    assert (project.root / "uv.lock").exists()


def test_an_interpreter_that_does_not_start_is_named(small: ActorProject) -> None:
    assert "/nonexistent/python cannot be started" in error_of(small._replace(python="/nonexistent/python"))


def test_a_failure_to_add_the_project_keeps_the_dependencies_for_the_next_try(
    small: ActorProject, tmp_path: pathlib.Path
) -> None:
    project = small._replace(root=tmp_path / "project")
    subprocess.run(["cp", "-r", str(small.root), str(project.root)], check=True)
    package = project.root / "small"
    package.rename(project.root / "elsewhere")
    with pytest.raises(EnvironmentBuildError, match="to repeat by hand"):
        ensure_environment(project, READER, report=lambda line: None)
    stamp = environment_stamp.read_stamp(project.folder_of(READER))
    assert stamp is not None and stamp.state == environment_stamp.DEPENDENCIES
    (project.root / "elsewhere").rename(package)
    assert ensure_environment(project, READER, report=lambda line: None).action is Action.COMPLETED


def test_a_file_system_without_locks_is_an_error_of_its_own(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    # No file system at hand lacks locks, so the call is what is replaced.
    monkeypatch.setattr(fcntl, "flock", no_locks)
    with (
        pytest.raises(LocksUnsupportedError, match="offers no locks") as error,
        environment_lock.locked(tmp_path / "x.lock", lambda line: None),
    ):
        pass
    assert (error.value.errno, error.value.filename) == (errno.ENOLCK, str(tmp_path / "x.lock"))
