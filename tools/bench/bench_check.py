"""What the evidence costs on a tree of the public one's size, and how that grows with the actors.

Cold is a run that knows nothing, warm one after which nothing has changed, edited one after which a helper has that most
actors import.

Everything is compared with an empty pytest run of the same moment, in user seconds with children. Other tools run on the
same tree in the same turn, where they install. Bytecode is written, whatever the environment says, as `make check` does.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from generated_tree import write_tree

EVIDENCE = (
    "import-provided",
    "guarded-import-provided",
    "extra-evidenced",
    "extra-locked",
    "extra-used",
    "actor-registered",
    "actor-launched-by-registry",
)
PEERS = {
    "import-linter": ["--from", "import-linter", "lint-imports"],
    "deptry": ["deptry", "generated"],
    "tach": ["--from", "tach", "tach", "map"],
}
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly"]
HELPER = "generated/helpers/helper0.py"
EMPTY = [*PYTEST, "--no-actor-envs", "empty"]


def user_seconds(command: list[str], folder: Path) -> tuple[float, int]:
    """(user seconds with children, exit status) of one run."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, done.returncode


def passed(command: list[str], folder: Path) -> float:
    """User seconds of a run that has to exit with 0."""
    seconds, status = user_seconds(command, folder)
    if status:
        raise SystemExit(f"exit status {status} of {' '.join(command)} in {folder}: nothing was measured")
    return seconds


class Seconds(NamedTuple):
    """User seconds of an empty run, and what runs of some guards take above it; medians of turns."""

    empty: float
    cold: float
    warm: float
    edited: float

    def __str__(self) -> str:
        return f"cold {self.cold:.2f}, warm {self.warm:.2f}, edited {self.edited:.2f}"


def measured(root: Path, guards: list[str], runs: int) -> Seconds:
    """What some guards of a tree take."""
    (root / "empty").mkdir(exist_ok=True)
    (root / "empty" / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
    passed([*PYTEST, *guards], root)
    turns = []
    for turn in range(runs):
        empty = passed(EMPTY, root)
        cold = passed([*PYTEST, "--cache-clear", *guards], root) - empty
        warm = passed([*PYTEST, *guards], root) - empty
        with (root / HELPER).open("a") as helper:
            helper.write(f"import json as of_turn_{turn}\n")
        turns.append((empty, cold, warm, passed([*PYTEST, *guards], root) - empty))
    return Seconds(*(statistics.median(column) for column in zip(*turns, strict=True)))


def peer_seconds(arguments: list[str], root: Path, runs: int) -> str:
    """Median user seconds of another tool, or that it does not install."""
    command = [sys.executable, "-m", "uv", "tool", "run", *arguments]
    _, status = user_seconds(command, root)
    if status > 1:
        return f"does not run here (exit status {status})"
    return f"{statistics.median(user_seconds(command, root)[0] for _ in range(runs)):.2f}"


def main() -> int:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--actors", type=int, nargs="*", default=[100, 300, 1000], help="sizes of the growing trees")
    options = parser.parse_args()
    evidence = [f"pyproject.toml::{guard}" for guard in EVIDENCE]
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "public-size"
        write_tree(root, actors=27, modules=300, lines=420, packages=550)
        print("tree of 300 modules, 126,000 lines, 27 actors, 550 locked packages; user seconds")
        evidence_seconds = measured(root, evidence, options.runs)
        print(f"  empty pytest run {evidence_seconds.empty:.2f}   evidence above it: {evidence_seconds}")
        all_seconds = measured(root, ["pyproject.toml"], options.runs)
        print(f"  all guards that the tree has sources for, above it: {all_seconds}")
        for peer, arguments in PEERS.items():
            print(f"  {peer:14} {peer_seconds(arguments, root, options.runs)}")
        print("growing trees, modules in proportion, 60 lines each; user milliseconds per actor above an empty run")
        per_actor = []
        for actors in options.actors:
            root = Path(name) / f"actors-{actors}"
            write_tree(root, actors=actors, modules=11 * actors, lines=60, packages=550)
            _, *above = measured(root, evidence, min(options.runs, 3))
            per_actor.append([1000 * seconds / actors for seconds in above])
            cold, warm, edited = per_actor[-1]
            print(f"  {actors:5} actors: cold {cold:.1f}, warm {warm:.1f}, edited {edited:.1f}")
        cold, warm, edited = (last / first - 1 for first, last in zip(per_actor[0], per_actor[-1], strict=True))
        print(f"  from the first to the last: cold {cold:+.0%}, warm {warm:+.0%}, edited {edited:+.0%}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
