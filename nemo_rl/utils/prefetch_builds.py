"""Build the environments of several actors, some at once; a failure is a result as well."""

import concurrent.futures
from collections.abc import Sequence
from typing import NamedTuple

from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.environment_lookup import Action
from nemo_rl.utils.prefetch_progress import BuildsInterrupted, Progress, Result
from nemo_rl.utils.venvs import ensure_environment

LONGEST_WAIT = 0.2
"""Seconds after which the main thread looks up: Python hears a Ctrl-C that comes just before a wait only at its end."""


class Ended(NamedTuple):
    """What builders, in several threads, have come to by now: all results, and the actors whose environment was built."""

    results: list[Result]
    built: list[str]


def build_one(project: ActorProject, actor: str, run: str, ended: Ended, progress: Progress) -> Result:
    """Build for one actor, with what those built by now have, and add it to what has ``ended``; a failure is a result."""
    try:
        outcome = ensure_environment(project, actor, run=run, built=ended.built, report=progress.phase)
        if outcome.action is Action.BUILT:
            ended.built.append(actor)
        result = Result(actor, outcome=outcome)
    except EnvironmentBuildError as error:
        result = Result(actor, error=str(error))
    ended.results.append(result)  # before it is said: whoever reads the line may interrupt at once
    progress.finished(result.line())
    return result


def build_all(project: ActorProject, actors: Sequence[str], run: str, jobs: int, progress: Progress) -> list[Result]:
    """Build for these actors, ``jobs`` at once, in the order of the actors.

    Of actors with the same extras the first goes alone, so that the others can link to what it has. The project itself
    is linked from whichever was built first.

    Raises :class:`BuildsInterrupted` without waiting for builders that still run.
    """
    groups: dict[frozenset[str], list[str]] = {}
    for actor in actors:
        groups.setdefault(frozenset(project.extras_of(actor) or ()), []).append(actor)
    begun: list[concurrent.futures.Future[Result]] = []
    ended = Ended([], [])

    def begin(actor: str) -> "concurrent.futures.Future[Result]":
        begun.append(pool.submit(build_one, project, actor, run, ended, progress))
        return begun[-1]

    pool = concurrent.futures.ThreadPoolExecutor(max_workers=jobs)
    try:
        running = {begin(first): rest for first, *rest in groups.values()}
        while running:
            done, _ = concurrent.futures.wait(running, LONGEST_WAIT, concurrent.futures.FIRST_COMPLETED)
            for future in done:
                future.result()
                running.update({begin(name): [] for name in running.pop(future)})
    except KeyboardInterrupt:
        pool.shutdown(wait=False, cancel_futures=True)
        raise BuildsInterrupted(list(ended.results)) from None
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()
    results = {result.actor: result for result in (future.result() for future in begun)}
    return [results[actor] for actor in actors]
