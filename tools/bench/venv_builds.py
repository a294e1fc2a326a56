"""What :mod:`bench_venvs` measures: ways to build all environments of a project, each from a place of its own."""

import dataclasses
import os
import pathlib
import pickle
import shutil
import subprocess
import sys

from nemo_rl.distributed.actor_environments import ACTOR_ENVIRONMENTS
from nemo_rl.utils import uv_command
from nemo_rl.utils.actor_project import ActorProject

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFETCH = """
import pickle, sys
from nemo_rl.utils.prefetch_venvs import main
sys.exit(main(sys.argv[2:], pickle.loads(bytes.fromhex(sys.argv[1]))))
"""


@dataclasses.dataclass(frozen=True)
class Place:
    """One fresh pair of cache and environments."""

    project: ActorProject
    cache: pathlib.Path

    def variables(self) -> dict[str, str]:
        return {**uv_command.cleaned(os.environ), "UV_CACHE_DIR": str(self.cache), "PYTHONPATH": str(ROOT)}

    def without_environments(self) -> None:
        shutil.rmtree(self.project.environments, ignore_errors=True)


def run(place: Place, command: list[str], **variables: str) -> None:
    """Run a command quietly; its output is shown where it fails."""
    done = subprocess.run(command, env={**place.variables(), **variables}, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command}\n{done.stdout}{done.stderr}")


def prefetch(place: Place, jobs: int) -> None:
    """Build everything by this project's command, as a process of its own."""
    run(place, [sys.executable, "-c", PREFETCH, pickle.dumps(place.project).hex(), "--jobs", str(jobs)])


def naive(place: Place) -> None:
    """The sequence that the builder replaces, one actor after the other, with the link mode that uv chooses."""
    uv = uv_command.find_uv()
    in_project = ["--directory", str(place.project.root)]
    for actor in place.project.actors_with_environment():
        folder = str(place.project.folder_of(actor))
        extras = [word for extra in place.project.extras_of(actor) or () for word in ("--extra", extra)]
        run(place, [uv, "venv", "--python", sys.executable, folder])
        run(place, [uv, "sync", "--locked", *in_project], UV_PROJECT_ENVIRONMENT=folder)
        run(place, [uv, "run", "--locked", *extras, *in_project, "python", "-c", ""], UV_PROJECT_ENVIRONMENT=folder)


def synced(place: Place, mode: str) -> None:
    """uv's two steps for every actor, one after the other, with a link mode."""
    uv = uv_command.find_uv()
    for actor in place.project.actors_with_environment():
        for with_project in (False, True):
            arguments = uv_command.sync_arguments(
                place.project.root, sys.executable, place.project.extras_of(actor) or (), with_project
            )
            arguments[arguments.index("hardlink")] = mode
            run(place, [uv, *arguments], UV_PROJECT_ENVIRONMENT=str(place.project.folder_of(actor)))


def links_alone(place: Place) -> None:
    """A hard link for every file of the environments that are there, and nothing else: no way to build is faster."""
    run(place, ["cp", "-al", str(place.project.environments), f"{place.project.environments}-linked"])


def python_alone(place: Place) -> None:
    """The start of the interpreter, before which no command of Python can do anything."""
    run(place, [sys.executable, "-c", ""])


def shared_sets(project: ActorProject) -> ActorProject:
    """The project with as many actors to a set of extras as nemo_rl's table has, rounded."""
    sets = [frozenset(extras) for extras in ACTOR_ENVIRONMENTS.values() if extras is not None]
    share = round(len(sets) / len(set(sets)))
    table = {
        f"{name}{number}": extras
        for name, extras in {"".join(extras or ()): extras for extras in project.table.values() if extras}.items()
        for number in range(share)
    }
    return project._replace(table=table)


def disk(folder: pathlib.Path) -> int:
    """Bytes that a folder occupies, a file with several names counted once."""
    found = {(status.st_dev, status.st_ino): status for status in (path.lstat() for path in folder.rglob("*"))}
    return sum(status.st_blocks * 512 for status in found.values())
