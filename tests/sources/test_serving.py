"""What the process that forks for each question does, here in this one; tests/guards/test_runtime.py starts it."""

from __future__ import annotations

import fractions
import gc
import json
import os
import sys
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_actor_envs.sources import forks
from pytest_actor_envs.sources.forks import failure, late, serve

LEAF = """\
import os, sys
import fractions
MODULES = sorted(name for name in sys.modules if name.partition(".")[0] in ("fractions", "pkg"))

def main(argv):
    print(os.environ.get("GIVEN"), fractions.__file__, MODULES, sys.path[0])
"""


class Asked:
    """A conversation in which these requests are asked and no more."""

    def __init__(self, requests: list[dict[str, Any]]) -> None:
        self.lines = [json.dumps(request).encode() for request in requests]
        self.answers: list[dict[str, Any]] = []
        self.asked_through, self._writer = os.pipe()
        self.is_left = False

    def requests(self) -> Iterator[bytes]:
        yield from self.lines

    def answer(self, content: bytes) -> None:
        assert not self.is_left, "what a fork does not see"
        self.answers.append(json.loads(content))

    def leave(self) -> None:
        self.is_left = True
        os.environ["GIVEN"] = "left"

    def close(self) -> None:
        os.close(self.asked_through)
        os.close(self._writer)

    def nobody_waits(self) -> None:
        os.close(self._writer)
        self._writer = os.open(os.devnull, os.O_RDONLY)


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """`ask(*requests, nobody_waits=False)`: what is answered to each."""
    monkeypatch.setattr(tomllib, "loads", tomllib.loads)
    asked: list[Asked] = []

    def answers(*requests: dict[str, Any], nobody_waits: bool = False) -> list[dict[str, Any]]:
        conversation = Asked(list(requests))
        asked.append(conversation)
        if nobody_waits:
            conversation.nobody_waits()
        monkeypatch.setattr(forks, "Conversation", lambda: conversation)
        serve(set(sys.modules) - {"fractions"})
        gc.unfreeze()
        return conversation.answers

    yield answers
    for conversation in asked:
        conversation.close()


def request(leaf: str = LEAF, root: str | None = None, **other: Any) -> dict[str, Any]:
    return {
        "observer": "script",
        "arguments": {"module": "pkg.leaf", "path": "pkg/leaf.py", "calls": [["all"]]},
        "variables": {},
        "packages": ["pkg"],
        "root": root,
        "overlay": {"pkg/leaf.py": leaf, "pkg/__init__.py": ""},
        "time_limit": 20.0,
        **other,
    }


def printed(answer: dict[str, Any]) -> str:
    text: str = answer["value"]['["all"]']["stdout"]
    return text


def test_each_question_is_answered_by_a_fork_that_has_left_the_conversation(ask: Any, tmp_path: Any) -> None:
    own = {"pkg/leaf.py": LEAF, "fractions.py": "own = 1\n"}
    before, path, finders = dict(os.environ), list(sys.path), list(sys.meta_path)
    first, second, third = ask(
        request(),
        request(variables={"GIVEN": "7"}, root=str(tmp_path)),
        request(overlay=own, packages=["pkg", "fractions"]),
    )
    assert printed(first) == f"left {fractions.__file__} ['fractions', 'pkg.leaf'] {sys.path[0]}\n"
    assert printed(second) == f"7 {fractions.__file__} ['fractions', 'pkg.leaf'] {tmp_path}\n"
    assert printed(third).split(" ", 2)[1].endswith("/in-memory/fractions.py")
    assert first["imported"] == ["pkg/leaf.py"]
    assert (dict(os.environ), sys.path, sys.meta_path) == (before, path, finders)
    assert sys.modules["fractions"] is fractions


def test_one_that_takes_too_long_or_ends_or_that_nobody_waits_for_is_a_failure(ask: Any) -> None:
    slow = "import time\ntime.sleep(30)\n"
    assert ask(request(slow, time_limit=0.05), request("import os\nos._exit(3)\n")) == [
        late(0.05),
        failure("ChildProcessError", "its process ended with status 3"),
    ]
    assert ask(request(slow), nobody_waits=True) == [late(20.0)]


def test_the_code_of_what_was_imported_before_is_known(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    apart = forks._answer_apart

    def noted(conversation: Any, asked: Any, hidden: Any, compiled: Any) -> dict[str, Any]:
        return {**apart(conversation, asked, hidden, compiled), "hidden": hidden, "known": sorted(map(list, compiled))}

    monkeypatch.setattr(forks, "_answer_apart", noted)
    handed = ask(request(), request(overlay={"pkg/leaf.py": LEAF, "fractions.py": ""}), request("import no\n"))
    assert [answer["known"] for answer in handed] == [
        [],
        [["/in-memory/pkg/leaf.py", LEAF]],
        [["/in-memory/pkg/leaf.py", "import no\n"]],
    ]
    assert [answer["hidden"] for answer in handed] == [[], ["fractions"], []]
    assert handed[2]["error"]["type"] == "ModuleNotFoundError"


def test_what_is_known_of_a_file_is_what_runs(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {("/in-memory/pkg/leaf.py", LEAF): compile("def main(argv):\n    print('known')\n", "x", "exec")}
    monkeypatch.setattr(forks.HeadStart, "compiled_for", lambda self, request: known)
    assert printed(ask(request())[0]) == "known\n"


def test_what_a_fork_does_before_it_answers(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GIVEN", "before")
    monkeypatch.setitem(sys.modules, "fractions", fractions)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    conversation = Asked([])
    asked = request(variables={"GIVEN": "7"}, root=str(tmp_path), overlay={"pkg/leaf.py": LEAF, "fractions.py": ""})
    code = compile(
        "def main(argv):\n    import os, sys\n    print('known', os.environ['GIVEN'], sys.path[0])\n", "x", "exec"
    )
    known = {(f"{tmp_path}/pkg/leaf.py", LEAF): code}
    answer = forks._answer_apart(conversation, asked, ["fractions"], known)  # type: ignore[arg-type]
    conversation.close()
    assert conversation.is_left
    assert printed(answer) == f"known 7 {tmp_path}\n"
    assert "fractions" not in sys.modules
    assert sys.meta_path[0].packages == {"pkg"}  # type: ignore[attr-defined]


def test_a_fork_that_cannot_answer_ends_with_status_1() -> None:
    assert forks.run_in_fork({}, 20.0) == failure("ChildProcessError", "its process ended with status 1")
