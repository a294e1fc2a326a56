"""Build the environment of one actor, so that it is what the table says, however often a build was interrupted.

The contract: an environment is built where it stays, under a lock, third-party packages first and the project last. Its
stamp (:mod:`nemo_rl.utils.environment_stamp`) is written after each of the two, and removed before anything is taken
away. So a folder without a stamp is unfinished, and whoever finds one starts anew.
"""

import contextlib
import os
import pathlib
import sys
import time
from collections.abc import Callable, Sequence

from nemo_rl.utils import uv_command
from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_builder import EnvironmentBuilder
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.environment_lock import lock_file_of, locked
from nemo_rl.utils.environment_lookup import (
    Action,
    Outcome,
    fitting_stamp,
    is_complete,
    rebuild_is_forced,
    this_run,
    wanted_stamps,
)


def print_report(line: str) -> None:
    """Print one line about a build to standard error, at once."""
    print(line, file=sys.stderr, flush=True)


def ensure_environment(
    project: ActorProject,
    actor: str,
    *,
    rebuild: bool | None = None,
    run: str | None = None,
    built: Sequence[str] = (),
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
        built: actors whose environments this ``run`` has built; looked at when needed, so others may add to it. What
            this environment has in common with theirs is linked from there, unless that was touched since.
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
            builder = EnvironmentBuilder(project, actor, wanted, lock, lambda line: report(f"{actor}: {line}"), built)
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


def explained(project: ActorProject, actor: str, error: Exception) -> str:
    """The message of a failed build: which environment, what went wrong, what to do."""
    extras = ", ".join(project.extras_of(actor) or ())
    advice = ""
    if isinstance(error, OSError):
        advice = (
            uv_command.advice_on(str(error))
            or "\n    set NEMO_RL_VENV_DIR and UV_CACHE_DIR to folders that can be used"
        )
    return f"the environment of {actor} (extras: {extras}) was not built\n    {error}{advice}"
