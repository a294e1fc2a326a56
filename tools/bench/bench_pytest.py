"""What the guards cost: `make check` against an empty pytest run, the inert plugin's start-up, the time per item.

Each figure is a median of runs in turn (A B A B ...), so that a drift of the machine's speed hits both.
"""

from __future__ import annotations

import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUNS = 5


def user_seconds(command: list[str], folder: Path) -> tuple[float, str]:
    """User seconds of one run of a command, children included, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, done.stdout


def main() -> int:
    """Prints the figures. Exit status: 0 measured, 1 a run did not do what is measured."""
    pytest = [sys.executable, "-m", "pytest"]
    with tempfile.TemporaryDirectory() as name:
        empty = Path(name)
        (empty / "pyproject.toml").write_text('[project]\nname = "empty"\nversion = "1"\n', encoding="utf-8")
        (empty / "test_nothing.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")
        commands = {
            "empty pytest run, no plugin": ([*pytest, "-p", "no:actor-envs"], empty),
            "empty pytest run, inert plugin": (pytest, empty),
            "guards of this project": ([*pytest, "pyproject.toml"], ROOT),
        }
        seconds: dict[str, list[float]] = {title: [] for title in commands}
        items = 0
        for _ in range(RUNS):
            for title, (command, folder) in commands.items():
                used, output = user_seconds(command, folder)
                passed = re.search(r"(\d+) passed", output)
                if passed is None or "failed" in output:
                    print(f"{title}: the run did not pass\n{output}", file=sys.stderr)
                    return 1
                seconds[title].append(used)
                items = int(passed[1])
    medians = {title: statistics.median(runs) for title, runs in seconds.items()}
    bare, inert, guards = medians.values()
    for title, runs in seconds.items():
        print(f"{title:32} {medians[title]:6.2f} s user (from {min(runs):.2f} to {max(runs):.2f})")
    print(f"{'guards / empty run':32} {guards / bare:6.2f}")
    print(f"{'inert plugin, start-up':32} {(inert - bare) * 1000:6.0f} ms")
    print(f"{'time per item':32} {(guards - inert) / items * 1000:6.2f} ms ({items} items)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
