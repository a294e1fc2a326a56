"""One Ray cluster for all tests of actors; mark those tests ``@pytest.mark.xdist_group("ray")``."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[None]:
    """A local cluster of two CPUs, for actors on the interpreter that runs the tests."""
    import ray

    ray.init(
        address="local",  # never the cluster of another test process
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        configure_logging=False,
        object_store_memory=100 * 1024 * 1024,
    )
    yield
    ray.shutdown()
