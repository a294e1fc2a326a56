"""The scripts that start actors' interpreters, as they are written; test_prefetch.py runs one."""

import os
import pathlib

import pytest

from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.wrapper_scripts import WrapperClashError, reject_clashes, write_wrappers

PROJECT = ActorProject(pathlib.Path("/project"), {"a.One": ["x"], "b.Two": ["x"]}, pathlib.Path("/the venvs"))
TEXT = """\
#!/bin/sh
# The interpreter of a.One
export VIRTUAL_ENV='/the venvs/a.One' UV_PROJECT_ENVIRONMENT='/the venvs/a.One'
exec '/the venvs/a.One/bin/python' "$@"
"""


def test_each_actor_gets_a_script_of_its_own(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "new" / "bin"
    for _ in range(2):
        assert write_wrappers(PROJECT, ["b.Two", "a.One"], folder) == [folder / "python-Two", folder / "python-One"]
    assert sorted(os.listdir(folder)) == ["python-One", "python-Two"]
    assert (folder / "python-One").read_text() == TEXT
    assert (folder / "python-Two").read_text() == TEXT.replace("a.One", "b.Two")
    assert (folder / "python-One").stat().st_mode & 0o777 == 0o755


def test_a_script_is_written_aside_in_its_folder_and_moved_there(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[tuple[pathlib.Path, pathlib.Path]] = []
    monkeypatch.setattr(os, "replace", lambda aside, place: moved.append((pathlib.Path(aside), pathlib.Path(place))))
    write_wrappers(PROJECT, ["a.One"], tmp_path)
    [(aside, place)] = moved
    assert (aside.parent, place) == (tmp_path, tmp_path / "python-One")
    assert aside.name.startswith(".python-One-") and aside.read_text() == TEXT


def test_a_project_in_a_folder_of_any_letters_is_written_as_utf_8(tmp_path: pathlib.Path) -> None:
    project = PROJECT._replace(environments=pathlib.Path("/\N{SNOWMAN}"))
    (script,) = write_wrappers(project, ["a.One"], tmp_path)
    assert "exec '/\N{SNOWMAN}/a.One/bin/python'".encode() in script.read_bytes()


def test_all_clashes_are_named_and_nothing_is_written(tmp_path: pathlib.Path) -> None:
    actors = ["z.Other", "b.One", "c.Two", "a.One", "x.Alone", "a.Other"]
    message = (
        "python-One is wanted by b.One and by a.One; python-Other is wanted by z.Other and by a.Other; "
        "rename one of the classes"
    )
    for call in (lambda: reject_clashes(actors), lambda: write_wrappers(PROJECT, actors, tmp_path / "bin")):
        with pytest.raises(WrapperClashError) as error:
            call()
        assert str(error.value) == message
    assert not (tmp_path / "bin").exists()
    reject_clashes(["a.One", "b.Two"])
