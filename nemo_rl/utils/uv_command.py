"""Running uv: which one, with which environment variables, and what to say when it fails."""

import collections
import functools
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence

from nemo_rl.utils.environment_errors import EnvironmentBuildError

KEPT_VARIABLES = re.compile(
    r"UV_(CACHE_DIR|CONFIG_FILE|CONCURRENT_\w+|CREDENTIALS_DIR|DEFAULT_INDEX|EXTRA_INDEX_URL|FIND_LINKS|HTTP_\w+"
    r"|INDEX|INDEX_\w+|INSECURE_HOST|KEYRING_PROVIDER|LOCK_TIMEOUT|NATIVE_TLS|OFFLINE|REQUEST_TIMEOUT|SYSTEM_CERTS)"
)
"""Variables of uv that say where packages come from and where they are cached. Every other one could change what is
installed, or where, behind the table's back."""

DROPPED_VARIABLES = re.compile(r"UV_\w+|VIRTUAL_ENV|CONDA_PREFIX|PYTHON(HOME|PATH|STARTUP|SAFEPATH|USERBASE)")

ADVICE: Sequence[tuple[str, str]] = (
    (
        r"No space left on device|os error 28|Disk quota exceeded|os error 122",
        "the disk is full: free some space, or set NEMO_RL_VENV_DIR and UV_CACHE_DIR to folders on a larger disk",
    ),
    (
        r"Read-only file system|os error 30|Permission denied|os error 13",
        "a folder cannot be written: set NEMO_RL_VENV_DIR and UV_CACHE_DIR to folders that can",
    ),
    (
        r"needs to be updated|Unable to find lockfile|no `uv.lock`",
        "uv.lock does not fit pyproject.toml: run `uv lock` in the project's folder (here: make lock)",
    ),
    (
        r"error sending request|dns error|Failed to fetch|Connection refused|tcp connect|Network connectivity",
        "the package index cannot be reached: check the network and UV_INDEX, or fill the cache (UV_CACHE_DIR) first",
    ),
)
"""Pattern of what uv prints -> what to do; the first that fits counts."""

LAST_LINES = 15

CACHE_VARIABLE = "UV_CACHE_DIR"

ONE_SEARCH = threading.Lock()
"""The package uv asks Python for its paths, which Python can only prepare in one thread at a time."""

END_WITH_PARENT = pathlib.Path(__file__).with_name("end_with_parent.py")

VERSION_LINE = re.compile(r"^uv *= *(\S+)$", re.MULTILINE)

LINKS_FELL_BACK = "falling back to full copy"


class UvError(EnvironmentBuildError):
    """uv is missing, cannot be started, or failed. The message has its last lines and the command to repeat by hand."""


def find_uv() -> str:
    """Path of uv: in a virtual environment the one in its ``bin``, which needs no search, else the one of the ``uv``
    package of this interpreter, else the first on ``PATH``.

    Raises:
        UvError: there is none.
    """
    beside = os.path.join(sys.prefix, "bin", "uv")
    if sys.prefix != sys.base_prefix and os.access(beside, os.X_OK):
        return beside
    with ONE_SEARCH:
        if importlib.util.find_spec("uv") is not None:
            from uv import find_uv_bin

            try:
                return str(find_uv_bin())
            except FileNotFoundError:
                pass
    found = shutil.which("uv")
    if found is None:
        raise UvError(
            "uv builds the environments of actors, and there is none: neither as a package of this interpreter nor on "
            "PATH\n    install it: python -m pip install uv"
        )
    return found


def cache_of(uv: str) -> pathlib.Path:
    """The folder of uv's cache; uv is asked, once, only where no variable names it. Raises :class:`UvError`."""
    variables = cleaned(os.environ)
    if variables.get(CACHE_VARIABLE):
        return pathlib.Path(variables[CACHE_VARIABLE])
    return asked_for_cache(uv, tuple(sorted(variables.items())))


@functools.cache
def asked_for_cache(uv: str, variables: tuple[tuple[str, str], ...]) -> pathlib.Path:
    """What uv says of its cache with these environment variables. Raises :class:`UvError`."""
    try:
        run = subprocess.run([uv, "cache", "dir"], capture_output=True, text=True, env=dict(variables))
    except OSError as error:
        raise UvError(f"uv cannot be started: {error}") from error
    if run.returncode != 0:
        raise UvError(f"{uv} does not tell its cache: {run.stderr.strip()}")
    return pathlib.Path(run.stdout.strip())


def version_in(folder: pathlib.Path) -> str:
    """Version of the uv that made an environment, like ``0.13.9``, from its ``pyvenv.cfg``; empty where none did."""
    found = VERSION_LINE.search((folder / "pyvenv.cfg").read_text(encoding="utf-8"))
    return found[1] if found else ""


def cleaned(environment: Mapping[str, str]) -> dict[str, str]:
    """Environment variables for uv: without those that change what or where it installs.

    A relative cache would be another one for each folder that uv is told to work in, so it is made absolute.
    """
    kept = {
        name: value
        for name, value in environment.items()
        if KEPT_VARIABLES.fullmatch(name) or not DROPPED_VARIABLES.fullmatch(name)
    }
    if kept.get(CACHE_VARIABLE):
        kept[CACHE_VARIABLE] = os.path.abspath(kept[CACHE_VARIABLE])
    return kept


def sync_arguments(
    root: pathlib.Path, python: str, extras: Sequence[str], with_project: bool, offline: bool = False
) -> list[str]:
    """Arguments of the ``uv sync`` that makes an environment exactly what the lock says for these extras.

    ``offline``: from the cache alone, failing at once where that lacks something.
    """
    return [
        "sync",
        "--locked",
        "--no-default-groups",
        *([] if with_project else ["--no-install-project"]),
        *(word for extra in extras for word in ("--extra", extra)),
        "--link-mode",
        "hardlink",
        *(["--offline"] if offline else []),
        "--python",
        python,
        "--directory",
        str(root),
    ]


def by_hand(uv: str, arguments: Sequence[str], folder: pathlib.Path) -> str:
    """The command line that a person repeats a step with."""
    return f"UV_PROJECT_ENVIRONMENT={shlex.quote(str(folder))} {shlex.join([uv, *arguments])}"


def advice_on(output: str) -> str:
    """What to do about what uv printed, as a line of its own; empty where nothing is known."""
    return next((f"\n    {advice}" for pattern, advice in ADVICE if re.search(pattern, output)), "")


@functools.cache
def setpriv() -> str | None:
    """Path of util-linux's ``setpriv``, whose namesakes (of BusyBox) lack an option; ``None`` where there is none."""
    found = shutil.which("setpriv")
    if found is None:
        return None
    version = subprocess.run([found, "--version"], capture_output=True, text=True)
    return found if "util-linux" in version.stdout else None


def ending_with_this_process(command: Sequence[str]) -> list[str]:
    """A command line for the command, which the kernel will end when this process ends.

    ``setpriv`` starts in a fifth of the time of the interpreter that otherwise runs :mod:`end_with_parent`.
    """
    program = setpriv()
    if program is not None:
        return [program, "--pdeathsig", "KILL", *command]
    return [sys.executable, "-I", "-S", str(END_WITH_PARENT), str(os.getpid()), *command]


def run_uv(
    uv: str, arguments: Sequence[str], folder: pathlib.Path, lock_descriptor: int, note: Callable[[str], None]
) -> None:
    """Run uv on the environment in a folder, and end it when this process ends or is interrupted.

    Args:
        uv: path of the program.
        arguments: of uv.
        folder: the environment, which uv makes where it does not exist.
        lock_descriptor: descriptor of the environment's lock; uv and whatever it starts keep the lock while they run.
        note: gets what a person should know though uv succeeded.

    Raises:
        UvError: uv cannot be started or failed.
    """
    variables = {
        **cleaned(os.environ),
        "UV_PROJECT_ENVIRONMENT": str(folder),
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_NO_PROGRESS": "1",
        "NO_COLOR": "1",
    }
    lines: collections.deque[str] = collections.deque(maxlen=LAST_LINES)
    with subprocess.Popen(
        ending_with_this_process([uv, *arguments]),
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=(lock_descriptor,),
        # A Ctrl-C is for this process: uv, ended by the terminal as well, would have failed before that is heard here.
        process_group=0,
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                lines.append(line.rstrip())
                if LINKS_FELL_BACK in line:
                    note("uv copies instead of linking: put UV_CACHE_DIR and NEMO_RL_VENV_DIR on one file system")
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode != 0:
        text = "\n".join(lines)
        ended = f"with exit code {process.returncode}" if process.returncode > 0 else f"by signal {-process.returncode}"
        raise UvError(
            f"uv ended {ended}; its last lines:\n"
            + "".join(f"    | {line}\n" for line in lines)
            + f"    to repeat by hand: {by_hand(uv, arguments, folder)}"
            + advice_on(text)
        )
