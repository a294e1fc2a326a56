"""Where the environments of a project's actors are, and which actors have one."""

import pathlib

import pytest

from nemo_rl.distributed.actor_environments import ACTOR_ENVIRONMENTS
from nemo_rl.distributed.py_executables import PROJECT_ROOT
from nemo_rl.distributed.ray_actor_environment_registry import UnregisteredActorError
from nemo_rl.utils.actor_project import ActorProject, this_project

PROJECT = ActorProject(pathlib.Path("/project"), {"b.Two": ["x"], "a.One": ["y"], "a.Driver": None}, pathlib.Path("/v"))


def test_what_is_known_of_an_actor() -> None:
    assert [PROJECT.extras_of(actor) for actor in PROJECT.table] == [["x"], ["y"], None]
    assert PROJECT.actors_with_environment() == ["a.One", "b.Two"]
    assert PROJECT.folder_of("a.One") == pathlib.Path("/v/a.One")
    assert PROJECT.interpreter_of("a.One") == pathlib.Path("/v/a.One/bin/python")


def test_an_unknown_actor_is_answered_with_what_may_be_meant() -> None:
    with pytest.raises(UnregisteredActorError) as error:
        PROJECT.extras_of("a.Onee")
    assert "a.Onee" in str(error.value) and "did you mean 'a.One'" in str(error.value)


def test_this_project_keeps_environments_in_its_folder_or_where_the_variable_says(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = ActorProject(PROJECT_ROOT, ACTOR_ENVIRONMENTS, PROJECT_ROOT / "venvs")
    monkeypatch.delenv("NEMO_RL_VENV_DIR", raising=False)
    assert this_project() == expected
    monkeypatch.setenv("NEMO_RL_VENV_DIR", "")
    assert this_project() == expected
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEMO_RL_VENV_DIR", "some/where")
    assert this_project() == expected._replace(environments=tmp_path / "some/where")


def test_a_folder_that_is_not_utf_8_is_refused_with_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEMO_RL_VENV_DIR", "/venvs/\udcff")
    with pytest.raises(ValueError) as error:
        this_project()
    assert str(error.value) == (
        "b'/venvs/\\xff' is not UTF-8, and uv makes no environment there; set NEMO_RL_VENV_DIR to another folder"
    )
