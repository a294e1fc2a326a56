"""Stamps of actor environments: what an environment was built for, and how far.

A standalone script, standard library only and valid for Python 3.8, because the image layer that installs third-party
packages has nothing else and writes stamps too. The stamp is one JSON file inside the environment's folder, written
last, aside and then renamed. An environment without a stamp is unfinished.

    environment_stamp.py write FOLDER --state STATE [--extra E ...] --lock FILE --python PATH \\
        --uv VERSION [--project DIR]
    environment_stamp.py show FOLDER

``write`` stamps the environment in FOLDER. STATE is ``dependencies`` (everything but the project itself) or
``complete`` (then ``--project`` names the project's folder). ``--lock`` is the ``uv.lock`` that was installed,
``--python`` an interpreter of the kind that the environment was made with, ``--uv`` the version of uv, for the record.
The layer of an image that installs dependencies runs, for each actor that ``actor_environments.py deps`` prints::

    UV_PROJECT_ENVIRONMENT=$VENVS/$ACTOR uv sync --locked --no-install-project --link-mode hardlink \\
        --python /usr/bin/python3 --extra a --extra b
    python3 environment_stamp.py write $VENVS/$ACTOR --state dependencies --extra a --extra b \\
        --lock uv.lock --python /usr/bin/python3 --uv "$(uv --version)"

``show`` prints the stamp. Exit codes: 0 done, 1 no stamp or nothing could be written (the reason is on stderr), 2 wrong
arguments.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import platform
import sys
import sysconfig
from collections.abc import Iterable
from typing import NamedTuple

STAMP_NAME = "actor-environment.json"
DEPENDENCIES = "dependencies"
COMPLETE = "complete"
STATES = (DEPENDENCIES, COMPLETE)
FORMAT = 1


class StampError(Exception):
    """A stamp cannot be made or written; the message says why."""


class Stamp(NamedTuple):
    """What an environment was built for.

    Attributes:
        state: ``dependencies`` or ``complete``.
        extras: extras of the project, sorted, since their order does not change what is installed.
        lock: SHA-256 of the ``uv.lock`` that was installed, in hexadecimal.
        interpreter: implementation, version and path of the base interpreter, as :func:`interpreter_of` gives it.
        platform: operating system and processor.
        folder: where the environment was built. One that was moved or copied keeps the old path in its scripts.
        project: folder of the project that is installed; empty for ``dependencies``.
        uv: version of uv, for the record: with a lock it does not change what is installed.
        run: who asked for the build, for the record; a forced rebuild finds its own work by it.
        format: number of this format.
    """

    state: str
    extras: tuple[str, ...]
    lock: str
    interpreter: str
    platform: str
    folder: str
    project: str = ""
    uv: str = ""
    run: str = ""
    format: int = FORMAT


def differences(found: Stamp, wanted: Stamp) -> list[str]:
    """What keeps an environment stamped ``found`` from serving for ``wanted``, one ``name: old -> new`` a field.

    ``uv``, ``run`` and ``state`` are not compared; ``project`` only where both are ``complete``.
    """
    names = ["format", "extras", "lock", "interpreter", "platform", "folder"]
    if found.state == wanted.state == COMPLETE:
        names.append("project")
    pairs = [(name, getattr(found, name), getattr(wanted, name)) for name in names]
    return [f"{name}: {old} -> {new}" for name, old, new in pairs if old != new]


def read_stamp(folder: str | os.PathLike[str]) -> Stamp | None:
    """The stamp of the environment in a folder; ``None`` where there is none that this format can be.

    Raises ``OSError`` where a stamp exists and cannot be read.
    """
    try:
        fields = json.loads((pathlib.Path(folder) / STAMP_NAME).read_bytes())
        stamp = Stamp(**{**fields, "extras": tuple(fields["extras"])})
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError, KeyError):
        return None
    return stamp if stamp.state in STATES else None


def write_stamp(folder: str | os.PathLike[str], stamp: Stamp) -> None:
    """Write the stamp into an environment's folder: aside, then renamed. Raises ``OSError``.

    This protects against a process that is killed, not against a machine that loses power.
    """
    # Imported here: whoever only reads a stamp need not wait for it.
    import tempfile

    descriptor, aside = tempfile.mkstemp(prefix=STAMP_NAME, dir=str(folder))
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(json.dumps(stamp._asdict(), indent=2).encode() + b"\n")
        os.chmod(aside, 0o644)
        os.replace(aside, str(pathlib.Path(folder) / STAMP_NAME))
    except BaseException:
        os.unlink(aside)
        raise


def remove_stamp(folder: str | os.PathLike[str]) -> None:
    """Make the environment in a folder unfinished; nothing happens where there is no stamp. Raises ``OSError``."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(str(pathlib.Path(folder) / STAMP_NAME))


def hash_of(file: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's content, in hexadecimal. Raises ``OSError``."""
    return hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()


def this_interpreter() -> str:
    """Implementation, version and base path of the running interpreter: ``CPython 3.12.1 /usr/bin/python3.12``."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    return f"{platform.python_implementation()} {platform.python_version()} {os.path.realpath(base)}"


def interpreter_of(python: str) -> str:
    """What :func:`this_interpreter` says when it runs in another interpreter, which is started for it.

    Raises :class:`StampError` where it cannot be started or is no Python.
    """
    if os.path.abspath(python) == sys.executable:
        return this_interpreter()
    # Imported here: whoever only reads a stamp need not wait for it.
    import subprocess

    command = [python, "-I", "-S", __file__, "interpreter"]
    try:
        run = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise StampError(f"{python} cannot be started: {error.strerror}") from error
    if run.returncode != 0:
        raise StampError(f"{python} is no Python 3.8 or newer: {run.stderr.strip()[-500:]}")
    return run.stdout.strip()


def stamp_for(
    folder: str | os.PathLike[str],
    extras: Iterable[str],
    lock: str | os.PathLike[str],
    python: str,
    project: str | os.PathLike[str] = "",
    uv: str = "",
    run: str = "",
) -> Stamp:
    """The stamp that an environment built now would get: ``complete`` with a project, else ``dependencies``.

    Raises :class:`StampError` for an unusable interpreter and ``OSError`` for a lock that cannot be read.
    """
    return Stamp(
        state=COMPLETE if str(project) else DEPENDENCIES,
        extras=tuple(sorted(set(extras))),
        lock=hash_of(lock),
        interpreter=interpreter_of(python),
        platform=sysconfig.get_platform(),
        folder=os.path.realpath(str(folder)),
        project=os.path.realpath(str(project)) if str(project) else "",
        uv=uv,
        run=run,
    )


def parser() -> argparse.ArgumentParser:
    """The arguments that the module's docstring describes."""
    top = argparse.ArgumentParser(prog="environment_stamp.py", description="Write or show the stamp of an environment.")
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("interpreter", help="print what this interpreter is")
    commands.add_parser("show", help="print the stamp").add_argument("folder")
    write = commands.add_parser("write", help="stamp an environment")
    write.add_argument("folder")
    write.add_argument("--state", choices=STATES, required=True)
    write.add_argument("--extra", action="append", default=[])
    write.add_argument("--lock", required=True)
    write.add_argument("--python", required=True)
    write.add_argument("--uv", required=True)
    write.add_argument("--project", default="")
    return top


def write_from(arguments: argparse.Namespace) -> None:
    """Carry out ``write``. Raises :class:`StampError` or ``OSError``."""
    folder = pathlib.Path(arguments.folder)
    if not (folder / "pyvenv.cfg").is_file():
        raise StampError(f"{folder} is no Python environment: it has no pyvenv.cfg")
    if (arguments.state == COMPLETE) != bool(arguments.project):
        raise StampError("--project goes with --state complete, and with that only")
    version = arguments.uv.split()[1] if arguments.uv.startswith("uv ") else arguments.uv
    write_stamp(
        folder, stamp_for(folder, arguments.extra, arguments.lock, arguments.python, arguments.project, version)
    )


def main(argv: list[str]) -> int:
    """Run the script with these arguments (program name left out); returns the exit code, 2 by ``SystemExit``."""
    arguments = parser().parse_args(argv)
    try:
        if arguments.command == "interpreter":
            print(this_interpreter())
        elif arguments.command == "write":
            write_from(arguments)
        else:
            stamp = read_stamp(arguments.folder)
            if stamp is None:
                raise StampError(f"{arguments.folder} has no stamp: it is unfinished, or no actor environment")
            print(json.dumps(stamp._asdict(), indent=2))
    except (StampError, OSError) as error:
        sys.stderr.write(f"environment_stamp.py: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
