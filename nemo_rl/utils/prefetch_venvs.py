"""Build the environments of actors ahead of time, several at once: ``python -m nemo_rl.utils.prefetch_venvs``.

Goes on after a failure and sums up at the end. Exit codes: 0 every environment is complete, 1 one is not, 2 wrong
arguments or settings, or two actors that want the same wrapper script, before anything was built or written, 130
interrupted: a line says what is complete, and the same command goes on from there.
"""

import argparse
import os
import pathlib
import sys
import time
from collections.abc import Iterable, Sequence
from typing import NoReturn

from nemo_rl.distributed.actor_environments import did_you_mean
from nemo_rl.distributed.driver_settings import SYSTEM_FLAG, system_flag_is_set
from nemo_rl.utils.actor_project import VENV_DIR_VARIABLE, ActorProject, this_project
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.environment_lookup import Outcome, complete_environments, rebuild_is_forced, this_run
from nemo_rl.utils.prefetch_progress import BuildsInterrupted, Progress, Result, progress_for
from nemo_rl.utils.wrapper_scripts import reject_clashes, write_wrappers

CONTAINER_VARIABLE = "NRL_CONTAINER"
CONTAINER_WRAPPERS = "/usr/local/bin"
INTERRUPTED = 130


class WrongArgumentError(ValueError):
    """An argument names something that the table does not have, or that is not one thing."""


def actor_named(word: str, project: ActorProject) -> str:
    """The actor of a fully-qualified name or of an unambiguous class name. Raises :class:`WrongArgumentError`."""
    if word in project.table:
        return word
    matches = sorted(name for name in project.table if name.rpartition(".")[2] == word)
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise WrongArgumentError(f"{word!r} is the class of {' and of '.join(matches)}; give the whole name")
    known = [known for name in project.table for known in (name, name.rpartition(".")[2])]
    raise WrongArgumentError(f"unknown actor {word!r}{did_you_mean(word, known)}; --list prints all")


def selected(project: ActorProject, words: Sequence[str], skipped: Iterable[str]) -> list[str]:
    """The actors to build for, sorted.

    Args:
        words: actors by name or class name; all if there are none. One that runs on the driver's interpreter is left
            out.
        skipped: extras; an actor whose environment has one of them is left out, as the script of the table does.

    Raises:
        WrongArgumentError: an unknown or ambiguous actor, or an extra that no entry names.
    """
    known = sorted({extra for extras in project.table.values() for extra in extras or ()})
    left_out = set(skipped)
    for extra in sorted(left_out.difference(known)):
        raise WrongArgumentError(f"unknown extra {extra!r}{did_you_mean(extra, known)}; known: {', '.join(known)}")
    named = {actor_named(word, project) for word in words} or set(project.table)
    return sorted(
        name
        for name in named.intersection(project.actors_with_environment())
        if left_out.isdisjoint(project.extras_of(name) or ())
    )


def results_for(
    project: ActorProject, actors: Sequence[str], rebuild: bool, jobs: int, progress: Progress
) -> list[Result]:
    """Find, or build ``jobs`` at once, the environments of these actors; results in the order of the actors.

    Raises :class:`BuildsInterrupted` with those that are complete by then.
    """
    run = this_run()
    found = {} if rebuild else already_complete(project, actors, run)
    results = {actor: Result(actor, outcome=outcome) for actor, outcome in found.items()}
    for result in results.values():
        progress.finished(result.line())
    missing = [actor for actor in actors if actor not in found]
    if missing:
        try:
            # Imported here: it takes as long to import as finding that all environments are complete.
            from nemo_rl.utils.prefetch_builds import build_all

            built = build_all(project, missing, run, jobs, progress)
        except KeyboardInterrupt as interruption:
            raise BuildsInterrupted([*results.values(), *ended_before(interruption)]) from None
        results |= {result.actor: result for result in built}
    return [results[actor] for actor in actors]


def already_complete(project: ActorProject, actors: Sequence[str], run: str) -> dict[str, Outcome]:
    """Those of the actors whose environments need not be touched; none where nobody can tell, for builders say why."""
    try:
        return complete_environments(project, actors, run)
    except (EnvironmentBuildError, OSError):
        return {}


def summary(results: Sequence[Result], seconds: float) -> str:
    """What a person reads at the end: every error in full, every note once, and the count."""
    notes = sorted({note for result in results if result.outcome for note in result.outcome.notes})
    errors = [result.error for result in results if result.error is not None]
    complete = len(results) - len(errors)
    lines = [*errors, *(f"note: {note}" for note in notes)]
    lines.append(f"{complete} of {len(results)} environments are complete, {len(errors)} failed ({seconds:.1f} s)")
    return "\n".join(lines)


def ended_before(interruption: KeyboardInterrupt) -> Sequence[Result]:
    """The results that are known of the interrupted builds."""
    return interruption.results if isinstance(interruption, BuildsInterrupted) else ()


def interruption_line(actors: Sequence[str], results: Sequence[Result]) -> str:
    """What a person reads after Ctrl-C, given how the builds that had ended did."""
    complete = {result.actor for result in results if result.outcome is not None}
    missing = ", ".join(actor for actor in actors if actor not in complete)
    return (
        f"prefetch_venvs: interrupted; built or found complete: {', '.join(sorted(complete)) or 'none'}; "
        f"not yet: {missing or 'none'}; the same command goes on from here"
    )


def positive(text: str) -> int:
    """A number of jobs. Raises ``argparse.ArgumentTypeError``."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="python -m nemo_rl.utils.prefetch_venvs",
        description="Build the environments of actors ahead of time.",
        epilog=f"{VENV_DIR_VARIABLE} says below which folder. Exit codes: 0 all are complete, 1 one failed, 2 usage, 130 interrupted.",
    )
    top.add_argument("actors", nargs="*", metavar="ACTOR", help="name or class name; all actors if there is none")
    top.add_argument("--skip-extra", action="append", default=[], metavar="E", help="leave out actors with this extra")
    top.add_argument("--jobs", type=positive, default=os.cpu_count() or 1, metavar="N", help="how many at once")
    top.add_argument("--list", action="store_true", help="print the actors, their extras and folders; build nothing")
    top.add_argument(
        "--wrappers",
        type=pathlib.Path,
        default=pathlib.Path(CONTAINER_WRAPPERS) if os.environ.get(CONTAINER_VARIABLE) == "1" else None,
        metavar="FOLDER",
        help=f"write scripts python-<ClassName> there; in a container ({CONTAINER_VARIABLE}=1): {CONTAINER_WRAPPERS}",
    )
    return top


def main(argv: Sequence[str], project: ActorProject | None = None) -> int:
    """Run the command line (program name left out) on a project, nemo_rl by default; returns the exit code.

    After an interruption builders may go on until the process ends.
    """
    arguments = parser().parse_args(argv)
    try:
        project = project or this_project()
        actors = selected(project, arguments.actors, arguments.skip_extra)
        if arguments.wrappers is not None:
            reject_clashes(actors)
        forced = rebuild_is_forced()
        on_driver = system_flag_is_set()
    except ValueError as error:
        print(f"prefetch_venvs: {error}", file=sys.stderr)
        return 2
    if arguments.list:
        for actor in actors:
            print(f"{actor}\t{' '.join(project.extras_of(actor) or ())}\t{project.folder_of(actor)}")
        return 0
    if on_driver:
        print(f"{SYSTEM_FLAG}=1: every actor runs on the driver's interpreter, so there is nothing to build")
        return 0
    for actor in {actor_named(word, project) for word in arguments.actors}.difference(actors):
        why = "is skipped" if project.extras_of(actor) else "runs on the driver's interpreter"
        print(f"{actor} {why}: nothing to build")
    began = time.monotonic()
    progress = progress_for(sys.stderr, len(actors))
    results: Sequence[Result] = ()
    try:
        try:
            results = results_for(project, actors, forced, arguments.jobs, progress)
        finally:
            progress.close()
        return finished(project, results, arguments.wrappers, time.monotonic() - began)
    except KeyboardInterrupt as interruption:
        print(interruption_line(actors, ended_before(interruption) or results), file=sys.stderr)
        return INTERRUPTED


def finished(project: ActorProject, results: Sequence[Result], wrappers: pathlib.Path | None, seconds: float) -> int:
    """Sum up, and write the wrapper scripts of what is complete; returns the exit code."""
    complete = [result.actor for result in results if result.outcome is not None]
    print(summary(results, seconds))
    if wrappers is not None:
        try:
            write_wrappers(project, complete, wrappers)
        except OSError as error:
            print(f"the wrapper scripts were not written: {error}\n    name another folder: --wrappers FOLDER")
            return 1
    return 0 if len(complete) == len(results) else 1


def leave(code: int) -> NoReturn:
    """End the process. Builders that an interruption left end at once, for the kernel ends their uv with this process."""
    if code != INTERRUPTED:
        raise SystemExit(code)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
