"""What uv's cache lacks is downloaded by one builder at a time; what the cache has needs nobody's leave."""

import pathlib
import re
import subprocess

import builder_process
import pytest
from environment_checks import distributions_of

from nemo_rl.utils import uv_command
from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_builder import DOWNLOADS_LOCK
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.environment_lock import locked
from nemo_rl.utils.environment_lookup import Action
from nemo_rl.utils.venvs import ensure_environment

READER = "small.actors.MarkupReader"
COLOURFUL = "small.actors.Colourful"


def lines_until(pattern: str, builder: "subprocess.Popen[str]") -> list[str]:
    """What a builder reports, up to the first line that a pattern is found in."""
    assert builder.stderr is not None
    lines = []
    for line in builder.stderr:
        lines.append(line)
        if re.search(pattern, line):
            return lines
    pytest.fail(f"the builder ended without {pattern!r}: {lines}")


@pytest.fixture
def empty_cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty-cache"))
    return tmp_path / "empty-cache"


def test_a_builder_waits_for_another_download_and_then_builds(small: ActorProject, empty_cache: pathlib.Path) -> None:
    with locked(empty_cache / DOWNLOADS_LOCK, lambda line: None) as lock:
        lock.note("downloading for something else")
        builder = builder_process.start(small, READER)
        waiting = lines_until("waiting for", builder)[-1]
        assert "downloading for something else" in waiting
        assert not small.folder_of(READER).exists()
    output, _ = builder.communicate(timeout=60)
    assert output == "built\n"
    assert "toml" in distributions_of(small.interpreter_of(READER))


def test_a_builder_that_finds_all_in_the_cache_does_not_wait_for_a_download(
    small: ActorProject, uv_cache: pathlib.Path
) -> None:
    ensure_environment(small, READER, report=lambda line: None)
    with locked(uv_cache / DOWNLOADS_LOCK, lambda line: None) as lock:
        lock.note("downloading for something else")
        outcome = ensure_environment(small, "small.actors.MarkupWriter", report=lambda line: None)
    assert outcome.action is Action.BUILT


def test_a_full_cache_needs_no_network(small: ActorProject, monkeypatch: pytest.MonkeyPatch) -> None:
    ensure_environment(small, READER, report=lambda line: None)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    outcome = ensure_environment(small, "small.actors.MarkupWriter", report=lambda line: None)
    assert outcome.action is Action.BUILT and "toml" in distributions_of(outcome.python)
    monkeypatch.setenv("UV_CACHE_DIR", str(small.environments / "empty-cache"))
    with pytest.raises(EnvironmentBuildError, match="the package index cannot be reached"):
        ensure_environment(small, COLOURFUL, report=lambda line: None)


def test_a_builder_that_is_killed_while_it_downloads_gives_the_lock_back(
    small: ActorProject, empty_cache: pathlib.Path
) -> None:
    builder = builder_process.start(small, READER)
    lines_until("installing third-party", builder)
    builder.kill()
    builder.communicate()
    assert ensure_environment(small, COLOURFUL, report=lambda line: None).action is Action.BUILT
    assert ensure_environment(small, READER, report=lambda line: None).action is Action.BUILT


def test_the_cache_is_where_uv_says_with_and_without_a_variable(
    empty_cache: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv = uv_command.find_uv()
    assert uv_command.cache_of(uv) == empty_cache == pathlib.Path(said_by(uv))
    monkeypatch.delenv("UV_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert uv_command.cache_of(uv) == tmp_path / "elsewhere" / "uv" == pathlib.Path(said_by(uv))


def said_by(uv: str) -> str:
    return subprocess.run([uv, "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()
