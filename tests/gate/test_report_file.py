"""Where a report can be written, and that what stands there is neither lost nor replaced by half of another."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from pytest_actor_envs import report_file
from pytest_actor_envs.model import ConfigurationError
from pytest_actor_envs.report_file import check_can_be_written, write_report


def written(path: Path, text: str = "é\n") -> None:
    check_can_be_written(path)
    write_report(path, text)


def refused(path: Path) -> str:
    with pytest.raises(ConfigurationError) as raised:
        check_can_be_written(path)
    said, way_out = str(raised.value).split("\n")
    assert way_out == "    --output: name another file"
    assert said.startswith(f"gate: {path} ") and said.endswith(", so no report can be written there")
    return said.removeprefix(f"gate: {path} ").removesuffix(", so no report can be written there")


def test_a_file_is_made_or_replaced_with_the_usual_mode(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    usual = tmp_path / "usual"
    usual.touch()
    for text in ("one", "é"):
        written(file, text)
        assert file.read_bytes() == text.encode()
        assert file.stat().st_mode == usual.stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["report.json", "usual"]


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path: Path) -> None:
    written(tmp_path / ("a" * 255))
    assert refused(tmp_path / ("a" * 256)) == "cannot be looked at: File name too long"


def test_a_link_stays_and_the_file_that_it_leads_to_is_written(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("file")
    for _ in range(2):
        written(link)
        assert os.readlink(link) == "file"
        assert (tmp_path / "file").read_text(encoding="utf-8") == "é\n"
    link.unlink()
    link.symlink_to("gone/file")
    assert refused(link) == "is in a folder that does not exist"


def test_what_is_no_file_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    written(pipe)
    reader.join()
    assert read == ["é\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_folders_are_refused(tmp_path: Path) -> None:
    assert refused(tmp_path) == "is a folder"
    assert refused(tmp_path / "gone" / "report") == "is in a folder that does not exist"
    (tmp_path / "file").touch()
    assert refused(tmp_path / "file" / "report") == "is in a folder that does not exist"


def test_of_a_folder_that_may_not_be_written_only_a_file_that_may_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").write_text("old")
    before = (tmp_path / "there").stat().st_ino
    # Whoever runs tests as root may write anywhere, so that modes would show nothing.
    monkeypatch.setattr(report_file.os, "access", lambda path, mode: Path(path).name == "there" and mode == os.W_OK)
    written(tmp_path / "there")
    assert (tmp_path / "there").read_text(encoding="utf-8") == "é\n"
    assert (tmp_path / "there").stat().st_ino == before
    assert refused(tmp_path / "absent") == "may not be written"
    monkeypatch.setattr(report_file.os, "access", lambda path, mode: False)
    assert refused(tmp_path / "there") == "may not be written"


def test_a_failure_later_on_is_said_and_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "report.json"
    file.write_text("old")

    def full(aside: Path, place: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ConfigurationError, match="cannot be written: No space left on device"):
        write_report(file, "new")
    assert (os.listdir(tmp_path), file.read_text()) == (["report.json"], "old")
