"""The life cycle of engines: built once, released once, and a first error that names everything that is missing."""

import sqlite3
import sys

import pytest
import ray

from nemo_rl.models.engine_owner import EngineError, EngineOwner, EngineRequirements, cuda_device_count, is_importable


class DatabaseOwner(EngineOwner[sqlite3.Connection]):
    """Owns an engine that every Python has."""

    REQUIREMENTS = EngineRequirements(packages=("sqlite3",), extras=("nothing",), cuda_devices=0)

    def __init__(self, path: str = ":memory:") -> None:
        super().__init__()
        self.path = path
        self.built = self.released = 0

    def build_engine(self) -> sqlite3.Connection:
        self.built += 1
        return sqlite3.connect(self.path)

    def release_engine(self, engine: sqlite3.Connection) -> None:
        self.released += 1
        engine.close()


class HungryOwner(DatabaseOwner):
    """Needs what no machine has."""

    REQUIREMENTS = EngineRequirements(
        packages=("sqlite3", "no_such_engine", "no.such.bridge"), extras=("first", "second"), cuda_devices=1000
    )


def test_an_engine_is_built_once_and_released_once() -> None:
    owner = DatabaseOwner()
    assert (owner.state(), owner.is_alive(), owner.built) == ("new", False, 0)
    owner.start()
    owner.start()
    assert (owner.state(), owner.is_alive(), owner.built) == ("running", True, 1)
    assert owner.engine.execute("select 1").fetchone() == (1,)
    owner.shutdown()
    owner.shutdown()
    assert (owner.state(), owner.is_alive(), owner.released) == ("stopped", False, 1)


def test_no_engine_before_start_and_none_after_shutdown() -> None:
    owner = DatabaseOwner()
    with pytest.raises(EngineError, match=r"DatabaseOwner has no engine \(state: new\); call start\(\) first"):
        _ = owner.engine
    owner.shutdown()
    assert owner.released == 0
    with pytest.raises(EngineError, match="was shut down; launch a new actor"):
        owner.start()


def test_the_first_error_names_everything_that_is_missing() -> None:
    owner = HungryOwner()
    with pytest.raises(EngineError) as caught:
        owner.start()
    message = str(caught.value)
    assert "the package 'no_such_engine' and the package 'no.such.bridge' and 1000 CUDA device(s)" in message
    assert f"this process sees {cuda_device_count()}" in message
    assert "uv run --locked --extra first --extra second" in message
    assert sys.executable in message
    assert "'sqlite3'" not in message, "what is there is not missing"
    assert (owner.built, owner.state()) == (0, "failed")


def test_a_failed_start_may_be_tried_again(tmp_path) -> None:  # type: ignore[no-untyped-def]
    owner = DatabaseOwner(str(tmp_path / "folder" / "file"))
    with pytest.raises(sqlite3.OperationalError):
        owner.start()
    assert owner.state() == "failed"
    (tmp_path / "folder").mkdir()
    owner.start()
    assert owner.is_alive()
    owner.shutdown()


def test_an_import_that_breaks_inside_the_library_is_explained() -> None:
    class Broken(DatabaseOwner):
        def build_engine(self) -> sqlite3.Connection:
            raise ImportError("libcudart.so.13: cannot open shared object file")

    with pytest.raises(EngineError, match=r"an import failed: libcudart\.so\.13") as caught:
        Broken().start()
    assert isinstance(caught.value.__cause__, ImportError)


def test_an_owner_counts_as_stopped_even_where_releasing_fails() -> None:
    class Sticky(DatabaseOwner):
        def release_engine(self, engine: sqlite3.Connection) -> None:
            raise RuntimeError("the device hangs")

    owner = Sticky()
    owner.start()
    with pytest.raises(RuntimeError, match="the device hangs"):
        owner.shutdown()
    assert owner.state() == "stopped"
    owner.shutdown()


def test_rebuilding_releases_before_it_builds() -> None:
    owner = DatabaseOwner()
    with pytest.raises(EngineError, match="has no engine"):
        owner.rebuild()
    owner.start()
    first = owner.engine
    owner.rebuild()
    assert owner.engine is not first
    assert (owner.built, owner.released, owner.state()) == (2, 1, "running")
    owner.shutdown()


def test_a_rebuild_that_fails_leaves_a_failed_owner(tmp_path) -> None:  # type: ignore[no-untyped-def]
    owner = DatabaseOwner()
    owner.start()
    owner.path = str(tmp_path / "missing" / "file")
    with pytest.raises(sqlite3.OperationalError):
        owner.rebuild()
    assert (owner.state(), owner.is_alive()) == ("failed", False)


def test_importable_does_not_run_the_module() -> None:
    assert is_importable("antigravity")
    assert "antigravity" not in sys.modules
    assert not is_importable("no_such_package.module")


@pytest.mark.xdist_group("ray")
def test_an_actor_raises_the_same_first_error(ray_cluster: None) -> None:
    from nemo_rl.models.generation.vllm.vllm_worker import VllmConfig, VllmGenerationWorker

    if is_importable("vllm") and cuda_device_count() > 0:
        pytest.skip("here the engine would really be built")
    actor = VllmGenerationWorker.options(num_cpus=0).remote(VllmConfig("nowhere"))
    assert ray.get(actor.is_alive.remote()) is False
    with pytest.raises(EngineError, match="VllmGenerationWorker cannot build its engine"):
        ray.get(actor.start.remote())
    assert ray.get(actor.state.remote()) == "failed"
    ray.get(actor.shutdown.remote())
