"""The command with layer 2: the real mutmut over a small project, or none where it is not installed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path

import psutil
import pytest

from tests.gate.conftest import COMMAND, Run

MUTMUT = """
[tool.mutmut]
source_paths = ["pkg"]
only_mutate = ["pkg/numbers_of.py"]
process_isolation = "forkserver"
pytest_add_cli_args = [
    "--maxfail=0", "--disable-plugin-autoload", "-p", "pytest_actor_envs.gate.kill_recorder", "-p", "no:cacheprovider",
]
pytest_add_cli_args_test_selection = ["tests"]
"""
CODE = "def doubled(number):\n    return number * 2\n"
TEST = "from pkg.numbers_of import doubled\n\n\ndef test_doubled():\n    assert doubled(3) == 6\n"


@pytest.fixture
def mutated(small: Path) -> Path:
    """The small project with one function to mutate and a test that kills all its mutants."""
    pyproject = small / "pyproject.toml"
    pyproject.write_text(pyproject.read_text() + MUTMUT)
    (small / "pkg/numbers_of.py").write_text(CODE)
    (small / "tests").mkdir()
    (small / "tests/test_numbers.py").write_text(TEST)
    return small


def test_a_code_mutant_that_survives_is_1_with_its_diff(gate: Run, mutated: Path) -> None:
    test = TEST.replace("assert doubled(3) == 6", 'assert str(doubled(0)) == "0"')
    (mutated / "tests/test_numbers.py").write_text(test)
    done = gate("--layer", "2")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "layer 2: 2 mutants: 1 killed, 1 survived" in done.stdout
    assert ": survived\n    reached by tests/test_numbers.py::test_doubled\n    --- " in done.stdout
    assert "    -    return number * 2\n    +    return number * 3\n" in done.stdout
    assert done.stdout.endswith("gate: not proven: a mutant survived, or a guard is not live\n")


def test_a_suite_that_cannot_be_collected_is_4_with_what_pytest_says(gate: Run, mutated: Path) -> None:
    (mutated / "tests/test_numbers.py").write_text("import pkg.nothing\n")
    done = gate("--layer", "2")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "the tests that are to kill cannot be collected:" in done.stderr
    assert "No module named 'pkg.nothing'" in done.stderr
    assert "gate: the baseline fails: tests that are red prove nothing" in done.stderr


def test_without_mutmut_it_is_2_with_how_to_install_it(mutated: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "without", symlinks=True)
    python = tmp_path / "without" / "bin" / "python"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PATH": str(python.parent)}
    command = [str(python), "-c", COMMAND, "--root", str(mutated), "gate", "--layer", "2"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr == ("mutmut is not installed, so no code mutant can be made\n    pip install mutmut==3.8.1\n")


@pytest.mark.parametrize(("stuck_in", "sent"), [("stats", signal.SIGINT), ("mutant", signal.SIGTERM)])
def test_interruption_leaves_no_process_and_no_copy(
    stuck_in: str, sent: signal.Signals, mutated: Path, tmp_path: Path
) -> None:
    reached, temporary = tmp_path / "reached", tmp_path / "temporary"
    temporary.mkdir()
    # Whoever is stuck goes on writing into the copy, as tests do.
    sticks = "mutant.startswith('pkg.')" if stuck_in == "mutant" else "mutant == 'stats'"
    lines = (
        "import os, pathlib, time",
        "from pkg.numbers_of import doubled",
        "def test_doubled():",
        "    assert doubled(0) == 0",
        "    mutant = os.environ['MUTANT_UNDER_TEST']",
        f"    for number in range(6000 if {sticks} else 0):",
        f"        pathlib.Path({str(reached)!r}).touch()",
        "        pathlib.Path(f'written-{os.getpid()}-{number}').touch()",
        "        time.sleep(0.01)",
    )
    (mutated / "tests/test_numbers.py").write_text("\n".join(lines) + "\n")
    environment = {name: value for name, value in os.environ.items() if name != "MUTANT_UNDER_TEST"}
    command = [sys.executable, "-c", COMMAND, "--root", str(mutated), "gate", "--layer", "2"]
    running = subprocess.Popen(
        command,
        env={**environment, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process = psutil.Process(running.pid)
    deadline = time.monotonic() + 60
    while not reached.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    below = process.children(recursive=True)
    assert below
    os.kill(running.pid, sent)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 5, out + err
    assert list(temporary.iterdir()) == []
    _, alive = psutil.wait_procs(below, timeout=10)
    assert not [found for found in alive if found.status() != psutil.STATUS_ZOMBIE]
