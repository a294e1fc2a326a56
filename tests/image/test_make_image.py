"""Without an engine, make image and the tests of the image say what to do."""

import os
import pathlib
import subprocess

import pytest

from tests.image.engines import find_engine

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_ENGINE = "unix:///no/such/engine.sock"


def test_make_image_says_how_without_an_engine() -> None:
    environment = {**os.environ, "DOCKER_HOST": NO_ENGINE}
    run = subprocess.run(["make", "image"], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert run.returncode == 2
    assert "no Docker engine answers" in run.stderr
    assert "docs/docker.md, section 'Without an engine'" in run.stderr
    assert "## Without an engine" in (ROOT / "docs" / "docker.md").read_text(encoding="utf-8")


def test_image_tests_say_how_without_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", NO_ENGINE)
    monkeypatch.delenv("IMAGE_BUILDER", raising=False)
    with pytest.raises(RuntimeError, match="make test-image IMAGE_BUILDER=PATH"):
        find_engine()


def test_named_builder_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMAGE_BUILDER", "some-builder")
    assert find_engine().build_command == ["some-builder", "build"]
