"""Small projects, and a cache of uv's own, so that the tests neither use nor fill the one of the machine."""

import pathlib

import pytest
from bulky_project import write_bulky_project
from small_project import write_small_project

from nemo_rl.utils.actor_project import ActorProject


@pytest.fixture(scope="session")
def uv_cache(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("uv-cache")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, uv_cache: pathlib.Path) -> None:
    """Nothing of the surrounding environment decides what is built."""
    for name in ("NRL_FORCE_REBUILD_VENVS", "NEMO_RL_VENV_DIR", "NEMO_RL_PY_EXECUTABLES_SYSTEM", "NRL_CONTAINER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_CACHE_DIR", str(uv_cache))


@pytest.fixture(scope="session")
def small_project_root(tmp_path_factory: pytest.TempPathFactory) -> ActorProject:
    return write_small_project(tmp_path_factory.mktemp("small"))


@pytest.fixture
def small(small_project_root: ActorProject, tmp_path: pathlib.Path) -> ActorProject:
    """The small project, which no test changes, with environments that belong to one test."""
    return small_project_root._replace(environments=tmp_path / "environments")


@pytest.fixture(scope="session")
def bulky_project_root(tmp_path_factory: pytest.TempPathFactory) -> ActorProject:
    return write_bulky_project(tmp_path_factory.mktemp("bulky"))


@pytest.fixture
def bulky(bulky_project_root: ActorProject, tmp_path: pathlib.Path) -> ActorProject:
    """The project that takes a while to install, with environments that belong to one test."""
    return bulky_project_root._replace(environments=tmp_path / "environments")
