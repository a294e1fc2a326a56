"""Project code runs in a process of its own that it can neither see the tester's variables in nor outlive."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
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
    assert ended(int(pid.read_text()))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_code_that_closes_everything_and_hangs_is_killed(runner: ChildRunner) -> None:
    answer = runner(request("import time; os.closerange(0, 100); time.sleep(60)"), 1.0)
    assert answer["error"]["message"] == "it did not finish in 1 s"


def test_what_code_started_ends_with_its_answer(runner: ChildRunner) -> None:
    start = 'subprocess.Popen(["sleep", "60"])'
    pid = int(printed(runner(request(f"import subprocess; print({start}.pid)"), LIMIT)))
    assert ended(pid)


def ended(pid: int) -> bool:
    for _ in range(100):
        if not is_running(pid):
            return True
        time.sleep(0.05)
    return False


def test_a_file_that_changed_in_no_way_that_its_date_shows_is_run_as_it_is_now(
    runner: ChildRunner, tmp_path: Path
) -> None:
    asked = request("") | {"root": str(tmp_path), "overlay": {}}
    for text in ("old", "old", "new"):
        (tmp_path / "leaf.py").write_text(f"def main(argv):\n    print({text!r})\n")
        os.utime(tmp_path / "leaf.py", (1, 1))
        assert printed(runner(asked, LIMIT)) == f"{text}\n"


def test_what_the_package_imports_is_run_as_it_is_now(runner: ChildRunner, tmp_path: Path) -> None:
    arguments = {"registry": "of.registry", "registry_name": "NAMES", "executables": None, "executables_name": ""}
    asked = request("") | {"observer": "registry", "packages": ["of"], "root": str(tmp_path), "arguments": arguments}
    (tmp_path / "of").mkdir()
    (tmp_path / "of/registry.py").write_text("from of import names\n\nNAMES = {name: '' for name in names.ALL}\n")
    for text, overlay in (("A", {}), ("A", {}), ("B", {}), ("B", {"of/names.py": "ALL = ['C']\n"}), ("B", {})):
        (tmp_path / "of/names.py").write_text(f"ALL = [{text!r}]\n")
        os.utime(tmp_path / "of/names.py", (1, 1))
        expected = "C" if overlay else text
        assert runner(asked | {"overlay": overlay}, LIMIT)["value"]["registry"] == {expected: ""}


def test_code_reads_the_pyproject_that_is_there_now_and_may_change_what_it_parsed(
    runner: ChildRunner, tmp_path: Path
) -> None:
    code = "import tomllib; parsed = tomllib.loads(open('{}').read()); print(parsed); parsed.clear()"
    asked = request(code.format(tmp_path / "pyproject.toml")) | {"root": str(tmp_path)}
    for value in (1, 1, 2):
        (tmp_path / "pyproject.toml").write_text(f"a = {value}")
        os.utime(tmp_path / "pyproject.toml", (1, 1))
        assert printed(runner(asked, LIMIT)) == f"{{'a': {value}}}\n"


@pytest.mark.parametrize("is_there", [True, False], ids=["in-the-folder", "in-memory"])
@pytest.mark.parametrize("module", ["configparser", "tomllib", "json", "threading", "select"])
def test_a_module_of_the_project_hides_one_of_the_standard_library(
    runner: ChildRunner, tmp_path: Path, module: str, is_there: bool
) -> None:
    asked = request(f"import {module}; print(getattr({module}, 'WHOSE', 'standard'))")
    assert printed(runner(asked, LIMIT)) == "standard\n"
    hiding = {f"{module}.py": "WHOSE = 'the project'\n"}
    if is_there:
        (tmp_path / f"{module}.py").write_text(hiding[f"{module}.py"])
        assert printed(runner(asked | {"root": str(tmp_path)}, LIMIT)) == "the project\n"
    else:
        assert printed(runner(asked | {"overlay": asked["overlay"] | hiding}, LIMIT)) == "the project\n"


def test_a_warning_of_the_compiler_is_given_each_time(runner: ChildRunner) -> None:
    arguments = {"module": "leaf", "path": "leaf.py", "table": None, "line": 1}
    asked = request("assert (argv, 'always true')") | {"observer": "import-effects", "arguments": arguments}
    for _ in range(2):
        [effect] = runner(asked, LIMIT)["value"]
        assert "SyntaxWarning" in effect["effect"] or "prints" in effect["effect"]


def test_annotations_are_evaluated_where_the_file_does_not_say_otherwise() -> None:
    asked = request("pass")
    asked["overlay"]["leaf.py"] += "\nVALUE: undefined = 1\n"
    assert run_in_process(asked, LIMIT)["error"]["type"] == "NameError"


def test_the_process_ends_with_its_runner() -> None:
    runner = ChildRunner()
    pid = int(printed(runner(request("print(os.getppid())"), LIMIT)))
    assert is_running(pid)
    del runner
    gc.collect()
    assert not is_running(pid)


def test_processes_that_were_started_and_never_asked_end_with_the_runner() -> None:
    before = children()
    runner = ChildRunner()
    runner.start()
    started = children() - before
    assert len(started) == 2
    runner.start()
    assert children() - before == started
    del runner
    gc.collect()
    assert children() == before


def children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def test_a_process_that_was_started_before_answers(runner: ChildRunner) -> None:
    before = children()
    runner.start()
    assert printed(runner(request("print(os.getppid())"), LIMIT)).strip() in children() - before


def test_a_process_that_was_killed_is_reported_and_started_again(runner: ChildRunner) -> None:
    pid = int(printed(runner(request("print(os.getppid())"), LIMIT)))
    os.kill(pid, 9)
    assert runner(request("print()"), LIMIT)["error"]["message"] == "the process that runs project code ended with -9"
    assert int(printed(runner(request("print(os.getppid())"), LIMIT))) != pid


def test_only_code_in_the_test_process_is_mutated_so_mutmut_gets_it_there() -> None:
    assert runner_for({"MUTANT_UNDER_TEST": "x"}) is run_in_process
    assert isinstance(runner_for({}), ChildRunner)
