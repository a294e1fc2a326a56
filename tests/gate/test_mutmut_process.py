"""mutmut as a process: what it is given, how it is followed and ended, and what of its words is told.

Scripts of a few lines stand where mutmut would be; test_code_mutants.py runs mutmut itself.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import time
from pathlib import Path

import psutil
import pytest

from pytest_actor_envs.gate import mutmut_process
from pytest_actor_envs.gate.mutmut_process import (
    MutmutFailed,
    MutmutMissing,
    SuiteFails,
    copied,
    left_out,
    mutmut_command,
    run_mutmut,
    started_mutmut,
)
from pytest_actor_envs.gate.reach_recorder import FAILURES
from pytest_actor_envs.model import ConfigurationError
from tests.gate.conftest import Programs, has_ended


def test_mutmut_is_the_one_beside_the_interpreter_or_else_on_the_path(
    programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = programs(mutmut="")
    assert mutmut_command() == str(folder / "mutmut")
    (tmp_path / "other").mkdir()
    (folder / "mutmut").rename(tmp_path / "other/mutmut")
    monkeypatch.setenv("PATH", str(tmp_path / "other"))
    assert mutmut_command() == str(tmp_path / "other/mutmut")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MutmutMissing) as raised:
        mutmut_command()
    assert str(raised.value) == (
        "mutmut is not installed, so no code mutant can be made\n    pip install mutmut==3.8.1"
    )


def test_what_is_hidden_or_made_from_others_is_not_copied_and_some_only_at_the_root(tmp_path: Path) -> None:
    names = [
        "a.py",
        ".git",
        ".hidden",
        "__pycache__",
        "x.egg-info",
        "node_modules",
        "mutants",
        "venvs",
        "build",
        "dist",
    ]
    everywhere = {".git", ".hidden", "__pycache__", "x.egg-info", "node_modules"}
    assert left_out(tmp_path, str(tmp_path), names) == everywhere | {"mutants", "venvs", "build", "dist"}
    assert left_out(tmp_path, str(tmp_path / "inner"), names) == everywhere
    root = tmp_path / "root"
    for path in ("a.py", "mutants/b", "inner/mutants/c", ".hidden/d"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)
    (root / "link").symlink_to("a.py")
    copy = copied(root, tmp_path)
    assert copy == tmp_path / "project"
    assert {str(path.relative_to(copy)) for path in copy.rglob("*")} == {
        *("a.py", "link", "inner", "inner/mutants", "inner/mutants/c"),
    }
    assert os.readlink(copy / "link") == "a.py"


def test_pipes_sockets_and_the_copy_itself_are_not_copied(tmp_path: Path) -> None:
    (tmp_path / "temporary/in").mkdir(parents=True)
    (tmp_path / "temporary/beside").touch()
    (tmp_path / "kept").touch()
    (tmp_path / "broken").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    with contextlib.chdir(tmp_path), socket.socket(socket.AF_UNIX) as served:
        served.bind("socket")
        copy = copied(tmp_path, tmp_path / "temporary/in")
    found = {path.relative_to(copy).as_posix() for path in copy.rglob("*")}
    assert found == {"kept", "broken", "temporary", "temporary/beside"}


def test_a_copy_can_be_written_whatever_the_project_is(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "inner").mkdir(parents=True)
    (root / "inner/script").touch(mode=0o555)
    (root / "link").symlink_to("/")
    modes = {path: path.stat().st_mode for path in (root, root / "inner", root / "inner/script")}
    (root / "inner").chmod(0o555)
    root.chmod(0o555)
    copy = copied(root, tmp_path)
    for path, mode in modes.items():
        assert (copy / path.relative_to(root)).stat().st_mode == mode | 0o600


def test_what_cannot_be_copied_is_said_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "project").touch()
    with pytest.raises(ConfigurationError) as raised:
        copied(root, tmp_path)
    said, way_out = str(raised.value).split("\n")
    assert said.startswith("gate: the project cannot be copied for mutmut to work on: [Errno 17] File exists: ")
    assert way_out == "    let it be read; TMPDIR names where copies go"
    # Whoever runs tests as root may read anything, so that modes would show nothing.
    monkeypatch.setattr(shutil, "copytree", lambda *_, **__: (_ for _ in ()).throw(shutil.Error([("a", "b", "why")])))
    with pytest.raises(ConfigurationError, match="cannot be copied for mutmut to work on: why\n"):
        copied(root, tmp_path)


def test_mutmut_is_told_what_to_run_where_and_not_which_mutant_is_active(
    programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Under mutmut the variable is there, and another value would let the mutant rest.
    monkeypatch.setenv("MUTANT_UNDER_TEST", os.environ.get("MUTANT_UNDER_TEST", "one"))
    monkeypatch.setenv("KEPT", "kept")
    programs(
        mutmut='cat > input\necho "$*|$MORE|$KEPT|${MUTANT_UNDER_TEST-unset}" > said\nkill -0 -$$ || touch in-ours'
    )
    run_mutmut(tmp_path, ("a.*", "b"), {"MORE": "more"}, lambda done, of: None)
    assert (
        tmp_path / "said"
    ).read_text() == f"run --max-children {len(os.sched_getaffinity(0)) + 1} a.* b|more|kept|unset\n"
    assert (tmp_path / "input").read_text() == ""
    with started_mutmut(tmp_path, (), {"MORE": ""}, 7) as running:
        running.follow(lambda done, of: None)
    assert (tmp_path / "said").read_text() == "run --max-children 7||kept|unset\n"
    assert not (tmp_path / "in-ours").exists()


def test_it_speaks_utf_8_whatever_the_surroundings_do(
    programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("PYTHONUTF8", "0")
    programs(mutmut='echo "$PYTHONUTF8 $PYTHONIOENCODING" > said')
    run_mutmut(tmp_path, (), {}, lambda done, of: None)
    assert (tmp_path / "said").read_text() == "1 utf-8\n"


def test_what_it_counts_is_passed_on(programs: Programs, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    counts = "printf '1/30  ok 1\\r2/30  ok'; sleep 0.1; printf ' 2\\r12/30  ok 3  no 4\\nnot 3/30\\n30/30  ok 5'"
    programs(mutmut=f"{counts}; printf '\\n'")
    run_mutmut(tmp_path, (), {}, lambda done, of: seen.append((done, of)))
    assert seen == [(1, 30), (2, 30), (12, 30), (30, 30)]


def test_counts_are_passed_on_while_it_works(programs: Programs, tmp_path: Path) -> None:
    waits = "i=0; while [ ! -e seen ] && [ $i -lt 150 ]; do i=$((i+1)); sleep 0.02; done; [ -e seen ]"
    programs(mutmut=f"echo '1/30  ok 1'; {waits}")
    run_mutmut(tmp_path, (), {}, lambda done, of: (tmp_path / "seen").touch())


def failure(folder: Path) -> Exception:
    with pytest.raises(Exception) as raised:
        run_mutmut(folder, (), {}, lambda done, of: None)
    return raised.value


def test_a_failure_has_the_last_lines_without_counts_blanks_and_what_only_turns(
    programs: Programs, tmp_path: Path
) -> None:
    spinner = "printf '| a text that is longer than twenty\\r/ a text that is longer than twenty\\r\\n  \\n'"
    lines = "i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo line $i >&2; done"
    programs(mutmut=f"{lines}; {spinner}; printf '1/30  ok 1\\n'; printf 'caf\\351'; exit 3")
    error = failure(tmp_path)
    assert isinstance(error, MutmutFailed)
    expected = [*(f"line {number}" for number in range(8, 31)), "| a text that is longer than twenty", "caf\ufffd"]
    assert str(error).split("\n") == ["mutmut ended without a result:", *expected]


def test_a_short_output_is_there_from_its_first_line(programs: Programs, tmp_path: Path) -> None:
    programs(mutmut="echo one; echo two; echo two; echo one; exit 1")
    assert str(failure(tmp_path)) == "mutmut ended without a result:\none\ntwo\none"


def test_tests_that_fail_in_the_copy_are_looked_for_there(programs: Programs, tmp_path: Path) -> None:
    programs(mutmut="echo failed to collect stats; exit 1")
    (tmp_path / "mutants").mkdir()
    (tmp_path / "mutants" / FAILURES).write_text("test_a fails\n")
    error = failure(tmp_path)
    assert isinstance(error, SuiteFails)
    assert str(error) == "the tests that are to kill fail:\ntest_a fails\n"


def test_at_the_end_no_process_is_left_however_it_behaves(
    programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutmut_process, "SECONDS_TO_END", 0.1)
    programs(mutmut="trap '' TERM\nsh -c 'trap \"\" TERM; echo $$ > part; mv part child; while :; do sleep 60; done'")
    with started_mutmut(tmp_path, (), {}) as running:
        until = time.monotonic() + 10
        while not (tmp_path / "child").exists() and time.monotonic() < until:
            time.sleep(0.01)
        child = psutil.Process(int((tmp_path / "child").read_text()))
        parent = child.parent()
        assert parent is not None
        running.end()
        assert has_ended(child) and has_ended(parent)
        running.end()


def test_processes_that_mutmut_leaves_are_ended_when_it_is_done(
    programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutmut_process, "SECONDS_TO_END", 0.1)
    programs(
        mutmut="sh -c 'trap \"touch told; exit\" TERM; echo > ready; while :; do sleep 0.01; done' &\n"
        "echo $! > child\nwhile [ ! -e ready ]; do sleep 0.01; done"
    )
    run_mutmut(tmp_path, (), {}, lambda done, of: None)
    child = int((tmp_path / "child").read_text())
    assert not psutil.pid_exists(child) or has_ended(psutil.Process(child))
    assert (tmp_path / "told").exists()


def test_an_end_by_a_signal_is_no_result(programs: Programs, tmp_path: Path) -> None:
    programs(mutmut="echo stopped; kill -9 $$")
    error = failure(tmp_path)
    assert type(error) is MutmutFailed
    assert str(error) == "mutmut ended without a result:\nstopped"
