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
import pathlib
import re
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "venvs"), str(ROOT)]

from small_project import write_small_project  # noqa: E402
from venv_builds import (  # noqa: E402
    Place,
    disk,
    links_alone,
    naive,
    prefetch,
    python_alone,
    shared_sets,
    synced,
)

from nemo_rl.utils.actor_project import ActorProject  # noqa: E402

EQUAL_SETS = 4


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
        moved = (project or self.project)._replace(environments=folder / "environments")
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

    def bounds(self, place: Place) -> None:
        """What no way to build from a full cache can be faster than, against the naive sequence."""
        copies = place.project.environments.with_name(f"{place.project.environments.name}-linked")
        taken = []
        for _ in range(self.rounds):
            taken.append(taken_by(links_alone, place))
            shutil.rmtree(copies)
        self.time_line("links alone, one for each file", middle(taken), self.first["full"]["naive"])

    def second_build(self, place: Place) -> None:
        for jobs in (1, 2):
            work = functools.partial(prefetch, jobs=jobs)
            again = middle([taken_by(work, place) for _ in range(self.rounds)])
            for state, first in self.first.items():
                what = f"second build: --jobs {jobs}, against the first with {state} cache"
                self.time_line(what, again, first[f"jobs-{jobs}"], 20)
        start = middle([taken_by(python_alone, place) for _ in range(self.rounds)])
        self.time_line(
            "start of Python alone, against the first with empty cache", start, self.first["empty"]["jobs-2"]
        )

    def equal_sets(self) -> None:
        """Time and disk of several environments with one set of extras, from a full cache."""
        cache = self.scratch / "warm-cache"
        table = {f"small.equal.Actor{number}": ["markup"] for number in range(EQUAL_SETS)}
        equal = self.project._replace(table=table)
        one = self.project._replace(table=dict(list(table.items())[:1]))
        ways: dict[str, Callable[[Place], None]] = {
            "by this project": functools.partial(prefetch, jobs=1),
            "by uv, hardlink": functools.partial(synced, mode="hardlink"),
            "by uv, copy": functools.partial(synced, mode="copy"),
        }
        for way, work in ways.items():
            # A path with spaces would keep this project from linking.
            name = re.sub(r"\W+", "-", way)
            single, several = self.place(f"one-{name}", one, cache), self.place(f"equal-{name}", equal, cache)
            work(single)
            taken = []
            for _ in range(self.rounds):
                several.without_environments()
                taken.append(taken_by(work, several))
            self.time_line(f"{EQUAL_SETS} equal environments {way}", middle(taken))
            first, all_of_them = disk(single.project.environments), disk(several.project.environments)
            reached = "reached" if all_of_them <= 1.1 * first else "not reached"
            self.line(
                f"disk of {EQUAL_SETS} equal environments {way}",
                f"{all_of_them / 1e6:.2f} MB, {all_of_them / first:.2f} times one of {first / 1e6:.2f} MB",
                "",
                "",
                f"at most 1.1: {reached}" if way == "by this project" else "",
            )

    def times(self) -> None:
        """First and second builds."""
        self.first_builds(cold=True)
        built = self.first_builds(cold=False)
        self.bounds(built)
        self.second_build(built)

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
            small.equal_sets()
            shared = Bench(f"{title}, sets shared", shared_sets(project), scratch / "shared", rounds)
            shared.times()
            tables += [small.text(), shared.text()]
            shutil.rmtree(scratch)
    print("\n\n".join(tables))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
