"""Build the environments of several actors, some at once; a failure is a result as well."""

import concurrent.futures
from collections.abc import Sequence

from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.environment_lookup import Action
from nemo_rl.utils.prefetch_progress import BuildsInterrupted, Progress, Result
from nemo_rl.utils.venvs import ensure_environment


def build_one(project: ActorProject, actor: str, run: str, built: list[str], progress: Progress) -> Result:
    """Build for one actor, with what those ``built`` by now have, and add it to them; a failure is a result as well."""
    try:
        outcome = ensure_environment(project, actor, run=run, built=built, report=progress.phase)
        if outcome.action is Action.BUILT:
            built.append(actor)
        result = Result(actor, outcome=outcome)
    except EnvironmentBuildError as error:
        result = Result(actor, error=str(error))
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
    built: list[str] = []

    def begin(actor: str) -> "concurrent.futures.Future[Result]":
        begun.append(pool.submit(build_one, project, actor, run, built, progress))
        return begun[-1]

    pool = concurrent.futures.ThreadPoolExecutor(max_workers=jobs)
    try:
        running = {begin(first): rest for first, *rest in groups.values()}
        while running:
            done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                future.result()
                running.update({begin(name): [] for name in running.pop(future)})
    except KeyboardInterrupt:
        pool.shutdown(wait=False, cancel_futures=True)
        ended = [future for future in begun if future.done() and not future.cancelled()]
        raise BuildsInterrupted([future.result() for future in ended if future.exception() is None]) from None
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()
    results = {result.actor: result for result in (future.result() for future in begun)}
    return [results[actor] for actor in actors]
