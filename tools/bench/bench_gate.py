"""Mutants a second: subject mutants (static and behavioural guards), code mutants, and peers on the same three files.

Each part runs in turn in one run of this program, on copies. Peers get their default settings and `SECONDS` each;
cosmic-ray is installed into an environment of its own, and left out, with the reason, where it cannot be. Starting up
(making mutants, first runs of the tests) is left out for all of them and shown beside.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pytest_actor_envs.gate.claims import claims_of
from pytest_actor_envs.gate.code_mutants import started_code_mutants
from pytest_actor_envs.gate.mutmut_process import PROGRESS, copied, mutmut_command
from pytest_actor_envs.gate.subject_mutants import Bench, run_claims
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.project import open_project

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60
SAMPLE = 200
SEED = 6
FILES = (
    "nemo_rl/distributed/actor_environments.py",
    "nemo_rl/distributed/py_executables.py",
    "nemo_rl/distributed/ray_actor_environment_registry.py",
)
TESTS = (
    "tests/system/test_actor_environments.py",
    "tests/system/test_py_executables.py",
    "tests/system/test_registry.py",
)
PLAIN_MUTMUT = f"""
[tool.mutmut]
source_paths = ["nemo_rl"]
only_mutate = {list(FILES)}
also_copy = ["pytest_actor_envs", "tools", "docker", "docs", "README.md"]
pytest_add_cli_args_test_selection = {list(TESTS)}
"""
COSMIC_RAY = f"""
[cosmic-ray]
module-path = {list(FILES)}
timeout = 60.0
excluded-modules = []
test-command = "{{python}} -m pytest -x -q -p no:xdist -p no:cacheprovider {" ".join(TESTS)}"
[cosmic-ray.distributor]
name = "local"
"""


def show(title: str, done: int, seconds: float, note: str) -> None:
    """One line of the table."""
    rate = f"{done / seconds:7.1f}" if done and seconds else "      -"
    print(f"{title:44} {done:5} mutants {seconds:7.1f} s {rate} mutants/s  {note}", flush=True)


def subject_mutants(jobs: int) -> None:
    """Both kinds of layer 1, a sample of each."""
    project = open_project(ROOT)
    assert project is not None
    bench = Bench(project, load_guards())
    claims = claims_of(bench.project, bench.guards)
    for title, chosen in (
        ("layer 1, static guards", [claim for claim in claims if claim.guard not in bench.behavioural]),
        ("layer 1, behavioural guards", [claim for claim in claims if claim.guard in bench.behavioural]),
    ):
        sample = random.Random(SEED).sample(chosen, min(SAMPLE, len(chosen)))
        started = time.monotonic()
        with contextlib.closing(run_claims(bench, sample, jobs)) as running:
            done = sum(1 for _ in running)
        show(title, done, time.monotonic() - started, f"of {len(chosen)}, {jobs} processes")


def code_mutants() -> None:
    """Layer 2 on the three files, with the project's own settings."""
    times: list[tuple[int, float]] = []
    started = time.monotonic()
    names = [f"{path.removesuffix('.py').replace('/', '.')}.*" for path in FILES]
    with started_code_mutants(ROOT, names) as running:
        result = running.result(lambda done, of: times.append((done, time.monotonic())))
    first = times[0][1]
    show("layer 2", len(result.reports), times[-1][1] - first, f"{first - started:.0f} s to start")


def plain_mutmut(folder: Path) -> None:
    """`mutmut run` with nothing set but what to mutate and which tests to run."""
    copy = copied(ROOT, folder)
    pyproject = copy / "pyproject.toml"
    text = re.sub(r"(?ms)^\[tool\.mutmut\]\n.*?(?=^\[)", "", pyproject.read_text(encoding="utf-8"))
    pyproject.write_text(text + PLAIN_MUTMUT, encoding="utf-8")
    started = time.monotonic()
    child = subprocess.Popen(
        [mutmut_command(), "run"], cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    assert child.stdout is not None
    first, last, done, output = 0.0, 0.0, 0, b""
    try:
        while chunk := os.read(child.stdout.fileno(), 1 << 16):
            output += chunk
            counts = PROGRESS.findall(chunk)
            if counts:
                last, done = time.monotonic(), int(counts[-1][0])
                first = first or last
            if first and last - first > SECONDS:
                break
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGTERM)
        child.wait()
    if not first:
        show("mutmut, default settings", 0, 0.0, f"did not start: {output[-300:].decode(errors='replace')!r}")
        return
    show("mutmut, default settings", done, last - first, f"{first - started:.0f} s to start")


def cosmic_ray(folder: Path) -> None:
    """cosmic-ray with its local distributor, which uses one core."""
    python = folder / "venv" / "bin" / "python"
    uv = Path(sys.executable).with_name("uv")
    copy = copied(ROOT, folder)
    steps = (
        [sys.executable, "-m", "venv", folder / "venv"],
        [uv, "pip", "install", "--quiet", "--python", python, "cosmic-ray", copy, copy / "pytest_actor_envs"],
        [uv, "pip", "uninstall", "--quiet", "--python", python, "nemo-rl"],
    )
    for step in steps:
        done = subprocess.run([*map(str, step)], capture_output=True, text=True, check=False)
        if done.returncode:
            show("cosmic-ray", 0, 0.0, f"cannot be installed: {done.stderr.strip()[-200:]}")
            return
    (copy / "cosmic.toml").write_text(COSMIC_RAY.format(python=python), encoding="utf-8")
    command = str(python.with_name("cosmic-ray"))
    subprocess.run([command, "init", "cosmic.toml", "cosmic.sqlite"], cwd=copy, check=True, capture_output=True)
    started = time.monotonic()
    child = subprocess.Popen(
        [command, "exec", "cosmic.toml", "cosmic.sqlite"], cwd=copy, stderr=subprocess.DEVNULL, start_new_session=True
    )
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(SECONDS)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
    child.wait()
    seconds = time.monotonic() - started
    with contextlib.closing(sqlite3.connect(copy / "cosmic.sqlite")) as database:
        (done_mutants,) = database.execute("select count(*) from work_results").fetchone()
        (killed,) = database.execute("select count(*) from work_results where test_outcome = 'KILLED'").fetchone()
    show("cosmic-ray, default settings", done_mutants, seconds, f"one core; {killed} killed")


def main() -> int:
    """Prints the table. Exit status 0."""
    jobs = os.cpu_count() or 1
    subject_mutants(jobs)
    code_mutants()
    for peer in (plain_mutmut, cosmic_ray):
        folder = Path(tempfile.mkdtemp(prefix="bench-gate-"))
        try:
            peer(folder)
        finally:
            shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
