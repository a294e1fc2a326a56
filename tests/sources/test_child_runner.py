"""How requests go to the children that run project code, with small programs in their place."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_actor_envs.sources import runtime
from pytest_actor_envs.sources.forks import failure, late
from pytest_actor_envs.sources.runtime import ChildRunner, _Child, run_in_process, runner_for

ECHO = """\
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    if "end" in request:
        sys.exit(request["end"])
    names = ("UV_X", "KEPT")
    print(json.dumps([request, os.getpid(), os.getsid(0), [name for name in names if name in os.environ]]), flush=True)
"""


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Child]:
    monkeypatch.setenv("UV_X", "1")
    monkeypatch.setenv("KEPT", "1")
    child = _Child(["-I", "-S", "-c", ECHO])
    yield child
    del child
    gc.collect()


def test_a_child_is_started_once_and_again_when_it_has_ended(child: _Child) -> None:
    first, second = child.ask({"a": 1}), child.ask({"b": [2]})
    assert [first[0], second[0]] == [{"a": 1}, {"b": [2]}]
    assert first[1] == first[2] == second[1]
    assert first[3] == ["KEPT"]
    assert child.start() is child.start()
    assert child.ask({"end": 3}) == failure("ChildProcessError", "the process that runs project code ended with 3")
    third = child.ask({"c": 3})
    assert third[0] == {"c": 3} and third[1] != first[1]


def test_a_child_that_ended_before_it_was_asked_is_a_failure_too() -> None:
    child = _Child(["-I", "-S", "-c", "import sys; sys.exit(4)"])
    process = child.start()
    assert process.wait() == 4
    big = {"text": "x" * 100_000}
    assert child.ask(big) == failure("ChildProcessError", "the process that runs project code ended with 4")


def test_a_fork_of_this_process_starts_a_child_of_its_own(child: _Child, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = child.start()
    assert mine.owner == os.getpid()
    mine.owner = -1
    mine.stop()
    other = child.start()
    assert other is not mine and other.owner == os.getpid()
    assert child.ask({"a": 1})[0] == {"a": 1}
    mine.owner = os.getpid()
    mine.stop()
    assert mine.wait() == -9


class Answers:
    """What stands for a child: keeps what it is asked, and the script that lies there then."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer
        self.asked: list[dict[str, Any]] = []
        self.scripts: list[tuple[str, bytes, list[str]]] = []
        self.starts = 0

    def start(self) -> None:
        self.starts += 1

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(request)
        if "script" in request:
            script = Path(request["script"])
            assert script.parent.resolve() == script.parent
            self.scripts.append((script.name, script.read_bytes(), os.listdir(script.parent)))
        return self.answer


ALONE = {
    "observer": "alone",
    "arguments": {"path": "a/leaf.py", "text": "x = '\N{SNOWMAN}'\n", "calls": [["all"]]},
}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"runs": {}, "x": 1}, {"value": {"runs": {}, "x": 1}, "imported": ["a/leaf.py"]}),
        ({"late": True}, late(2.5)),
        ({"error": {"type": "X"}}, {"error": {"type": "X"}}),
    ],
)
def test_a_file_alone_lies_alone_in_a_folder(given: dict[str, Any], expected: dict[str, Any]) -> None:
    runner, alone = ChildRunner(), Answers(given)
    runner._alone = alone  # type: ignore[assignment]
    assert runner(ALONE, 2.5) == expected
    [request] = alone.asked
    script = request.pop("script")
    assert request == {"calls": [["all"]], "time_limit": 2.5}
    assert alone.scripts == [("leaf.py", "x = '\N{SNOWMAN}'\n".encode(), ["leaf.py"])]
    assert not os.path.exists(os.path.dirname(script))


def test_everything_else_goes_to_the_process_that_forks() -> None:
    runner, forks, alone = ChildRunner(), Answers({"value": 1}), Answers({})
    runner._forks, runner._alone = forks, alone  # type: ignore[assignment]
    assert runner({"observer": "script", "x": 1, "time_limit": 9.0}, 2.5) == {"value": 1}
    assert forks.asked == [{"observer": "script", "x": 1, "time_limit": 2.5}] and alone.asked == []
    runner.start()
    assert (forks.starts, alone.starts) == (1, 1)


def test_with_what_the_children_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = ChildRunner()
    assert runner._forks._arguments == ["-I", "-c", runtime.FORKS, runtime.FOLDER_OF_THIS_PACKAGE]
    assert runner._alone._arguments == ["-I", "-S", "-B", "-c", runtime.ALONE, runtime.FOLDER_OF_THIS_PACKAGE]
    started: list[tuple[list[str], dict[str, Any]]] = []
    monkeypatch.setattr(runtime.subprocess, "Popen", lambda command, **options: started.append((command, options)))
    runtime._Process(["a"])
    [(command, options)] = started
    assert command == [sys.executable, "a"]
    assert options == {
        "stdin": -1,
        "stdout": -1,
        "stderr": -3,
        "text": True,
        "env": runtime.cleaned(os.environ),
        "start_new_session": True,
    }


def test_under_mutmut_code_runs_in_this_process() -> None:
    assert runner_for({"MUTANT_UNDER_TEST": ""}) is run_in_process
    assert isinstance(runner_for({"OTHER": ""}), ChildRunner)


@pytest.mark.parametrize("observer", ["alone", "import-effects"])
def test_what_would_stay_in_this_process_goes_to_a_child(observer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    class Runner:
        def __call__(self, *arguments: object) -> dict[str, Any]:
            asked.append(arguments)
            return {"value": 2}

    monkeypatch.setattr(runtime, "ChildRunner", Runner)
    assert run_in_process({"observer": observer}, 3.5) == {"value": 2}
    assert asked == [({"observer": observer}, 3.5)]


def test_an_answer_in_this_process_is_what_json_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime.observers, "answer", lambda request: {"value": (request["observer"], 1)})
    assert run_in_process({"observer": "script"}, 1.0) == {"value": ["script", 1]}
    assert json.dumps(run_in_process({"observer": "registry"}, 1.0)) == '{"value": ["registry", 1]}'
