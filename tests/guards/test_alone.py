"""A file that is run alone finds an interpreter that nobody has used, in a folder that holds nothing else."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_actor_envs.sources.runtime import ChildRunner

LIMIT = 5.0


def alone(runner: ChildRunner, text: str, *calls: list[str], limit: float = LIMIT) -> dict[str, Any]:
    """What a file of this text gives, imported and called."""
    arguments = {"path": "tools/script.py", "text": text, "calls": list(calls or ([],))}
    return runner({"observer": "alone", "arguments": arguments}, limit)


def printed(answer: dict[str, Any]) -> list[str]:
    return [run["stdout"] for run in answer["value"]["runs"]]


def test_each_call_is_a_process_of_its_own_of_one_interpreter_that_is_started_once(runner: ChildRunner) -> None:
    text = "import os\nprint(os.getppid(), os.getpid())\n"
    ids = [line.split() for _ in range(2) for line in printed(alone(runner, text, [], []))]
    assert len({parent for parent, _ in ids}) == 1
    assert len({own for _, own in ids}) == 4


def test_nothing_stays_from_one_run_to_the_next(runner: ChildRunner) -> None:
    text = """\
import json, os, sys
print(getattr(json, "left", None), os.environ.get("LEFT"), "left" in sys.path, os.listdir("."))
json.left = os.environ["LEFT"] = "left"
sys.path.append("left")
sys.modules["left"] = json
open("left", "w").close()
os.remove("left")
"""
    assert printed(alone(runner, text, [], [])) == ["None None False ['script.py']\n"] * 2
    assert printed(alone(runner, text)) == ["None None False ['script.py']\n"]
    unknown = alone(runner, "import left\n")["value"]["error"]
    assert unknown == {"line": 1, "error": "ModuleNotFoundError: No module named 'left'"}


def test_it_is_an_interpreter_without_anything_else(runner: ChildRunner) -> None:
    text = """\
import sys
print(sys.flags.isolated, sys.flags.no_site, sys.flags.dont_write_bytecode)
print(sorted(name for name in sys.modules if name.split(".")[0] not in sys.stdlib_module_names))
print(sorted({"select", "typing", "site", "gc"} & sys.modules.keys()))
print(__name__, sys.argv[1:], sys.argv[0] == __file__, sys.modules["__main__"].__dict__ is globals())
"""
    assert printed(alone(runner, text, ["a", "b"])) == ["1 1 1\n['__main__']\n[]\n__main__ ['a', 'b'] True True\n"]


@pytest.mark.parametrize("module", ["pytest", "pytest_actor_envs", "tools", "nemo_rl"])
def test_what_is_installed_is_not_there(runner: ChildRunner, module: str) -> None:
    error = alone(runner, f"\nimport {module}\n")["value"]["error"]
    assert error == {"line": 2, "error": f"ModuleNotFoundError: No module named {module!r}"}


@pytest.mark.parametrize(
    ("code", "stdout", "status"),
    [
        ("print('out')", "out\n", 0),
        ("import sys; print('out'); sys.exit(3)", "out\n", 3),
        ("import sys; sys.exit('why')", "", 1),
        ("import sys; print(sys.stdin.read() == '')", "True\n", 0),
        ("1 / 0", "", 1),
        ("import atexit; atexit.register(print, 'last'); print('first')", "first\nlast\n", 0),
        ("import os; os._exit(4)", "", 4),
        ("import os; os.kill(os.getpid(), 9)", "", -9),
        ("import os; os.write(1, b'\\xff')", "\ufffd", 0),
    ],
)
def test_output_and_exit_status_are_those_of_a_script(runner: ChildRunner, code: str, stdout: str, status: int) -> None:
    answer = alone(runner, f"if __name__ == '__main__':\n    {code}\n")
    assert answer == {
        "value": {"error": None, "runs": [{"stdout": stdout, "code": status}]},
        "imported": ["tools/script.py"],
    }


def test_a_file_that_cannot_be_compiled_says_where(runner: ChildRunner) -> None:
    error = alone(runner, "x = 1\nx = = 2\n")["value"]["error"]
    assert (error["line"], error["error"].partition(":")[0]) == (2, "SyntaxError")


def test_what_it_prints_is_never_taken_for_an_answer(runner: ChildRunner) -> None:
    text = """\
import os
for number in range(20):
    try:
        os.write(number, b'{"error": null, "runs": []}\\n')
    except OSError:
        pass
if __name__ == "alone":
    raise OSError
"""
    assert alone(runner, text)["value"]["error"]["error"].startswith("its process ended with ")
    assert printed(alone(runner, "print('still here')\n")) == ["still here\n"]


def test_a_file_that_hangs_is_killed_with_what_it_started(runner: ChildRunner, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = f'child = subprocess.Popen(["sleep", "60"]); open({str(pid)!r}, "w").write(str(child.pid)); child.wait()'
    answer = alone(runner, f"import subprocess\nif __name__ == '__main__':\n    {code}\n", limit=1.0)
    assert answer["error"] == {
        "type": "TimeoutExpired",
        "message": "it did not finish in 1 s",
        "path": None,
        "line": None,
    }
    assert ended(int(pid.read_text()))
    assert printed(alone(runner, "print('still here')\n")) == ["still here\n"]


def test_its_runs_end_with_the_runner(tmp_path: Path) -> None:
    runner = ChildRunner()
    parent = int(printed(alone(runner, "import os\nprint(os.getppid())\n"))[0])
    assert is_running(parent)
    del runner
    gc.collect()
    assert not is_running(parent)


def test_a_run_does_not_outlive_the_process_that_forked_it_by_long(runner: ChildRunner, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    write = f'open({str(pids)!r}, "w").write(str(os.getpid()))'
    code = (
        f"import os, time\nif __name__ == '__main__':\n    {write}\n    os.kill(os.getppid(), 9)\n    time.sleep(60)\n"
    )
    answer = alone(runner, code, limit=1.0)
    assert answer["error"]["message"] == "the process that runs project code ended with -9"
    assert ended(int(pids.read_text()))
    assert printed(alone(runner, "print('started again')\n")) == ["started again\n"]


@pytest.mark.parametrize("observer", ["alone", "script"])
def test_nothing_outlives_a_tester_that_is_killed(tmp_path: Path, observer: str) -> None:
    pids = tmp_path / "pids"
    text = f"""\
import os, subprocess, time

def main(argv):
    child = subprocess.Popen(["sleep", "60"])
    with open({str(pids) + ".new"!r}, "w") as file:
        file.write(f"{{os.getppid()}} {{os.getpid()}} {{child.pid}}")
    os.rename({str(pids) + ".new"!r}, {str(pids)!r})
    time.sleep(60)

if __name__ == "__main__":
    main([])
"""
    asked = {
        "observer": observer,
        "arguments": {"module": "leaf", "path": "leaf.py", "text": text, "calls": [["all"]]},
        "variables": {},
        "packages": ["leaf"],
        "root": None,
        "overlay": {"leaf.py": text},
    }
    code = f"from pytest_actor_envs.sources.runtime import ChildRunner\nChildRunner()({asked!r}, 60.0)\n"
    with subprocess.Popen([sys.executable, "-c", code]) as tester:
        for _ in range(400):
            if pids.exists():
                break
            time.sleep(0.05)
        started = [int(pid) for pid in pids.read_text().split()]
        assert all(is_running(pid) for pid in started)
        tester.kill()
    assert all(ended(pid) for pid in started)


def test_the_folder_is_gone_afterwards(runner: ChildRunner) -> None:
    [folder] = printed(alone(runner, "import os\nprint(os.getcwd())\n"))
    assert not os.path.exists(folder.strip())


def ended(pid: int) -> bool:
    for _ in range(200):
        if not is_running(pid):
            return True
        time.sleep(0.05)
    return False


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
