"""A generation worker whose engine is a Dynamo server: a program of its own, outside of this environment."""

import dataclasses
from collections.abc import Sequence

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.environments.interfaces import MessageLog
from nemo_rl.models.generation.dynamo.chat_client import ChatClient
from nemo_rl.models.generation.dynamo.server import RestartPolicy, ServerStatus, SupervisedServer
from nemo_rl.models.interfaces import GenerationInterface, GenerationReturn, SamplingParameters
from nemo_rl.utils.process_supervisor import Order

CHECKPOINT = "{checkpoint}"


class ServerFailed(RuntimeError):
    """The server is not there and will not come back by itself; the message has the reason and the log's path."""


@dataclasses.dataclass(frozen=True)
class DynamoConfig:
    """Configuration of :class:`DynamoVllmWorkerImpl`.

    Attributes:
        command: absolute path of a program, and arguments; ``{checkpoint}`` in one is replaced.
        environment: all environment variables of the server, such as ``PATH`` and ``CUDA_VISIBLE_DEVICES``.
        folder: its working directory.
        log: file to which its output is appended.
        base_url: where it listens, without a path.
        model: name under which it serves the model.
        checkpoint: what ``{checkpoint}`` stands for at the start.
        health_path: answered with a status of 200 to 299 when the server can take requests.
        health_time_limit: seconds for one health check.
        request_time_limit: seconds for one conversation.
        concurrency: conversations that are sent at the same time.
        restart_policy: when and how often the server is started anew.
    """

    command: tuple[str, ...]
    environment: dict[str, str]
    folder: str
    log: str
    base_url: str
    model: str
    checkpoint: str = ""
    health_path: str = "/health"
    health_time_limit: float = 5.0
    request_time_limit: float = 600.0
    concurrency: int = 64
    restart_policy: RestartPolicy = dataclasses.field(default_factory=RestartPolicy)

    def __post_init__(self) -> None:
        if not self.command or not self.command[0].startswith("/"):
            raise ValueError(f"the command has to begin with the absolute path of a program, got {self.command}")
        if not self.base_url.startswith(("http://", "https://")):
            raise ValueError(f"base_url has to begin with http:// or https://, got {self.base_url!r}")
        if self.concurrency < 1:
            raise ValueError(f"concurrency has to be positive, got {self.concurrency}")


class DynamoVllmWorkerImpl(GenerationInterface):
    """Supervises a Dynamo server and generates with it over HTTP.

    The server ends, with all of its descendants, at :meth:`shutdown` and with the actor, even when that is killed.
    It is restarted as :class:`RestartPolicy` says. The supervision runs here against small HTTP servers; a real Dynamo
    server, which needs a GPU, was never run with it.
    """

    DEFAULT_PY_EXECUTABLE = PY_EXECUTABLES.SYSTEM

    def __init__(self, cfg: DynamoConfig) -> None:
        self.cfg = cfg
        self._client = ChatClient(
            cfg.base_url, cfg.model, time_limit=cfg.request_time_limit, concurrency=cfg.concurrency
        )
        self._weight_version = 0
        self._server = self._new_server(cfg.checkpoint)

    def start(self) -> None:
        """Start the server and wait until it is healthy.

        Raises:
            ServerFailed: it did not become healthy, restarts included.
            RuntimeError: it was started before.
        """
        self._server.start()
        self._wait_until_healthy()

    def status(self) -> ServerStatus:
        """What the supervision knows."""
        return self._server.status

    def is_alive(self) -> bool:
        """Whether the server is healthy now, by a check of this moment."""
        return self._server.status.state in ("healthy", "unhealthy") and self._is_healthy()

    def generate(self, message_log_batch: Sequence[MessageLog], sampling: SamplingParameters) -> GenerationReturn:
        """See :meth:`GenerationInterface.generate`; waits while the server is being restarted.

        The interface of the server tells no token ids, so ``token_ids`` are empty.

        Raises:
            ValueError: as there.
            ServerFailed: the server is stopped, or no restart is left.
            ServerError: a request failed.
        """
        if not message_log_batch:
            raise ValueError("the batch is empty: generate() needs at least one conversation")
        self._wait_until_healthy()
        return self._client.complete(message_log_batch, sampling, self._weight_version)

    def update_weights(self, checkpoint_path: str, weight_version: int) -> None:
        """Restart the server with another checkpoint and wait until it is healthy.

        Raises:
            ValueError: no argument of the command contains ``{checkpoint}``.
            ServerFailed: the server did not become healthy with it.
        """
        if not any(CHECKPOINT in argument for argument in self.cfg.command):
            raise ValueError(f"no argument of the server's command contains {CHECKPOINT}: {self.cfg.command}")
        self._server.stop()
        self._server = self._new_server(checkpoint_path)
        self._server.start()
        self._wait_until_healthy()
        self._weight_version = weight_version

    def shutdown(self) -> None:
        """End the server and wait until nothing of it is left."""
        self._server.stop()

    def _is_healthy(self) -> bool:
        return self._client.is_healthy(self.cfg.health_path, self.cfg.health_time_limit)

    def _new_server(self, checkpoint: str) -> SupervisedServer:
        order = Order(
            command=[argument.replace(CHECKPOINT, checkpoint) for argument in self.cfg.command],
            environment=self.cfg.environment,
            folder=self.cfg.folder,
            log=self.cfg.log,
            grace=self.cfg.restart_policy.grace,
        )
        return SupervisedServer(order, self.cfg.restart_policy, self._is_healthy)

    def _wait_until_healthy(self) -> None:
        status = self._server.wait_until_healthy()
        if status.state != "healthy":
            reason = status.last_failure or "it was not started, or was shut down"
            raise ServerFailed(
                f"the server {self.cfg.command[0]} is {status.state}: {reason}; its log is {self.cfg.log}"
            )


@ray.remote
class DynamoVllmWorker(DynamoVllmWorkerImpl):
    """:class:`DynamoVllmWorkerImpl` as a Ray actor."""
