"""Environments share the files of installed packages: what a write into one does, and how it is undone."""

import pathlib
import subprocess

import pytest
from environment_checks import distributions_of
from small_project import uv

from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.venvs import ensure_environment

READER = "small.actors.MarkupReader"
WRITER = "small.actors.MarkupWriter"


@pytest.fixture
def own_cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that no other test shares, since these tests spoil it."""
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))


def build(project: ActorProject, actor: str, rebuild: bool = False, run: str = "first") -> pathlib.Path:
    """Build an environment and return the file of one of its packages."""
    ensure_environment(project, actor, rebuild=rebuild, run=run, report=lambda line: None)
    (file,) = project.folder_of(actor).glob("lib/python3*/site-packages/xmltodict.py")
    return file


def test_a_write_into_a_file_reaches_every_environment_and_later_builds_until_the_cache_is_cleaned(
    small: ActorProject, own_cache: None
) -> None:
    with build(small, READER).open("a") as file:
        file.write("spoilt = True\n")
    assert "spoilt" in build(small, WRITER).read_text()
    assert "spoilt" in build(small, WRITER, rebuild=True, run="second").read_text()
    uv(small.root, "cache", "clean", "xmltodict")
    for actor in (READER, WRITER):
        assert "spoilt" not in build(small, actor, rebuild=True, run="third").read_text()
        distributions_of(small.interpreter_of(actor))


def test_a_file_that_is_replaced_changes_one_environment_only(small: ActorProject, own_cache: None) -> None:
    first, second = build(small, READER), build(small, WRITER)
    subprocess.run(["sed", "--in-place", "1i spoilt = True", str(first)], check=True)
    assert "spoilt" in first.read_text() and "spoilt" not in second.read_text()
