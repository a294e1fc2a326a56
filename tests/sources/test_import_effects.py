"""Each effect of executing a file, with its line; what an audit hook would be told is told by hand, since hooks stay."""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_actor_envs.sources import import_effects
from pytest_actor_envs.sources.import_effects import EVENTS, THREAD_STARTERS, Effects

PATH = "pkg/watched.py"


def executed(text: str, path: str = f"root/{PATH}", **given: Any) -> list[tuple[str, int]]:
    effects = Effects(PATH)
    names = {"hook": effects._hook, "start": effects._watched_start(lambda *args, **named: (args, named)), **given}
    effects.execute(lambda: exec(compile(text, path, "exec"), names))
    return [(each["effect"], each["line"]) for each in effects.found]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.chdir("/")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\n", []),
        ("import sys, os\nprint('one')\n", [("prints 'one'", 2)]),
        ("import sys, os\nsys.stderr.write('two')\n", [("prints 'two'", 2)]),
        ("import os\nos.write(1, b'three\\n\\n')\nos.write(2, b'four')\n", [("prints 'three'", 2), ("prints 'four'", 3)]),
        ("import os\nos.write(1, b'\\xff')\n", [("prints '\ufffd'", 2)]),
        ("print('x' * 100, end='')\n", [(f"prints {'x' * 60!r}", 1)]),
        ("print('é')\nprint('é')\n", [("prints 'é'", 1), ("prints 'é'", 2)]),
        ("for _ in range(3):\n    print('same')\n", [("prints 'same'", 2)]),
        ("import sys\nsys.path.append('x')\nsys.path.pop()\n", [("changes sys.path", 2), ("changes sys.path", 3)]),
        ("import sys\nsys.path = list(sys.path)\n", []),
        ("def f():\n    print('deep')\n\nf()\nx = 1\n", [("prints 'deep'", 2)]),
        (
            "import os\nhook('os.putenv', ()); os.environ['X'] = '1'\nx = 1\nhook('os.chdir', ())\nx = 1\n",
            [("changes the environment", 2)],
        ),
        ("import os\nos.environ['X'] = '1'\nhook('os.putenv', ())\nx = 1\n", [("changes the environment", 3)]),
        ("import os\nhook('os.unsetenv', ())\nos.environ.pop('PATH')\n", [("changes the environment", 3)]),
        ("import os\nos.chdir('/usr')\nhook('os.chdir', ())\nx = 1\n", [("changes the working directory", 3)]),
        # Whoever goes round the events is found at the end.
        ("import os\nos.environ['X'] = '1'\nos.chdir('/usr')\nx = 1\n", [
            ("changes the environment", 4), ("changes the working directory", 4),
        ]),
        ("print('x ')\nprint('xX')\n", [("prints 'x '", 1), ("prints 'xX'", 2)]),
        ("x = start\nx(1)\nx(2)\n", [("starts a thread", 2), ("starts a thread", 3)]),
        ("assert start(1, 2, a=3) == ((1, 2), {'a': 3})\n", [("starts a thread", 1)]),
    ],
)  # fmt: skip
def test_what_executing_a_file_does(text: str, expected: list[tuple[str, int]]) -> None:
    assert executed(text) == expected


@pytest.mark.parametrize("path", [PATH, f"root/{PATH}", "other.py", f"more{PATH}"])
def test_lines_are_those_of_the_file_itself(path: str) -> None:
    ours = path in (PATH, f"root/{PATH}")
    text = "x = 1\nhook('os.system', ())\nprint('one')\nx = 2\n"
    assert executed(text, path) == [("starts a process", 2 if ours else 1), ("prints 'one'", 3 if ours else 1)]


def test_an_effect_of_what_the_file_calls_is_at_the_line_of_the_call() -> None:
    given: dict[str, Any] = {}
    exec(compile("def far(hook):\n\n    hook('os.remove', ())\n    print('far')\n", "far.py", "exec"), given)
    assert executed("x = 1\n\n\n\nfar(hook)\n", far=given["far"]) == [("removes a file", 5), ("prints 'far'", 5)]
    exec(compile("def calling(back, hook):\n    back()\n    hook('os.remove', ())\n", "far.py", "exec"), given)
    text = "x = 1\ndef back():\n    pass\n\ncalling(back, hook)\n"
    assert executed(text, calling=given["calling"]) == [("removes a file", 5)]


@pytest.mark.parametrize(("event", "effect"), EVENTS.items())
def test_an_event_is_an_effect(event: str, effect: str) -> None:
    assert executed(f"x = 1\nhook({event!r}, ())\nhook({event!r}, ())\n") == [(effect, 2), (effect, 3)]
    assert executed("x = 1\nhook('os.listdir', ('.',))\n") == []


@pytest.mark.parametrize(
    ("details", "writes"),
    [
        (("a", "r", 0), False),
        (("a", "rb", os.O_RDONLY), False),
        (("a", "w", 0), True),
        (("a", "ab", 0), True),
        (("a", "x", 0), True),
        (("a", "r+", 0), True),
        (("a", None, os.O_WRONLY), True),
        (("a", None, os.O_RDWR), True),
        (("a", None, os.O_CREAT), True),
        (("a", None, os.O_TRUNC), True),
        (("a", None, os.O_APPEND), True),
        (("a", None, os.O_RDONLY), False),
        (("a", None, None), False),
        (("a",), False),
        (("a", "w"), True),
    ],
)
def test_opening_a_file_is_an_effect_where_it_may_write(details: tuple[Any, ...], writes: bool) -> None:
    expected = [("writes the file 'a'", 2)] if writes else []
    assert executed("x = 1\nhook('open', details)\n", details=details) == expected


def test_nothing_is_watched_before_and_afterwards() -> None:
    effects = Effects(PATH)
    start = effects._watched_start(lambda *args: args)
    effects._hook("os.system", ())
    assert start(1) == (1,)
    assert effects.execute(lambda: 7) == 7
    effects._hook("os.system", ())
    assert start(2) == (2,)
    assert effects.found == []


def test_what_the_file_raises_passes_and_all_is_as_it_was(capfd: pytest.CaptureFixture[str]) -> None:
    effects, streams, tracer, before = Effects(PATH), (sys.stdout, sys.stderr), lambda *event: None, sys.gettrace()
    files = len(os.listdir("/dev/fd"))
    print("before")
    sys.settrace(tracer)
    try:
        with pytest.raises(ZeroDivisionError):
            effects.execute(lambda: exec(compile("print('in')\n1 / 0\n", PATH, "exec")))
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)
    print("after")
    sys.stderr.write("error")
    assert effects.found == [{"effect": "prints 'in'", "line": 1}]
    assert (sys.stdout, sys.stderr) == streams
    assert len(os.listdir("/dev/fd")) == files
    assert capfd.readouterr() == ("before\nafter\n", "error")


def test_a_second_execution_is_watched_as_well(tmp_path: Path) -> None:
    effects = Effects(PATH)
    code = compile("import os\nx = 1\nos.environ['X'] = str(len(os.environ.get('X', '')))\n", PATH, "exec")
    for _ in range(2):
        effects.execute(lambda: exec(code))
    effects.add("more", 9)
    effects.add("more", 9)
    assert effects.found == [{"effect": "changes the environment", "line": 3}, {"effect": "more", "line": 9}]


def test_installing_hooks_into_events_and_starters_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks: list[Any] = []
    monkeypatch.setattr(sys, "addaudithook", hooks.append)
    started: list[Mapping[str, Any]] = []
    existing = [(holder, name) for holder in (threading, _thread) for name in THREAD_STARTERS if hasattr(holder, name)]
    for holder, name in existing:
        monkeypatch.setattr(holder, name, lambda *args, **named: started.append(named))
    effects = Effects(PATH)
    effects.install()
    assert hooks == [effects._hook]
    code = "\n".join(f"{holder.__name__}.{name}(x={number})" for number, (holder, name) in enumerate(existing))
    effects.execute(lambda: exec(compile(code, PATH, "exec"), {"threading": threading, "_thread": _thread}))
    assert started == [{"x": number} for number in range(len(existing))]
    assert effects.found == [{"effect": "starts a thread", "line": number} for number in range(1, len(existing) + 1)]
    assert len(existing) >= 2
    assert import_effects.WRITING == os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
