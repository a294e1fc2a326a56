"""Rollouts made in the background, while the trainer trains on earlier ones."""

import dataclasses
import threading
from collections.abc import Sequence
from typing import Any, ClassVar

import ray
from ray.actor import ActorHandle

from nemo_rl.algorithms.replay_buffer import ReplayBufferImpl
from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.environments.interfaces import MessageLog, check_batch
from nemo_rl.experience.remote import Environment, GenerationWorker, as_environment, as_generation
from nemo_rl.experience.rollout import Rollout, run_rollouts
from nemo_rl.models.interfaces import SamplingParameters


class CollectorError(RuntimeError):
    """The collector has failed, or is asked for something that its state does not allow."""


@dataclasses.dataclass(frozen=True)
class CollectorConfig:
    """How rollouts are collected.

    Attributes:
        batch_size: conversations in one call of the generation worker, at least 1.
        sampling: of the model.
        max_turns: of a conversation, at least 1.
        poll_seconds: how often a full buffer is asked again.
        epochs: how often the prompts are gone through; ``None`` until :meth:`AsyncTrajectoryCollectorImpl.stop`.

    Raises:
        ValueError: a value is outside its range.
    """

    batch_size: int
    sampling: SamplingParameters
    max_turns: int = 1
    poll_seconds: float = 0.1
    epochs: int | None = 1

    def __post_init__(self) -> None:
        for name in ("batch_size", "max_turns"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.poll_seconds <= 0:
            raise ValueError(f"poll_seconds must be positive, got {self.poll_seconds}")
        if self.epochs is not None and self.epochs < 1:
            raise ValueError(f"epochs must be at least 1, or None for no end, got {self.epochs}")


@dataclasses.dataclass(frozen=True)
class CollectorStatus:
    """Where a collector stands.

    Attributes:
        collected: rollouts that the buffer has taken.
        held: rollouts that wait for room in the buffer.
        paused: no new batch is begun.
        running: there is more to do, and the collector has not been stopped.
    """

    collected: int
    held: int
    paused: bool
    running: bool


class AsyncTrajectoryCollectorImpl:
    """Fills a buffer from a generation worker and an environment, in a thread of its own. The plain class of the actor.

    A full buffer holds the collector up: it keeps the rollouts that it has and makes no more. While it is paused no
    generation is under way, so weights can change. When the worker, the environment or the buffer fails, the collector
    stops and every later call raises :class:`CollectorError` from that failure.

    Args:
        cfg: how to collect.
        generation: the worker that writes, or its actor.
        environment: the environment that judges, or its actor.
        buffer: the buffer to fill, or its actor.
    """

    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.VLLM

    def __init__(
        self,
        cfg: CollectorConfig,
        generation: GenerationWorker,
        environment: Environment,
        buffer: "ReplayBufferImpl | ActorHandle[Any]",
    ) -> None:
        self.cfg = cfg
        self.generation = as_generation(generation)
        self.environment = as_environment(environment)
        self.buffer = buffer
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._paused = False
        self._stopping = False
        self._generating = False
        self._collected = 0
        self._held = 0

    def start(self, message_log_batch: Sequence[MessageLog], metadata: Sequence[Any]) -> None:
        """Begin to collect, one rollout for each prompt and epoch, in order.

        Args:
            message_log_batch: ``[N]`` prompts, at least one.
            metadata: ``[N]`` what the data set says about each.

        Raises:
            ValueError: no prompt, unequal lengths, or a prompt without a message.
            CollectorError: it was started before.
        """
        prompts, items = [list(log) for log in message_log_batch], list(metadata)
        check_batch(prompts, items)
        if self._thread is not None:
            raise CollectorError("the collector was started before; launch a new one for other prompts")
        self._thread = threading.Thread(target=self._run, args=(prompts, items), daemon=True)
        self._thread.start()

    def pause(self, timeout_seconds: float | None = None) -> None:
        """Begin no new batch, and return when no generation is under way any more.

        Raises:
            TimeoutError: a generation goes on for longer; the collector stays paused.
            CollectorError: it has failed.
        """
        with self._changed:
            self._paused = True
            done = self._changed.wait_for(lambda: not self._generating, timeout_seconds)
        self._raise_failure()
        if not done:
            raise TimeoutError(f"a generation is still under way after {timeout_seconds} s; the collector stays paused")

    def resume(self) -> None:
        """Go on after :meth:`pause`.

        Raises:
            CollectorError: it has failed.
        """
        with self._changed:
            self._paused = False
            self._changed.notify_all()
        self._raise_failure()

    def status(self) -> CollectorStatus:
        """Where it stands.

        Raises:
            CollectorError: it has failed.
        """
        self._raise_failure()
        with self._changed:
            running = self._thread is not None and self._thread.is_alive() and not self._stopping
            return CollectorStatus(self._collected, self._held, self._paused, running)

    def wait(self, timeout_seconds: float | None = None) -> CollectorStatus:
        """Return when all prompts are collected.

        Raises:
            TimeoutError: it takes longer.
            CollectorError: it has failed, or was not started.
        """
        if self._thread is None:
            raise CollectorError("the collector was not started; call start() first")
        self._thread.join(timeout_seconds)
        if self._thread.is_alive():
            raise TimeoutError(f"the collector is not done after {timeout_seconds} s: {self.status()}")
        return self.status()

    def stop(self) -> None:
        """End it after the batch under way. A second call is fine; what the buffer has not taken is dropped."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise CollectorError(f"collecting failed: {self._failure}") from self._failure

    def _run(self, prompts: list[MessageLog], items: list[Any]) -> None:
        try:
            epoch = 0
            while self.cfg.epochs is None or epoch < self.cfg.epochs:
                for begin in range(0, len(prompts), self.cfg.batch_size):
                    if not self._may_generate():
                        return
                    end = begin + self.cfg.batch_size
                    rollouts = self._generate(prompts[begin:end], items[begin:end])
                    if not self._hand_over(rollouts):
                        return
                epoch += 1
        except Exception as failure:
            # Not swallowed: every later call raises it.
            with self._changed:
                self._failure = failure
        finally:
            with self._changed:
                self._generating = False
                self._changed.notify_all()

    def _may_generate(self) -> bool:
        """Wait while paused; false when the collector is to stop. Marks the generation as under way."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopping or not self._paused)
            self._generating = not self._stopping
            return self._generating

    def _generate(self, prompts: list[MessageLog], items: list[Any]) -> list[Rollout]:
        answer = run_rollouts(self.generation, self.environment, prompts, items, self.cfg.sampling, self.cfg.max_turns)
        with self._changed:
            self._generating = False
            self._held = len(answer.rollouts)
            self._changed.notify_all()
        return answer.rollouts

    def _hand_over(self, rollouts: list[Rollout]) -> bool:
        """Bring rollouts to the buffer until it has taken them all; false when the collector is to stop first."""
        while True:
            taken = len(self._add(rollouts))
            rollouts = rollouts[taken:]
            with self._changed:
                self._collected += taken
                self._held = len(rollouts)
                if not rollouts:
                    return True
                if self._changed.wait_for(lambda: self._stopping, self.cfg.poll_seconds):
                    return False

    def _add(self, rollouts: list[Rollout]) -> list[int]:
        if isinstance(self.buffer, ActorHandle):
            tickets: list[int] = ray.get(self.buffer.add.remote(rollouts))
            return tickets
        return self.buffer.add(rollouts)


AsyncTrajectoryCollector = ray.remote(num_cpus=1)(AsyncTrajectoryCollectorImpl)
"""The Ray actor of :class:`AsyncTrajectoryCollectorImpl`."""
