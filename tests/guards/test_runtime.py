"""Project code runs in a process of its own that it can neither see the tester's variables in nor outlive."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_actor_envs.sources.runtime import ChildRunner, run_in_process, runner_for

Ask = Callable[[str], dict[str, Any]]
LIMIT = 5.0


def request(code: str) -> dict[str, Any]:
    """A question whose answer is what `main` prints in a leaf of this code."""
    return {
        "observer": "script",
        "arguments": {"module": "leaf", "path": "leaf.py", "calls": [["all"]]},
        "variables": {"GIVEN": "1"},
        "packages": ["leaf"],
        "root": None,
        "overlay": {"leaf.py": f"import os, sys\n\ndef main(argv):\n    {code}\n"},
        "time_limit": LIMIT,
    }


@pytest.fixture
def runner() -> Iterator[ChildRunner]:
    runner = ChildRunner()
    yield runner
    del runner
    gc.collect()


def printed(answer: dict[str, Any]) -> str:
    text: str = answer["value"]['["all"]']["stdout"]
    return text


@pytest.mark.parametrize("run", [ChildRunner(), run_in_process], ids=["child", "process"])
def test_code_sees_a_cleaned_environment_with_the_variables_given(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NEMO_RL_X", "NRL_X", "UV_X", "VIRTUAL_ENV", "PYTHONPATH"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("KEPT", "1")
    names = '("NEMO_RL_X", "NRL_X", "UV_X", "VIRTUAL_ENV", "PYTHONPATH", "PATH", "GIVEN")'
    asked = request(f"print([name for name in {names} if name in os.environ])")
    assert printed(run(asked, LIMIT)) == "['PATH', 'GIVEN']\n"
    assert os.environ["NEMO_RL_X"] == "1"
    assert "GIVEN" not in os.environ


def test_the_interpreter_is_started_once_and_forked_for_each_question(runner: ChildRunner) -> None:
    ids = [printed(runner(request("print(os.getppid(), os.getpid())"), LIMIT)).split() for _ in range(2)]
    assert ids[0][0] == ids[1][0]
    assert ids[0][1] != ids[1][1]


def test_nothing_stays_from_one_question_to_the_next(runner: ChildRunner) -> None:
    runner(request("import json; json.left_behind = True"), LIMIT)
    assert printed(runner(request('import json; print(hasattr(json, "left_behind"))'), LIMIT)) == "False\n"


@pytest.mark.parametrize(("code", "status"), [("os._exit(3)", 3), ("os.kill(os.getpid(), 9)", -9)])
def test_code_that_ends_its_process_is_an_answer_and_the_next_question_is_answered(
    runner: ChildRunner, code: str, status: int
) -> None:
    assert runner(request(code), LIMIT)["error"] == {
        "type": "ChildProcessError",
        "message": f"its process ended with status {status}",
        "path": None,
        "line": None,
    }
    assert printed(runner(request('print("still here")'), LIMIT)) == "still here\n"


def test_code_that_reads_stdin_finds_it_empty(runner: ChildRunner) -> None:
    assert printed(runner(request("print(repr(sys.stdin.read()))"), LIMIT)) == "''\n"


def test_code_that_hangs_is_killed_with_what_it_started(runner: ChildRunner, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    start = 'child = subprocess.Popen(["sleep", "60"])'
    code = f'import subprocess; {start}; open({str(pid)!r}, "w").write(str(child.pid)); child.wait()'
    answer = runner(request(code), 1.0)
    assert answer["error"]["message"] == "it did not finish in 1 s"
    for _ in range(100):
        if not is_running(int(pid.read_text())):
            break
        time.sleep(0.05)
    assert not is_running(int(pid.read_text()))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_process_ends_with_its_runner() -> None:
    runner = ChildRunner()
    pid = int(printed(runner(request("print(os.getppid())"), LIMIT)))
    assert is_running(pid)
    del runner
    gc.collect()
    assert not is_running(pid)


def test_a_process_that_was_killed_is_reported_and_started_again(runner: ChildRunner) -> None:
    pid = int(printed(runner(request("print(os.getppid())"), LIMIT)))
    os.kill(pid, 9)
    assert runner(request("print()"), LIMIT)["error"]["message"] == "the process that runs project code ended with -9"
    assert int(printed(runner(request("print(os.getppid())"), LIMIT))) != pid


def test_only_code_in_the_test_process_is_mutated_so_mutmut_gets_it_there() -> None:
    assert runner_for({"MUTANT_UNDER_TEST": "x"}) is run_in_process
    assert isinstance(runner_for({}), ChildRunner)
