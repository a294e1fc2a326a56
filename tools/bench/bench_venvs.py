"""How long environments take to build, and how much disk they need: ``make bench-venvs``.

Everything is measured in one run on the small project of the tests, once with tiny packages only and once with Ray
below them, as nemo_rl has it, and then with as many actors to a set of extras as nemo_rl's table has. Ratios are what
counts, of elapsed time and, where other work shares the machine, of processor time; the goals are those of the project.
Needs the package index.
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
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "venvs"), str(ROOT)]

from small_project import write_small_project  # noqa: E402

from nemo_rl.distributed.actor_environments import ACTOR_ENVIRONMENTS  # noqa: E402
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


@dataclasses.dataclass(frozen=True)
class Taken:
    """Seconds that something took: elapsed, and of processors, all children included."""

    elapsed: float
    processor: float

    def times_faster_than(self, other: "Taken") -> str:
        return f"{other.elapsed / self.elapsed:.1f} ({other.processor / self.processor:.1f})"


def processor_seconds() -> float:
    """What all children that have ended used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def taken_by(work: Callable[[Place], None], place: Place) -> Taken:
    began, used = time.perf_counter(), processor_seconds()
    work(place)
    return Taken(time.perf_counter() - began, processor_seconds() - used)


def middle(times: Sequence[Taken]) -> Taken:
    """The medians."""
    return Taken(statistics.median(t.elapsed for t in times), statistics.median(t.processor for t in times))


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


class Bench:
    """Measures one project; a line of the table for each measurement."""

    def __init__(self, title: str, project: ActorProject, scratch: pathlib.Path, rounds: int) -> None:
        self.project = project
        self.scratch = scratch
        self.rounds = rounds
        self.first: dict[str, dict[str, Taken]] = {}
        count = len(project.actors_with_environment())
        self.lines = [f"### {title}, {count} environments", ""]
        self.lines += ["| what | elapsed s | processor s | times faster | goal |", "|---|---|---|---|---|"]

    def place(self, name: str, project: ActorProject | None = None, cache: pathlib.Path | None = None) -> Place:
        folder = self.scratch / name
        moved = dataclasses.replace(project or self.project, environments=folder / "environments")
        return Place(moved, cache or folder / "cache")

    def line(self, *cells: str) -> None:
        self.lines.append("| " + " | ".join(cells) + " |")
        print(self.lines[-1], file=sys.stderr, flush=True)

    def time_line(self, what: str, taken: Taken, base: Taken | None = None, goal: float | None = None) -> None:
        """One line; with a goal, how many times faster than the base it should be, and whether elapsed time is."""
        cells = [what, f"{taken.elapsed:.2f}", f"{taken.processor:.2f}"]
        cells.append(taken.times_faster_than(base) if base else "")
        if base and goal:
            reached = "reached" if base.elapsed / taken.elapsed >= goal else "not reached"
            cells.append(f"{goal:.0f}: {reached}")
        else:
            cells.append("")
        self.line(*cells)

    def first_builds(self, cold: bool) -> Place:
        """All environments from nothing, by the naive sequence and by this project, in turns; returns a built place."""
        cache = self.scratch / "warm-cache"
        work: dict[str, Callable[[Place], None]] = {
            "naive": naive,
            "jobs-1": functools.partial(prefetch, jobs=1),
            "jobs-2": functools.partial(prefetch, jobs=2),
        }
        if not cold:
            prefetch(self.place("fill", cache=cache), 2)
        times: dict[str, list[Taken]] = {name: [] for name in work}
        rounds = 1 if cold else self.rounds
        for turn in range(rounds):
            places = {name: self.place(f"{name}-{cold}-{turn}", cache=None if cold else cache) for name in work}
            for name, place in places.items():
                times[name].append(taken_by(work[name], place))
                if turn < rounds - 1:
                    shutil.rmtree(place.project.environments.parent)
        state = "empty" if cold else "full"
        self.first[state] = {name: middle(values) for name, values in times.items()}
        base = self.first[state]["naive"]
        self.time_line(f"first build, {state} cache: naive sequence", base)
        self.time_line(f"first build, {state} cache: --jobs 1", self.first[state]["jobs-1"], base)
        self.time_line(f"first build, {state} cache: --jobs 2", self.first[state]["jobs-2"], base, 2)
        return places["jobs-2"]

    def second_build(self, place: Place) -> None:
        for jobs in (1, 2):
            work = functools.partial(prefetch, jobs=jobs)
            again = middle([taken_by(work, place) for _ in range(self.rounds)])
            for state, first in self.first.items():
                what = f"second build: --jobs {jobs}, against the first with {state} cache"
                self.time_line(what, again, first[f"jobs-{jobs}"], 20)

    def link_modes(self) -> None:
        cache = self.scratch / "warm-cache"
        table = {f"small.equal.Actor{number}": ["markup"] for number in range(EQUAL_SETS)}
        equal = self.project._replace(table=table)
        one = self.project._replace(table=dict(list(table.items())[:1]))
        for mode in ("hardlink", "copy"):
            single, several = self.place(f"one-{mode}", one, cache), self.place(f"equal-{mode}", equal, cache)
            linked(single, mode)
            taken = []
            for _ in range(self.rounds):
                several.without_environments()
                taken.append(taken_by(functools.partial(linked, mode=mode), several))
            self.time_line(f"{EQUAL_SETS} equal environments, {mode}", middle(taken))
            first, all_of_them = disk(single.project.environments), disk(several.project.environments)
            reached = "reached" if all_of_them <= 1.1 * first else "not reached"
            self.line(
                f"disk of {EQUAL_SETS} equal environments, {mode}",
                f"{all_of_them / 1e6:.2f} MB, {all_of_them / first:.2f} times one of {first / 1e6:.2f} MB",
                "",
                "",
                f"at most 1.1: {reached}" if mode == "hardlink" else "",
            )

    def times(self) -> None:
        """First and second builds."""
        self.first_builds(cold=True)
        self.second_build(self.first_builds(cold=False))

    def text(self) -> str:
        """The table so far."""
        return "\n".join(self.lines)


def main(argv: list[str]) -> int:
    """Print the tables; returns the exit code, 0."""
    parser = argparse.ArgumentParser(prog="bench_venvs.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="how often what needs no download is repeated")
    rounds = parser.parse_args(argv).rounds
    tables: list[str] = []
    with tempfile.TemporaryDirectory(prefix="bench-venvs-") as folder:
        for title, dependencies in (
            ("tiny packages alone", ""),
            ("with Ray below", f'"ray=={importlib.metadata.version("ray")}"'),
        ):
            scratch = pathlib.Path(folder) / title.replace(" ", "-")
            scratch.mkdir()
            with contextlib.redirect_stdout(io.StringIO()):
                project = write_small_project(scratch, dependencies)
            small = Bench(title, project, scratch / "small", rounds)
            small.times()
            small.link_modes()
            shared = Bench(f"{title}, sets shared", shared_sets(project), scratch / "shared", rounds)
            shared.times()
            tables += [small.text(), shared.text()]
            shutil.rmtree(scratch)
    print("\n\n".join(tables))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
