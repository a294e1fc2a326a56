"""A process that answers one question a line, each in a fork of it; here it is itself a fork of the test."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pytest_actor_envs.sources.forks import failure, late, serve

MARK = "ACTOR_ENVS_TEST_OF_FORKS"


def leaf(body: str) -> str:
    return f"import argparse\nimport os\nTABLE = {{}}\ndef main(arguments):\n    {body}\n"


def request(body: str, time_limit: float = 20.0, **other: Any) -> dict[str, Any]:
    return {
        "observer": "script",
        "arguments": {"module": "leaf", "path": "leaf.py", "calls": [[]]},
        "variables": {},
        "packages": [],
        "root": None,
        "overlay": {"leaf.py": leaf(body)},
        "time_limit": time_limit,
        **other,
    }


def answers_to(*lines: Mapping[str, Any], found: Collection[str] | None = None) -> list[dict[str, Any]]:
    """What `serve` answers; it ends when there are no more lines, with status 0."""
    questions, writer = os.pipe()
    reader, replies = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.dup2(questions, 0)
            os.dup2(replies, 1)
            for pipe in (questions, writer, reader, replies):
                os.close(pipe)
            serve(frozenset(sys.modules) if found is None else found)
            status = 0
        finally:
            os._exit(status)
    os.close(questions)
    os.close(replies)
    with open(writer, "wb") as asked, open(reader, "rb") as answered:
        given = []
        for line in lines:
            asked.write(json.dumps(line).encode() + b"\n")
            asked.flush()
            given.append(json.loads(answered.readline()))
        asked.close()
        assert answered.read() == b""
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return given


def printed(text: str, code: int = 0) -> dict[str, Any]:
    return {"value": {"[]": {"stdout": text, "stderr": "", "code": code}}, "imported": ["leaf.py"]}


def test_each_question_is_answered_afresh() -> None:
    counting = "TABLE['n'] = TABLE.get('n', 0) + 1; print(TABLE['n'], end=''); return 3"
    assert answers_to(request(counting), request(counting)) == [printed("1", 3)] * 2


def test_variables_are_those_of_the_question_alone() -> None:
    body = f"print(os.environ.get('{MARK}', 'none'), end='')"
    asked = [request(body, variables={MARK: "there"}), request(body)]
    assert answers_to(*asked) == [printed("there"), printed("none")]


def test_a_module_of_the_project_hides_one_that_was_imported_ahead() -> None:
    overlay = {"leaf.py": leaf("print(argparse.HERE, end='')"), "argparse.py": "HERE = 'hidden'\n"}
    [answer] = answers_to(request("", overlay=overlay), found=set(sys.modules) - {"argparse"})
    assert answer == {**printed("hidden"), "imported": ["argparse/__init__.py", "argparse.py", "leaf.py"]}


def test_files_are_those_of_the_folder_as_they_are_now(tmp_path: Path) -> None:
    path = tmp_path / "leaf.py"
    path.write_text(leaf("open(__file__, 'a').write('#'); print(os.path.getsize(__file__), end='')"))
    size = path.stat().st_size
    asked = request("", root=str(tmp_path), overlay={})
    assert answers_to(asked, asked) == [printed(str(size + 1)), printed(str(size + 2))]


def test_the_process_answers_on_after_a_fork_that_took_too_long_or_ended() -> None:
    began = time.monotonic()
    late_one, ended, fine = answers_to(
        request("import time; time.sleep(60)", 0.2), request("os._exit(7)"), request("print('fine', end='')")
    )
    assert time.monotonic() - began < 30
    assert late_one == late(0.2)
    assert ended == failure("ChildProcessError", "its process ended with status 7")
    assert fine == printed("fine")


def test_project_code_has_no_part_in_the_conversation() -> None:
    body = "import sys; sys.__stdout__.write('noise'); os.write(1, b'noise'); print(repr(sys.__stdin__.read()), end='')"
    assert answers_to(request(body), request("pass")) == [printed("''"), printed("")]
