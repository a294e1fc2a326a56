"""One image of this project, built once for all tests that look into it."""

import pathlib

import pytest

from tests.image.contexts import SKIPPED, make_context
from tests.image.engines import Engine, find_engine

RELEASE = "nemo-rl-test"
DEPENDENCIES = "nemo-rl-test-trtllm"


@pytest.fixture(scope="session")
def engine() -> Engine:
    return find_engine()


@pytest.fixture
def context(tmp_path: pathlib.Path) -> pathlib.Path:
    """A build context of its own, to be changed."""
    return make_context(tmp_path)


@pytest.fixture(scope="session")
def images(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Tags of the image, and of its last stage without the project, every heavy extra skipped."""
    folder = make_context(tmp_path_factory.mktemp("context"))
    for target, tag in (("trtllm", DEPENDENCIES), ("release", RELEASE)):
        built = engine.build(folder, tag, SKIPPED, target)
        assert built.returncode == 0, built.stdout[-5000:]
    return RELEASE, DEPENDENCIES


@pytest.fixture(scope="session")
def release(images: tuple[str, str]) -> str:
    return images[0]


@pytest.fixture(scope="session")
def dependencies(images: tuple[str, str]) -> str:
    return images[1]
