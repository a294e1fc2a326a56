"""A file is written aside, in its own folder, and moved into place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_actor_envs.sources.kept_files import write_into_place


def test_the_folders_above_are_made_and_may_be_there(tmp_path: Path) -> None:
    file = tmp_path / "a/b/c.json"
    write_into_place(file, "one")
    write_into_place(file, "\N{SNOWMAN}")
    assert file.read_bytes() == "\N{SNOWMAN}".encode()
    assert os.listdir(file.parent) == ["c.json"]


def test_it_is_written_beside_its_place_under_the_same_suffix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[tuple[Path, Path]] = []
    monkeypatch.setattr(os, "replace", lambda aside, place: moved.append((Path(aside), Path(place))))
    write_into_place(tmp_path / "c.json", "one")
    [(aside, place)] = moved
    assert (aside.parent, aside.suffix, aside.read_text(), place) == (tmp_path, ".json", "one", tmp_path / "c.json")


def test_what_cannot_be_moved_into_place_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "c.json").mkdir()
    with pytest.raises(IsADirectoryError):
        write_into_place(tmp_path / "c.json", "one")
    assert os.listdir(tmp_path) == ["c.json"]


def test_an_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(aside: str, place: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_into_place(tmp_path / "c.json", "one")
    assert os.listdir(tmp_path) == []
