"""Rollouts that wait for training, between the collector that fills the buffer and the trainer that empties it."""

import dataclasses
import threading
from collections.abc import Sequence
from typing import ClassVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.experience.rollout import Rollout


@dataclasses.dataclass(frozen=True)
class ReplayBufferConfig:
    """How much the buffer holds, and for how long.

    Attributes:
        capacity: rollouts, at least 1.
        max_weight_age: a rollout is used as long as its weights are at most so many versions older than the trainer's;
            0 allows the present version only.

    Raises:
        ValueError: a value is outside its range.
    """

    capacity: int
    max_weight_age: int = 1

    def __post_init__(self) -> None:
        if self.capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {self.capacity}")
        if self.max_weight_age < 0:
            raise ValueError(f"max_weight_age must not be negative, got {self.max_weight_age}")


@dataclasses.dataclass(frozen=True)
class Eviction:
    """A rollout that was thrown away unused, because its weights were too old.

    Attributes:
        ticket: the number that :meth:`ReplayBufferImpl.add` gave it.
        weight_version: of its oldest weights.
        age: versions between those and the trainer's.
        reward: what it had earned.
    """

    ticket: int
    weight_version: int
    age: int
    reward: float


@dataclasses.dataclass(frozen=True)
class Sample:
    """What :meth:`ReplayBufferImpl.sample` found.

    Attributes:
        rollouts: as many as asked for, oldest weights first; none when there were not enough.
        available: number of usable rollouts before any was taken.
        evicted: what this call threw away.
    """

    rollouts: list[Rollout]
    available: int
    evicted: list[Eviction]


class ReplayBufferImpl:
    """A bounded buffer of rollouts that hands out those of the oldest weights that are still young enough.

    Nothing fresh is ever pushed out by something fresher: a full buffer takes no more, and whoever fills it waits.
    Rollouts whose weights have become too old are thrown away, and every one of them is reported. Threads may share it.
    The plain class of the actor.
    """

    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.VLLM

    def __init__(self, cfg: ReplayBufferConfig) -> None:
        self.cfg = cfg
        self._lock = threading.RLock()
        self._waiting: dict[int, Rollout] = {}
        self._next_ticket = 0

    def add(self, rollouts: Sequence[Rollout]) -> list[int]:
        """Take as many of the rollouts as there is room for, from the front.

        Args:
            rollouts: at least one.

        Returns:
            One ticket, a growing number, for each rollout that was taken; shorter than ``rollouts`` when the buffer is
            full. The rest is the caller's to bring again.

        Raises:
            ValueError: no rollout.
        """
        if not rollouts:
            raise ValueError("add() needs at least one rollout")
        with self._lock:
            accepted = rollouts[: self.free_space()]
            tickets = list(range(self._next_ticket, self._next_ticket + len(accepted)))
            self._waiting.update(zip(tickets, accepted, strict=True))
            self._next_ticket += len(accepted)
        return tickets

    def sample(self, count: int, weight_version: int) -> Sample:
        """Take rollouts out, those with the oldest weights first, in order of arrival where the weights are equal.

        Args:
            count: how many, at least 1 and at most the capacity.
            weight_version: of the trainer.

        Returns:
            All ``count`` of them or none at all, so that a batch is never short.

        Raises:
            ValueError: ``count`` can never be met, or a rollout comes from weights newer than the trainer's.
        """
        if not 1 <= count <= self.cfg.capacity:
            raise ValueError(f"count must be between 1 and the capacity {self.cfg.capacity}, got {count}")
        with self._lock:
            evicted = self.evict(weight_version)
            order = sorted(self._waiting, key=lambda ticket: (self._waiting[ticket].weight_version, ticket))
            available = len(order)
            taken = order[:count] if available >= count else []
            return Sample([self._waiting.pop(ticket) for ticket in taken], available, evicted)

    def evict(self, weight_version: int) -> list[Eviction]:
        """Throw away what is too old for a trainer of this version, and say what.

        Raises:
            ValueError: a rollout comes from weights newer than this version; nothing is thrown away then.
        """
        with self._lock:
            newest = max((rollout.weight_version for rollout in self._waiting.values()), default=weight_version)
            if newest > weight_version:
                raise ValueError(
                    f"the buffer holds a rollout of weight version {newest}, newer than {weight_version}: "
                    "pass the trainer's present version"
                )
            evicted = [
                Eviction(ticket, rollout.weight_version, weight_version - rollout.weight_version, rollout.reward)
                for ticket, rollout in self._waiting.items()
                if weight_version - rollout.weight_version > self.cfg.max_weight_age
            ]
            for eviction in evicted:
                del self._waiting[eviction.ticket]
            return evicted

    def free_space(self) -> int:
        """How many rollouts :meth:`add` would take now."""
        return self.cfg.capacity - len(self._waiting)

    def size(self) -> int:
        """How many rollouts wait, usable or not."""
        return len(self._waiting)


@ray.remote(num_cpus=1)
class ReplayBuffer(ReplayBufferImpl):
    """The Ray actor of :class:`ReplayBufferImpl`."""
