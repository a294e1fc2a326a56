"""The command with layer 2: the real mutmut over a small project, or none where it is not installed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.gate.conftest import COMMAND, Run, interrupted, more_guards
from tests.gate.test_gate import GUARD, STUCK

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
CODE_MUTANTS = 2
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
    assert "the tests that are to kill cannot be collected:" in done.stdout
    assert "No module named 'pkg.nothing'" in done.stdout
    assert done.stdout.endswith("gate: the baseline fails: tests that are red prove nothing\n")


def test_without_mutmut_it_is_2_with_how_to_install_it(mutated: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "without", symlinks=True)
    python = tmp_path / "without" / "bin" / "python"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PATH": str(python.parent)}
    command = [str(python), "-c", COMMAND, "--root", str(mutated), "gate", "--layer", "2"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr == ("mutmut is not installed, so no code mutant can be made\n    pip install mutmut==3.8.1\n")


def stuck_tests(sticks: str, reached: Path) -> str:
    """A file of tests that hold on wherever `sticks` is true, and go on writing into the copy, as tests do."""
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
    return "\n".join(lines) + "\n"


def with_time(root: Path) -> None:
    """Lets mutants of layer 1 wait for layer 2."""
    pyproject = root / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace("time-limit = 5", "time-limit = 15"))


WAITING = """
import time
from pathlib import Path

def wait_for(project, place):
    until = time.monotonic() + 50
    while "# marked" in project.tree.read_text(place.name) and not Path("REACHED").exists():
        assert time.monotonic() < until, "nothing else is at work"
        time.sleep(0.02)
"""
STATISTICS, MUTANT = "mutant == 'stats'", "mutant.startswith('pkg.')"


@pytest.mark.parametrize(
    ("sticks", "sent"), [(STATISTICS, signal.SIGINT), (MUTANT, signal.SIGTERM), (MUTANT, signal.SIGHUP)]
)
def test_interruption_leaves_no_process_and_no_copy(
    sticks: str, sent: signal.Signals, mutated: Path, tmp_path: Path
) -> None:
    reached, temporary = tmp_path / "reached", tmp_path / "temporary"
    temporary.mkdir()
    (mutated / "tests/test_numbers.py").write_text(stuck_tests(sticks, reached))
    environment = {name: value for name, value in os.environ.items() if name != "MUTANT_UNDER_TEST"}
    command = [sys.executable, "-c", COMMAND, "--root", str(mutated), "gate", "--layer", "2"]
    done = interrupted(command, {**environment, "TMPDIR": str(temporary)}, [reached], sent)
    assert done.returncode == 5, done.stdout + done.stderr
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interruption_ends_both_layers_and_counts_what_each_left(
    sent: signal.Signals, gate: Run, mutated: Path, tmp_path: Path
) -> None:
    reached, temporary = tmp_path / "reached", tmp_path / "temporary"
    temporary.mkdir()
    (mutated / "tests/test_numbers.py").write_text(stuck_tests(STATISTICS, reached))
    with_time(mutated)
    stuck = GUARD.replace('yield Finding(place.location, "it is marked")', "stick()\n        yield") + STUCK
    more = more_guards(tmp_path / "more", stuck)
    environment = {name: value for name, value in os.environ.items() if name != "MUTANT_UNDER_TEST"}
    environment.update(TMPDIR=str(temporary), PYTHONPATH=str(more))
    command = [sys.executable, "-c", COMMAND, "--root", str(mutated), "gate", "--report", "json"]
    done = interrupted(command, environment, [reached, more / "reached"], sent)
    assert done.returncode == 5, done.stdout + done.stderr
    report = json.loads(done.stdout)
    claims = gate("--list", guard=GUARD).stdout.splitlines()
    assert report["unknown"] + len(report["mutants"]) == len(claims) + CODE_MUTANTS
    assert {mutant["layer"] for mutant in report["mutants"]} <= {1}
    assert list(temporary.iterdir()) == []


def test_layer_two_is_at_work_while_layer_one_is(gate: Run, mutated: Path, tmp_path: Path) -> None:
    with_time(mutated)
    reached = tmp_path / "reached"
    touches = f"import pathlib\n{TEST}    pathlib.Path({str(reached)!r}).touch()\n"
    (mutated / "tests/test_numbers.py").write_text(touches)
    waits = GUARD.replace("    if ", "    wait_for(project, place)\n    if ") + WAITING.replace("REACHED", str(reached))
    done = gate(guard=waits)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "layer 2: 2 mutants: 2 killed" in done.stdout
