"""mutmut as it is installed, run as a process over a copy of the project; what it says when it gives up, as errors."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path

from pytest_actor_envs.gate.mutmut_configuration import read_configuration
from pytest_actor_envs.gate.reach_recorder import FAILURES
from pytest_actor_envs.gate.workers import processors
from pytest_actor_envs.model import ConfigurationError

PROGRESS = re.compile(rb"(\d+)/(\d+)  \S+ \d+")
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "node_modules")
NOT_COPIED_AT_ROOT = frozenset({"mutants", "venvs", "build", "dist"})
LINES_OF_OUTPUT = 25
UTF_8 = {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}
"""mutmut writes signs that other encodings lack, and reads Python files as if they were in that of the locale."""
SECONDS_BETWEEN_LOOKS = 0.05
SECONDS_TO_END = 5.0
"""Seconds that processes have to end by themselves."""
SECONDS_WITHOUT_MUTMUT = 300.0
"""What the tests get that are run once more because mutmut does not say why they fail."""
Progress = Callable[[int, int], None]


class MutmutMissing(Exception):
    """mutmut is not installed beside this interpreter."""


class SuiteNotCollected(Exception):
    """pytest cannot collect the tests that are to kill; the argument is what it says."""


class SuiteFails(Exception):
    """The tests that are to kill fail without any mutant; the argument is what they say."""


class MutantNotFound(Exception):
    """No code mutant has the name that was asked for."""


class MutmutFailed(Exception):
    """mutmut ended without a result; the argument is the end of its output."""


def mutmut_command() -> str:
    """The program beside the running interpreter, else on PATH. Raises MutmutMissing."""
    beside = Path(sys.executable).with_name("mutmut")
    found = str(beside) if beside.exists() else shutil.which("mutmut")
    if found is None:
        raise MutmutMissing("mutmut is not installed, so no code mutant can be made\n    pip install mutmut==3.8.1")
    return found


def copied(root: Path, folder: Path) -> Path:
    """A copy of the project in `folder`, which may be in it, without what is `left_out`; whoever has it may write there.

    Raises ConfigurationError.
    """

    def ignored(at: str, names: list[str]) -> set[str]:
        return left_out(root, at, names) | {name for name in names if not _is_copied(Path(at, name), folder)}

    try:
        copy = Path(shutil.copytree(root, folder / "project", ignore=ignored, symlinks=True))
        for path in (copy, *copy.rglob("*")):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o700 if path.is_dir() else 0o600))
    except OSError as error:
        # copytree gives the reasons of all files that it could not copy, in one error.
        why = error.args[0][0][2] if isinstance(error, shutil.Error) else str(error)
        raise ConfigurationError(
            f"gate: the project cannot be copied for mutmut to work on: {why}\n"
            "    let it be read; TMPDIR names where copies go"
        ) from None
    return copy


def _is_copied(path: Path, folder: Path) -> bool:
    """Whether something can be in a copy: pipes and sockets cannot, nor the folder that the copy itself is in."""
    return path.is_symlink() or path.is_file() or (path.is_dir() and path.resolve() != folder.resolve())


def children() -> int:
    """How many mutants mutmut looks at at once: one a core, and one that starts while another is taken note of."""
    return processors() + 1


def left_out(root: Path, at: str, names: Sequence[str]) -> set[str]:
    """Those of the `names` in the folder `at` that are not copied: hidden ones, and what is made from other files.

    Some are left out of the project's `root` only, since below it they may be packages.
    """
    more = NOT_COPIED_AT_ROOT.intersection(names) if Path(at) == root else set()
    return NOT_COPIED(at, list(names)) | more


def run_mutmut(folder: Path, names: Sequence[str], variables: Mapping[str, str], progress: Progress) -> None:
    """Runs mutmut in a copy of the project until it ends; its results then stand in `folder`/mutants.

    A KeyboardInterrupt ends mutmut with all its processes. Raises MutmutMissing, SuiteNotCollected,
    SuiteFails, MutantNotFound, MutmutFailed.
    """
    with started_mutmut(folder, names, variables) as running:
        running.follow(progress)


@contextlib.contextmanager
def started_mutmut(
    folder: Path, names: Sequence[str], variables: Mapping[str, str], at_once: int | None = None
) -> Generator[RunningMutmut, None, None]:
    """mutmut at work in a copy of the project, on so many mutants `at_once`, `children()` if nothing is said.

    At the end it is ended with all its processes. Raises MutmutMissing.
    """
    environment = {name: value for name, value in os.environ.items() if name != "MUTANT_UNDER_TEST"}
    with tempfile.TemporaryFile() as output:  # a pipe would be full, and mutmut wait, while nobody reads
        child = subprocess.Popen(
            [mutmut_command(), "run", "--max-children", str(at_once or children()), *names],
            cwd=folder,
            env={**environment, **UTF_8, **variables},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,  # so that its server and children can be ended with it
        )
        running = RunningMutmut(folder, child, output.fileno())
        try:
            yield running
        finally:
            running.end()


class RunningMutmut:
    """mutmut at work in `folder`, and what it writes to a file."""

    def __init__(self, folder: Path, child: subprocess.Popen[bytes], output: int) -> None:
        self._folder = folder
        self._child = child
        self._output = output

    def follow(self, progress: Progress) -> None:
        """Waits until mutmut ends, and says how far it is. Raises what `run_mutmut` does."""
        kept: list[bytes] = []
        for line in self._lines():
            match = PROGRESS.search(line)
            if match:
                progress(int(match[1]), int(match[2]))
            elif line.strip() and (not kept or line[-20:] != kept[-1][-20:]):
                kept.append(line)
        if self._child.wait() != 0:
            raise _error(self._folder, "\n".join(line.decode(errors="replace") for line in kept[-LINES_OF_OUTPUT:]))

    def _lines(self) -> Iterator[bytes]:
        """What mutmut writes, until it has ended."""
        rest, position = b"", 0
        while True:
            has_ended = self._child.poll() is not None
            while chunk := os.pread(self._output, 1 << 16, position):
                position += len(chunk)
                *lines, rest = re.split(rb"[\r\n]", rest + chunk)
                yield from lines
            if has_ended:
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(SECONDS_BETWEEN_LOOKS)
        yield rest

    def end(self) -> None:
        """Ends mutmut with all its processes, those that are left."""
        end_group(self._child)


def end_group(child: subprocess.Popen[bytes]) -> None:
    """Ends the processes that are left of the group that a child leads, and waits: none may write into the copy later."""
    if not _has_processes(child):
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        until = time.monotonic() + SECONDS_TO_END
        while _has_processes(child) and time.monotonic() < until:
            time.sleep(0.02)


def run_to_end(
    command: Sequence[str], folder: Path, seconds: float | None = None
) -> subprocess.CompletedProcess[bytes]:
    """What a command says and ends with; none of its processes is left, whatever ends it.

    Raises subprocess.TimeoutExpired where it goes on for more than so many `seconds`; without them it may.
    """
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,  # so that what it starts can be ended with it
    ) as child:
        try:
            out, err = child.communicate(timeout=seconds)
        finally:
            end_group(child)
    return subprocess.CompletedProcess(command, child.returncode, out, err)


def _has_processes(child: subprocess.Popen[bytes]) -> bool:
    child.poll()  # one that has ended counts until somebody asks for its status
    try:
        os.killpg(child.pid, 0)
    except ProcessLookupError:
        return False
    return True


def _error(folder: Path, output: str) -> Exception:
    if "Filtered for specific mutants" in output:
        return MutantNotFound("no code mutant has that name\n    all names: mutmut results --all true")
    if "collect stats" in output or "clean test" in output or "BadTestExecution" in output or "any test case" in output:
        return _suite_error(folder, output)
    return MutmutFailed(f"mutmut ended without a result:\n{output}")


def _suite_error(folder: Path, output: str) -> Exception:
    """What the plugin of mutmut's first run wrote down, else what one more run of the tests as they are says."""
    failures = folder / "mutants" / FAILURES
    if failures.exists() and failures.stat().st_size:
        return SuiteFails(f"the tests that are to kill fail:\n{failures.read_bytes().decode()}")
    configuration = read_configuration(folder)
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", *configuration.arguments, *configuration.selection]
    try:
        collected = run_to_end([*command, "--collect-only"], folder, SECONDS_WITHOUT_MUTMUT)
        if collected.returncode != 0:
            return SuiteNotCollected(f"the tests that are to kill cannot be collected:\n{_end(collected)}")
        done = run_to_end(command, folder, SECONDS_WITHOUT_MUTMUT)
    except subprocess.TimeoutExpired as stuck:
        return MutmutFailed(
            f"mutmut ended without a result, and pytest without it did not end within {stuck.timeout:g} s:\n{output}\n"
            f"    find what does not end: {shlex.join(['python', *stuck.cmd[1:]])}"
        )
    if done.returncode != 0:
        return SuiteFails(f"the tests that are to kill fail:\n{_end(done)}")
    if "any test case" not in output:
        return MutmutFailed(f"mutmut ended without a result, and the tests pass without it:\n{output}")
    return SuiteFails(
        "the tests that are to kill pass, but none of them calls a function that is mutated\n"
        "    in [tool.mutmut], only_mutate names the files, pytest_add_cli_args_test_selection the tests:\n"
        f"{_end(done)}"
    )


def _end(done: subprocess.CompletedProcess[bytes]) -> str:
    return "\n".join((done.stdout + done.stderr).decode(errors="replace").strip().splitlines()[-LINES_OF_OUTPUT:])
