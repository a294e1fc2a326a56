"""The life cycle that every owner of an engine shares.

An *engine* is one object of a library that the actor's own environment provides: a vLLM ``LLM``, a model with its
optimizer. The owner builds it in the actor's process, offers typed methods that use it, and releases it. This module
imports no library of any engine, so every environment can have it.
"""

import abc
import ctypes
import dataclasses
import enum
import importlib.util
import sys
from typing import ClassVar, Generic, TypeVar

from nemo_rl.models.interfaces import WorkerInterface

EngineT = TypeVar("EngineT")


class EngineError(RuntimeError):
    """An engine cannot be built here, or is used while there is none."""


class EngineState(enum.Enum):
    """Where an owner stands; it goes downwards only, but from ``FAILED`` a new attempt is allowed."""

    NEW = "new"
    FAILED = "failed"
    RUNNING = "running"
    STOPPED = "stopped"


@dataclasses.dataclass(frozen=True)
class EngineRequirements:
    """What an engine needs around it.

    Attributes:
        packages: import names that have to be importable, e.g. ``"megatron.bridge"``.
        extras: the project's extras that provide them.
        cuda_devices: number of CUDA devices that the process has to see; 0 for an engine that also runs on a CPU.
    """

    packages: tuple[str, ...]
    extras: tuple[str, ...]
    cuda_devices: int


def cuda_device_count() -> int:
    """Number of CUDA devices that this process may use, asked from the driver itself, without torch.

    Returns:
        0 where there is no driver, no device, or ``CUDA_VISIBLE_DEVICES`` hides them all.
    """
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


def is_importable(name: str) -> bool:
    """Whether a module can be found, without running it (only the packages above a dotted name are imported)."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


class EngineOwner(WorkerInterface, abc.ABC, Generic[EngineT]):
    """Owns one engine: builds it once, hands it to the methods of the subclass, releases it once.

    A subclass names its ``REQUIREMENTS``, implements :meth:`build_engine` and :meth:`release_engine`, and offers
    methods that work on :attr:`engine`. The constructor only keeps the configuration; :meth:`start` builds.
    """

    REQUIREMENTS: ClassVar[EngineRequirements]

    def __init__(self) -> None:
        self._engine: EngineT | None = None
        self._state = EngineState.NEW

    @abc.abstractmethod
    def build_engine(self) -> EngineT:
        """Build the engine; called by :meth:`start` when everything that it requires is there."""

    @abc.abstractmethod
    def release_engine(self, engine: EngineT) -> None:
        """Free the devices and processes of the engine; called once, by :meth:`shutdown`."""

    def required_cuda_devices(self) -> int:
        """Number of CUDA devices that this configuration needs; a subclass that also runs on a CPU overrides it."""
        return self.REQUIREMENTS.cuda_devices

    def missing_requirements(self) -> list[str]:
        """Everything that the engine needs and this process lacks, one phrase each; empty when it can be built."""
        missing = [f"the package '{name}'" for name in self.REQUIREMENTS.packages if not is_importable(name)]
        wanted, found = self.required_cuda_devices(), cuda_device_count()
        if found < wanted:
            missing.append(f"{wanted} CUDA device(s), of which this process sees {found}")
        return missing

    def start(self) -> None:
        """Build the engine. Does nothing when it is running.

        Raises:
            EngineError: something that the engine requires is missing (all of it is named), its library cannot be
                imported, or the owner was shut down.
        """
        if self._state is EngineState.RUNNING:
            return
        if self._state is EngineState.STOPPED:
            raise EngineError(f"{type(self).__name__} was shut down; launch a new actor instead of starting it again")
        missing = self.missing_requirements()
        if missing:
            self._state = EngineState.FAILED
            verb = "is" if len(missing) == 1 else "are"
            raise EngineError(self._cannot_build(f"{' and '.join(missing)} {verb} missing"))
        try:
            self._engine = self.build_engine()
        except ImportError as error:
            self._state = EngineState.FAILED
            raise EngineError(self._cannot_build(f"an import failed: {error}")) from error
        except BaseException:
            self._state = EngineState.FAILED
            raise
        self._state = EngineState.RUNNING

    def _cannot_build(self, reason: str) -> str:
        extras = " ".join(f"--extra {extra}" for extra in self.REQUIREMENTS.extras)
        devices = self.required_cuda_devices()
        return (
            f"{type(self).__name__} cannot build its engine: {reason}.\n"
            f"    it needs: {', '.join(self.REQUIREMENTS.packages)}"
            + (f", and {devices} CUDA device(s)" if devices else "")
            + f"\n    its environment: uv run --locked {extras}; this interpreter: {sys.executable}\n"
            "    launch the actor through the registry, which gives it this environment, on a node that has the devices"
        )

    @property
    def engine(self) -> EngineT:
        """The running engine.

        Raises:
            EngineError: it was not started, could not be built, or was shut down.
        """
        if self._engine is None:
            raise EngineError(f"{type(self).__name__} has no engine (state: {self._state.value}); call start() first")
        return self._engine

    def state(self) -> str:
        """Where the engine stands: ``new``, ``failed``, ``running`` or ``stopped``."""
        return self._state.value

    def is_alive(self) -> bool:
        """Whether the engine is built and not shut down."""
        return self._state is EngineState.RUNNING

    def rebuild(self) -> None:
        """Release the running engine and build it anew, for engines that cannot change what they were built with.

        Raises:
            EngineError: no engine is running. Whatever building raises is passed on; the owner has failed then.
        """
        engine = self.engine
        self._engine, self._state = None, EngineState.FAILED
        self.release_engine(engine)
        self.start()

    def shutdown(self) -> None:
        """Release the engine. Does nothing when there is none; a second call is fine.

        Whatever :meth:`release_engine` raises is passed on, and the owner counts as stopped all the same.
        """
        engine, self._engine, self._state = self._engine, None, EngineState.STOPPED
        if engine is not None:
            self.release_engine(engine)
