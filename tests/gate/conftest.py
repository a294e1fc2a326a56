"""Small guarded projects in folders, and the gate run on them as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

PYPROJECT = """
[project]
name = "small"
version = "1"
dependencies = ["ray"]
[project.optional-dependencies]
a = ["torch"]
b = ["numpy"]
[tool.pytest-actor-envs]
leaf = "pkg/envs.py"
docs = []
time-limit = 5
"""
LEAF = '''"""The table."""

ACTOR_ENVIRONMENTS: dict[str, list[str] | None] = {
    "pkg.workers.One": ["a"],
    "pkg.others.Two": None,
}


def main(argv: list[str]) -> int:
    stage, *skipped = argv
    known = {extra for extras in ACTOR_ENVIRONMENTS.values() for extra in extras or ()}
    if stage not in ("all", "deps", "trtllm") or not known.issuperset(skipped):
        import sys
        print("unknown", file=sys.stderr)
        return 2
    for name, extras in sorted(ACTOR_ENVIRONMENTS.items()):
        if extras and stage in ("all", "deps") and not set(skipped).intersection(extras):
            print(name, "deps", " ".join(f"--extra {extra}" for extra in extras), sep="\\t")
    return 0


if __name__ == "__main__":
    import sys
    raise SystemExit(main(sys.argv[1:]))
'''
WORKERS = """import ray


@ray.remote
class One:
    def build(self):
        import torch
"""
OTHERS = """import ray


@ray.remote
class Two:
    pass
"""
STAND_ALONE = '[tool.pytest-actor-envs.stand-alone-extras]\nb = "for tests"\n'

FILES: Mapping[str, str] = {
    "pyproject.toml": PYPROJECT + STAND_ALONE,
    "pkg/__init__.py": "",
    "pkg/envs.py": LEAF,
    "pkg/workers.py": WORKERS,
    "pkg/others.py": OTHERS,
}
COMMAND = "from pytest_actor_envs.cli import main; raise SystemExit(main())"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A small project that is green."""
    root = tmp_path / "small"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture
def gate(small: Path, tmp_path: Path) -> Run:
    """Runs `actor-envs gate` on the small project; `guard` is the text of a module with one more guard."""

    def run(*options: str, guard: str | None = None) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if name != "MUTANT_UNDER_TEST"}
        if guard is not None:
            environment["PYTHONPATH"] = str(more_guards(tmp_path / "more", guard))
        command = [sys.executable, "-c", COMMAND, "--root", str(small), "gate", *options]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    return run


def more_guards(folder: Path, text: str) -> Path:
    """A folder that, on the path of an interpreter, is an installed distribution with one guard."""
    metadata = folder / "more-1.dist-info"
    metadata.mkdir(parents=True, exist_ok=True)
    (folder / "more_guards.py").write_text(text)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[actor_envs.guards]\nmore = more_guards:GUARD\n")
    return folder
