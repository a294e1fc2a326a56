"""Supervises an external Dynamo server."""

import ray

from nemo_rl.models.interfaces import WorkerInterface


class DynamoVllmWorkerImpl(WorkerInterface):
    """Supervises an external Dynamo server."""

    def is_alive(self) -> bool:
        """Not written yet."""
        raise NotImplementedError

    def shutdown(self) -> None:
        """Not written yet."""
        raise NotImplementedError


@ray.remote
class DynamoVllmWorker(DynamoVllmWorkerImpl):
    """Supervises an external Dynamo server."""
