"""What the evidence costs on a tree of the public one's size, cold and warm, and how that grows with the actors.

Everything is compared with an empty pytest run of the same moment. Other tools run on the same tree, where they install.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from generated_tree import write_tree

EVIDENCE = "import-provided or extra-evidenced or actor-registered"
PEERS = {
    "import-linter": ["--from", "import-linter", "lint-imports"],
    "deptry": ["deptry", "generated"],
    "tach": ["--from", "tach", "tach", "map"],
}


def user_seconds(command: list[str], folder: Path) -> tuple[float, int]:
    """(user seconds with children, exit status) of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, done.returncode


def measured(root: Path, runs: int) -> tuple[float, float, float]:
    """User seconds of an empty run, and of cold and warm runs of the evidence guards above it, medians."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly"]
    (root / "empty").mkdir(exist_ok=True)
    (root / "empty" / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
    empty, cold, warm = [], [], []
    for _ in range(runs):
        empty.append(_passed([*pytest, "--no-actor-envs", "empty"], root))
        cold.append(_passed([*pytest, "--cache-clear", "pyproject.toml", "-k", EVIDENCE], root))
        warm.append(_passed([*pytest, "pyproject.toml", "-k", EVIDENCE], root))
    base = statistics.median(empty)
    return base, statistics.median(cold) - base, statistics.median(warm) - base


def _passed(command: list[str], root: Path) -> float:
    seconds, status = user_seconds(command, root)
    if status:
        raise SystemExit(f"exit status {status} of {' '.join(command)} in {root}: nothing was measured")
    return seconds


def main() -> int:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--actors", type=int, nargs="*", default=[100, 300, 1000], help="sizes of the growing trees")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "public-size"
        write_tree(root, actors=27, modules=300, lines=420, packages=550)
        base, cold, warm = measured(root, options.runs)
        print("tree of 300 modules, 126,000 lines, 27 actors, 550 locked packages; user seconds")
        print(f"  empty pytest run {base:.2f}   evidence above it: cold {cold:.2f}, warm {warm:.2f}")
        for peer, arguments in PEERS.items():
            command = [sys.executable, "-m", "uv", "tool", "run", *arguments]
            user_seconds(command, root)
            seconds, status = user_seconds(command, root)
            print(f"  {peer:14} {seconds:.2f} (exit status {status})")
        print("growing trees, modules in proportion, 60 lines each; user milliseconds per actor above an empty run")
        for actors in options.actors:
            root = Path(name) / f"actors-{actors}"
            write_tree(root, actors=actors, modules=11 * actors, lines=60, packages=550)
            _, cold, warm = measured(root, 1)
            print(f"  {actors:5} actors: cold {1000 * cold / actors:.1f}, warm {1000 * warm / actors:.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
