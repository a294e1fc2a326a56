"""What a stamp says of an environment and how it is written, without the script; programs of a few lines are interpreters."""

import hashlib
import json
import os
import pathlib
import platform
import sys
import sysconfig
import tempfile

import pytest

from nemo_rl.utils import environment_stamp
from nemo_rl.utils.environment_stamp import (
    COMPLETE,
    DEPENDENCIES,
    STAMP_NAME,
    Stamp,
    StampError,
    differences,
    hash_of,
    interpreter_of,
    read_stamp,
    remove_stamp,
    stamp_for,
    this_interpreter,
    write_stamp,
)

STAMP = Stamp(COMPLETE, ("a", "é"), "0" * 64, "CPython 3.12.1 /usr/bin/python3.12", "linux", "/venvs/x", "/p", "1", "r")


@pytest.fixture
def lock(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "uv.lock").write_bytes(b"caf\xe9\r\n")
    return tmp_path / "uv.lock"


def test_a_stamp_is_a_readable_file_of_json(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))  # another file system could not be renamed from
    write_stamp(str(tmp_path), STAMP)
    file = tmp_path / STAMP_NAME
    assert file.read_text(encoding="ascii") == json.dumps(STAMP._asdict(), indent=2) + "\n"
    assert file.stat().st_mode & 0o777 == 0o644
    assert [path.name for path in tmp_path.iterdir()] == [STAMP_NAME]
    assert read_stamp(str(tmp_path)) == STAMP
    file.write_text(json.dumps(STAMP._asdict(), ensure_ascii=False), encoding="utf-8")
    assert read_stamp(tmp_path) == STAMP


def test_a_stamp_is_written_in_one_step(tmp_path: pathlib.Path) -> None:
    (tmp_path / STAMP_NAME).mkdir()
    with pytest.raises(OSError):
        write_stamp(tmp_path, STAMP)
    assert [path.name for path in tmp_path.iterdir()] == [STAMP_NAME]


def test_removing_takes_the_stamp_alone_and_minds_no_absence(tmp_path: pathlib.Path) -> None:
    write_stamp(tmp_path, STAMP)
    (tmp_path / "other").touch()
    for folder in (str(tmp_path), tmp_path, tmp_path / "absent", tmp_path / "other"):
        remove_stamp(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
    (tmp_path / STAMP_NAME).mkdir()
    with pytest.raises(OSError):
        remove_stamp(tmp_path)


def test_all_differences_are_told_in_order() -> None:
    other = Stamp(COMPLETE, ("b",), "1", "i", "p", "f", "q", "2", "s", 2)
    assert differences(other, STAMP) == [
        "format: 2 -> 1",
        "extras: ('b',) -> ('a', 'é')",
        f"lock: 1 -> {'0' * 64}",
        "interpreter: i -> CPython 3.12.1 /usr/bin/python3.12",
        "platform: p -> linux",
        "folder: f -> /venvs/x",
        "project: q -> /p",
    ]
    for found, wanted in ((DEPENDENCIES, COMPLETE), (COMPLETE, DEPENDENCIES), (DEPENDENCIES, DEPENDENCIES)):
        assert differences(STAMP._replace(state=found, project="q"), STAMP._replace(state=wanted)) == []


def test_a_stamp_is_for_what_an_environment_would_be_built_from_now(lock: pathlib.Path) -> None:
    folder = lock.parent
    (folder / "link").symlink_to(folder)
    digest = hashlib.sha256(b"caf\xe9\r\n").hexdigest()
    assert hash_of(str(lock)) == hash_of(lock) == digest
    here = (this_interpreter(), sysconfig.get_platform(), os.path.realpath(folder))
    assert stamp_for(folder / "link", ["b", "a", "b"], lock, sys.executable) == Stamp(
        DEPENDENCIES, ("a", "b"), digest, *here
    )
    complete = stamp_for(str(folder / "link"), iter("a"), lock, sys.executable, folder / "link", "0.1", "run")
    assert complete == Stamp(COMPLETE, ("a",), digest, *here, os.path.realpath(folder), "0.1", "run", 1)


def test_this_interpreter_is_known_by_its_base(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = f"{platform.python_implementation()} {platform.python_version()}"
    (tmp_path / "link").symlink_to(tmp_path / "base")
    monkeypatch.setattr(sys, "_base_executable", str(tmp_path / "link"), raising=False)
    assert this_interpreter() == f"{version} {tmp_path / 'base'}"
    monkeypatch.setattr(sys, "executable", str(tmp_path / "own"))
    for nothing in ("", None):
        monkeypatch.setattr(sys, "_base_executable", nothing)
        assert this_interpreter() == f"{version} {tmp_path / 'own'}"
    monkeypatch.delattr(sys, "_base_executable")
    assert this_interpreter() == f"{version} {tmp_path / 'own'}"


def test_another_interpreter_is_asked_without_what_is_installed(tmp_path: pathlib.Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho noise >&2\necho "  $*  "\n')
    python.chmod(0o755)
    assert interpreter_of(str(python)) == f"-I -S {environment_stamp.__file__} interpreter"
    relative = os.path.relpath(sys.executable)
    assert interpreter_of(relative) == this_interpreter()


def test_what_is_no_interpreter_is_named_with_the_end_of_what_it_says(tmp_path: pathlib.Path) -> None:
    python = tmp_path / "python"
    with pytest.raises(StampError) as raised:
        interpreter_of(str(python))
    assert str(raised.value) == f"{python} cannot be started: No such file or directory"
    python.write_text(f"#!/bin/sh\necho to nobody\necho first{'x' * 495}last >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(StampError) as raised:
        interpreter_of(str(python))
    assert str(raised.value) == f"{python} is no Python 3.8 or newer: t{'x' * 495}last"
