"""Build the environment of one actor, so that it is what the table says, however often a build was interrupted.

The contract: an environment is built where it stays, under a lock, third-party packages first and the project last. Its
stamp (:mod:`nemo_rl.utils.environment_stamp`) is written after each of the two, and removed before anything is taken
away. So a folder without a stamp is unfinished, and whoever finds one starts anew.
"""

import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import sys
import time
from collections.abc import Callable, Sequence

from nemo_rl.utils import environment_stamp, uv_command
from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.doubtful_extras import doubtful_extras
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.environment_lock import HeldLock, locked
from nemo_rl.utils.environment_lookup import (
    Action,
    Outcome,
    fitting_stamp,
    is_complete,
    rebuild_is_forced,
    this_run,
    wanted_stamps,
)
from nemo_rl.utils.environment_stamp import COMPLETE, DEPENDENCIES, Stamp
from nemo_rl.utils.project_metadata import project_metadata

DOWNLOADS_LOCK = "nemo-rl-downloads.lock"


def print_report(line: str) -> None:
    """Print one line about a build to standard error, at once."""
    print(line, file=sys.stderr, flush=True)


def project_is_half_installed(folder: pathlib.Path, root: pathlib.Path) -> bool:
    """Whether an environment of third-party packages has traces of the project itself.

    uv takes a package for installed as soon as its ``.dist-info`` folder exists, however little is in it.
    """
    normalized = re.sub(r"[-_.]+", "_", project_metadata(root)["name"]).lower()
    installed = folder.glob("lib/python3*/site-packages/*.dist-info")
    return any(entry.name.lower().startswith(f"{normalized}-") for entry in installed)


class EnvironmentBuilder:
    """Builds one environment; the lock is held by the caller."""

    def __init__(self, project: ActorProject, actor: str, wanted: Stamp, lock: HeldLock, report: Callable[[str], None]):
        self.project = project
        self.folder = project.folder_of(actor)
        self.extras = project.extras_of(actor) or ()
        self.wanted = wanted
        self.lock = lock
        self.report = report
        self.uv = uv_command.find_uv()
        self.uv_version = uv_command.version_of(self.uv)
        self.notes: list[str] = []

    def build(self, found: Stamp | None) -> Action:
        """Make the environment complete, from its dependencies if a stamp says that they are there, else from nothing.

        On failure nothing stays but an environment that its stamp describes. Raises what uv, files and extras raise.
        """
        doubtful = doubtful_extras(self.project.root, self.extras)
        if doubtful:
            # Imported here, because it is seldom needed and takes long.
            from nemo_rl.utils.excluded_extras import reject_excluded_extras

            reject_excluded_extras(self.project.root, doubtful, self.wanted.interpreter)
        try:
            if found is not None and not project_is_half_installed(self.folder, self.project.root):
                self.add_project()
                return Action.COMPLETED
            self.remove()
            self.install_dependencies()
            self.add_project()
            return Action.BUILT
        except BaseException:
            if environment_stamp.read_stamp(self.folder) is None:
                shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def phase(self, text: str) -> None:
        self.lock.note(text)
        self.report(text)

    def remove(self) -> None:
        """Take the old environment away, its stamp first."""
        if not os.path.lexists(self.folder):
            return
        self.phase("removing what was there")
        if self.folder.is_symlink() or not self.folder.is_dir():
            raise EnvironmentBuildError(f"{self.folder} is in the way: it is no folder; remove it")
        environment_stamp.remove_stamp(self.folder)
        shutil.rmtree(self.folder)

    def install_dependencies(self) -> None:
        """Install third-party packages; what the cache lacks is downloaded by one builder at a time.

        One uv uses the whole network; two would download what both need twice.
        """
        self.phase("installing third-party packages")
        try:
            self.sync(with_project=False, offline=True)
        except uv_command.UvError:
            # uv would trust what the failed attempt may have left.
            shutil.rmtree(self.folder, ignore_errors=True)
            with locked(uv_command.cache_of(self.uv) / DOWNLOADS_LOCK, self.report) as downloads:
                downloads.note("downloading packages")
                self.phase("downloading and installing third-party packages")
                self.sync(with_project=False)
        self.stamp(DEPENDENCIES)

    def add_project(self) -> None:
        self.phase("adding the project")
        self.sync(with_project=True)
        self.stamp(COMPLETE)

    def sync(self, with_project: bool, offline: bool = False) -> None:
        python = self.project.python or sys.executable
        arguments = uv_command.sync_arguments(self.project.root, python, self.extras, with_project, offline)
        uv_command.run_uv(self.uv, arguments, self.folder, self.lock.descriptor, self.notes.append)
        if environment_stamp.hash_of(self.project.root / "uv.lock") != self.wanted.lock:
            raise EnvironmentBuildError("uv.lock was changed while the environment was built; build it again")

    def stamp(self, state: str) -> None:
        project = self.wanted.project if state == COMPLETE else ""
        stamp = dataclasses.replace(self.wanted, state=state, project=project, uv=self.uv_version)
        environment_stamp.write_stamp(self.folder, stamp)


def ensure_environment(
    project: ActorProject,
    actor: str,
    *,
    rebuild: bool | None = None,
    run: str | None = None,
    report: Callable[[str], None] = print_report,
) -> Outcome:
    """Make sure that the environment of an actor is complete for what the table says now.

    Two callers that want the same environment build it once, wherever they run; the later one waits.

    Args:
        project: whose actor it is.
        actor: fully-qualified name, with extras in the project's table.
        rebuild: build even what is complete, but not what this ``run`` has built or somebody built while this call
            waited; ``None`` for what ``NRL_FORCE_REBUILD_VENVS`` says.
        run: name of the run that a forced rebuild belongs to; by default of this process.
        report: gets a line for each phase, and while waiting.

    Raises:
        EnvironmentBuildError: it could not be built; the message says why, what uv said and what to do.
        UnregisteredActorError: the table has no such actor.
        ValueError: the actor runs on the driver's interpreter.
    """
    began = time.monotonic()
    run = run or this_run()
    rebuild = rebuild_is_forced() if rebuild is None else rebuild
    folder, python = project.folder_of(actor), project.interpreter_of(actor)

    def done(action: Action, notes: Sequence[str] = ()) -> Outcome:
        return Outcome(actor, python, action, time.monotonic() - began, tuple(notes))

    try:
        wanted = wanted_stamps(project, [actor], run)[actor]
        first_found = fitting_stamp(folder, wanted)
        if is_complete(first_found) and not rebuild:
            return done(Action.REUSED)
        with locked(lock_file_of(folder), lambda line: report(f"{actor}: {line}")) as lock:
            look_again_at(folder)
            found = fitting_stamp(folder, wanted)
            built_meanwhile = found is not None and (found != first_found or found.run == run)
            if is_complete(found) and (not rebuild or built_meanwhile):
                return done(Action.REUSED)
            builder = EnvironmentBuilder(project, actor, wanted, lock, lambda line: report(f"{actor}: {line}"))
            return done(builder.build(None if rebuild and not built_meanwhile else found), builder.notes)
    except (EnvironmentBuildError, OSError) as error:
        raise EnvironmentBuildError(explained(project, actor, error)) from error


def look_again_at(folder: pathlib.Path) -> None:
    """Let the file system forget what it remembers of a folder.

    A client of NFS asks the server anew when a directory is opened, and not when a file in it is. A node that looked
    before it waited would otherwise still see, for up to a minute, nothing where another node has built meanwhile.
    """
    for place in (folder.parent, folder):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.close(os.open(place, os.O_RDONLY | os.O_DIRECTORY))


def lock_file_of(folder: pathlib.Path) -> pathlib.Path:
    """The file, beside the folder of an environment, whose lock a builder holds."""
    return folder.with_name(f"{folder.name}.lock")


def explained(project: ActorProject, actor: str, error: Exception) -> str:
    """The message of a failed build: which environment, what went wrong, what to do."""
    extras = ", ".join(project.extras_of(actor) or ())
    advice = ""
    if isinstance(error, OSError):
        advice = uv_command.advice_on(str(error)) or "\n    set NEMO_RL_VENV_DIR to a folder that can be used"
    return f"the environment of {actor} (extras: {extras}) was not built\n    {error}{advice}"
