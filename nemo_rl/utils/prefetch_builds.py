"""Build the environments of several actors, some at once; a failure is a result as well."""

import concurrent.futures
from collections.abc import Sequence

from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.environment_lookup import Action
from nemo_rl.utils.prefetch_progress import Progress, Result
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
    """
    groups: dict[frozenset[str], list[str]] = {}
    for actor in actors:
        groups.setdefault(frozenset(project.extras_of(actor) or ()), []).append(actor)
    results: dict[str, Result] = {}
    built: list[str] = []

    def begin(actor: str) -> "concurrent.futures.Future[Result]":
        return pool.submit(build_one, project, actor, run, built, progress)

    pool = concurrent.futures.ThreadPoolExecutor(max_workers=jobs)
    try:
        running = {begin(first): rest for first, *rest in groups.values()}
        while running:
            done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                followers = running.pop(future)
                results[future.result().actor] = future.result()
                running.update({begin(name): [] for name in followers})
    finally:
        pool.shutdown(cancel_futures=True)
    return [results[actor] for actor in actors]
