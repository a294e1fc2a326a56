"""How long environments take to build, and how much disk they need: ``make bench-venvs``.

Everything is measured in one run on the small project of the tests, once with tiny packages only and once with Ray
below them, as nemo_rl has it. Ratios are what counts; the goals are those of the project. Needs the package index.
"""

import argparse
import contextlib
import dataclasses
import functools
import importlib.metadata
import io
import os
import pathlib
import pickle
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "venvs"), str(ROOT)]

from small_project import write_small_project  # noqa: E402

from nemo_rl.utils import uv_command  # noqa: E402
from nemo_rl.utils.actor_project import ActorProject  # noqa: E402

EQUAL_SETS = 4
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


def linked(place: Place, mode: str) -> None:
    """The builder's own two steps for every actor, one after the other, with a link mode."""
    uv = uv_command.find_uv()
    for actor in place.project.actors_with_environment():
        for with_project in (False, True):
            arguments = uv_command.sync_arguments(
                place.project.root, sys.executable, place.project.extras_of(actor) or (), with_project
            )
            arguments[arguments.index("hardlink")] = mode
            run(place, [uv, *arguments], UV_PROJECT_ENVIRONMENT=str(place.project.folder_of(actor)))


def seconds(work: Callable[[Place], None], place: Place) -> float:
    began = time.perf_counter()
    work(place)
    return time.perf_counter() - began


def disk(folder: pathlib.Path) -> int:
    """Bytes that a folder occupies, a file with several names counted once."""
    found = {(status.st_dev, status.st_ino): status for status in (path.lstat() for path in folder.rglob("*"))}
    return sum(status.st_blocks * 512 for status in found.values())


class Bench:
    """Measures one project; a line of the table for each measurement."""

    def __init__(self, title: str, project: ActorProject, scratch: pathlib.Path, rounds: int) -> None:
        self.project = project
        self.scratch = scratch
        self.rounds = rounds
        self.first: dict[str, dict[str, float]] = {}
        self.lines = [f"### {title}", "", "| what | seconds or MB | ratio | goal |", "|---|---|---|---|"]

    def place(self, name: str, project: ActorProject | None = None, cache: pathlib.Path | None = None) -> Place:
        folder = self.scratch / name
        moved = dataclasses.replace(project or self.project, environments=folder / "environments")
        return Place(moved, cache or folder / "cache")

    def line(self, what: str, value: float, ratio: str = "", goal: str = "") -> None:
        self.lines.append(f"| {what} | {value:.2f} | {ratio} | {goal} |")
        print(self.lines[-1], file=sys.stderr, flush=True)

    def first_builds(self, cold: bool) -> Place:
        """All environments from nothing, by the naive sequence and by this project, in turns; returns a built place."""
        cache = self.scratch / "warm-cache"
        names = ["naive", "jobs-1", "jobs-2"]
        places = {name: self.place(f"{name}-{cold}", cache=None if cold else cache) for name in names}
        work: dict[str, Callable[[Place], None]] = {
            "naive": naive,
            "jobs-1": functools.partial(prefetch, jobs=1),
            "jobs-2": functools.partial(prefetch, jobs=2),
        }
        if not cold:
            prefetch(self.place("fill", cache=cache), 2)
        times: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(1 if cold else self.rounds):
            for name in names:
                places[name].without_environments()
                times[name].append(seconds(work[name], places[name]))
        middle = {name: statistics.median(values) for name, values in times.items()}
        state = "empty" if cold else "full"
        self.line(f"first build, {state} cache: naive sequence", middle["naive"], "1.0")
        for name, jobs in (("jobs-1", 1), ("jobs-2", 2)):
            factor = middle["naive"] / middle[name]
            reached = "reached" if factor >= 2 else "not reached"
            goal = f"at least 2 times faster: {reached}" if jobs == 2 else ""
            self.line(f"first build, {state} cache: --jobs {jobs}", middle[name], f"{factor:.1f} times faster", goal)
        self.first[state] = middle
        return places["jobs-2"]

    def second_build(self, place: Place) -> None:
        for jobs in (1, 2):
            work = functools.partial(prefetch, jobs=jobs)
            again = statistics.median(seconds(work, place) for _ in range(self.rounds))
            for state in ("empty", "full"):
                factor = self.first[state][f"jobs-{jobs}"] / again
                reached = "reached" if factor >= 20 else "not reached"
                ratio = f"{factor:.1f} times faster than the first with {state} cache"
                self.line(f"second build: --jobs {jobs}", again, ratio, f"at least 20 times: {reached}")

    def link_modes(self) -> None:
        cache = self.scratch / "warm-cache"
        table = {f"small.equal.Actor{number}": ["markup"] for number in range(EQUAL_SETS)}
        equal = dataclasses.replace(self.project, table=table)
        one = dataclasses.replace(self.project, table=dict(list(table.items())[:1]))
        for mode in ("hardlink", "copy"):
            single, several = self.place(f"one-{mode}", one, cache), self.place(f"equal-{mode}", equal, cache)
            linked(single, mode)
            taken = []
            for _ in range(self.rounds):
                several.without_environments()
                taken.append(seconds(functools.partial(linked, mode=mode), several))
            self.line(f"{EQUAL_SETS} equal environments, {mode}", statistics.median(taken))
            first, all_of_them = disk(single.project.environments), disk(several.project.environments)
            factor = all_of_them / first
            goal = (
                f"at most 1.1 times one: {'reached' if factor <= 1.1 else 'not reached'}" if mode == "hardlink" else ""
            )
            self.line(f"disk of one environment, {mode}", first / 1e6)
            self.line(f"disk of {EQUAL_SETS} equal environments, {mode}", all_of_them / 1e6, f"{factor:.2f}", goal)

    def all(self) -> str:
        self.first_builds(cold=True)
        place = self.first_builds(cold=False)
        self.second_build(place)
        self.link_modes()
        return "\n".join(self.lines)


def main(argv: list[str]) -> int:
    """Print the tables; returns the exit code, 0."""
    parser = argparse.ArgumentParser(prog="bench_venvs.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="how often what needs no download is repeated")
    rounds = parser.parse_args(argv).rounds
    tables = []
    with tempfile.TemporaryDirectory(prefix="bench-venvs-") as folder:
        for title, dependencies in (
            ("tiny packages alone", ""),
            ("with Ray below", f'"ray=={importlib.metadata.version("ray")}"'),
        ):
            scratch = pathlib.Path(folder) / title.replace(" ", "-")
            scratch.mkdir()
            with contextlib.redirect_stdout(io.StringIO()):
                project = write_small_project(scratch, dependencies)
            tables.append(Bench(title, project, scratch, rounds).all())
    print("\n\n".join(tables))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
