"""Small guarded projects in folders, and the gate run on them as a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil
import pytest

from pytest_actor_envs.cli import main
from pytest_actor_envs.gate.code_mutants import CodeMutantsResult, started_code_mutants
from pytest_actor_envs.gate.mutmut_process import Progress

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
Programs = Callable[..., Path]
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
        more = [] if guard is None else [str(more_guards(tmp_path / "more", guard))]
        return in_a_fork(lambda: main(["--root", str(small), "gate", *options]), tmp_path, more)

    return run


def in_a_fork(
    command: Callable[[], int], folder: Path, packages: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """What a command says and ends with, run in `folder` by a fork of this process with `packages` on its path.

    A fork, since mutmut's mutants are active in this process and its forks alone.
    """
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.dup2(stdout.fileno(), 1)
                os.dup2(stderr.fileno(), 2)
                # pytest has put objects of its own here, which no descriptor sees.
                sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
                os.chdir(folder)
                os.environ.pop("MUTANT_UNDER_TEST", None)
                sys.path[:0] = packages
                status = command()
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 1
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess([], status, stdout.read(), stderr.read())


def interrupted(
    command: Sequence[str], environment: Mapping[str, str], stuck: Sequence[Path], sent: signal.Signals
) -> subprocess.CompletedProcess[str]:
    """What a command says and ends with when a signal reaches it as soon as the files `stuck` are there.

    None of the processes that it had then may be left.
    """
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        process = psutil.Process(running.pid)
        deadline = time.monotonic() + 60
        while not all(path.exists() for path in stuck):
            if running.poll() is not None or time.monotonic() > deadline:
                running.terminate()
                pytest.fail(f"it did not come so far as to be interrupted: {running.communicate(timeout=60)}")
            time.sleep(0.02)
        below = process.children(recursive=True)
        assert below
        os.kill(running.pid, sent)
        out, err = running.communicate(timeout=60)
    _, alive = psutil.wait_procs(below, timeout=10)
    assert all(has_ended(found) for found in alive)
    return subprocess.CompletedProcess(command, running.returncode, out, err)


def has_ended(process: psutil.Process) -> bool:
    """Whether a process is gone, or only its status is left."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def more_guards(folder: Path, text: str) -> Path:
    """A folder that, on the path of an interpreter, is an installed distribution with one guard."""
    metadata = folder / "more-1.dist-info"
    metadata.mkdir(parents=True, exist_ok=True)
    (folder / "more_guards.py").write_text(text)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[actor_envs.guards]\nmore = more_guards:GUARD\n")
    return folder


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Makes scripts beside what passes for the running interpreter; gives their folder."""

    def made(**scripts: str) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        for name, lines in scripts.items():
            (folder / name).write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
            (folder / name).chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(folder / "python"))
        return folder

    return made


def run_code_mutants(
    root: Path,
    names: Sequence[str] | None,
    progress: Progress,
    prepare: Callable[[Path], dict[str, str]] | None = None,
) -> CodeMutantsResult:
    """What layer 2 alone comes to."""
    with started_code_mutants(root, names, prepare) as running:
        return running.result(progress)
