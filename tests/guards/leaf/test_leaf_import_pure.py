from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Sample = Callable[..., Any]
GUARD = "leaf-import-pure"
LEAF, SCRIPT = "sample/actor_environments.py", "tools/generate_fingerprint.py"


def imported(sample: Sample, statement: str) -> list[str]:
    """What the guard says where the leaf holds `statement` from its fifth line on."""
    broken = sample({LEAF: ("import sys\n\n", f"import sys\n\n{statement}\n\n")})
    messages: list[str] = broken.messages(GUARD)
    assert {finding.fix for finding in broken.findings(GUARD)} <= {
        ("move it into a function that whoever needs the effect calls",)
    }
    return [message.removeprefix(f"{LEAF}:") for message in messages]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ('print("imported")', "5:1: importing it prints 'imported'"),
        ('sys.stderr.write("warning")', "5:1: importing it prints 'warning'"),
        ('import os\nos.write(1, b"past sys.stdout")', "6:1: importing it prints 'past sys.stdout'"),
        ('def _f():\n    print("from a function")\n\n\n_f()', "6:1: importing it prints 'from a function'"),
        ('import os\nos.environ["NEW"] = "1"', "6:1: importing it changes the environment"),
        ("import os\nos.environ.pop('PATH', None)", "6:1: importing it changes the environment"),
        ('import os\nos.chdir("/")', "6:1: importing it changes the working directory"),
        ('sys.path.insert(0, "somewhere")', "5:1: importing it changes sys.path"),
        ("import socket\nsocket.socket().close()", "6:1: importing it opens a socket"),
        ('import subprocess\nsubprocess.run(["true"])', "6:1: importing it starts a process"),
        ('import os\nos.system("true")', "6:1: importing it starts a process"),
        ("import threading\nthreading.Thread(target=int).start()", "6:1: importing it starts a thread"),
        ("import _thread\n_thread.start_new_thread(int, ())", "6:1: importing it starts a thread"),
        ("ACTOR_ENVIRONMENTS = {}", None),
    ],
)
def test_what_happens_on_import(sample: Sample, statement: str, message: str | None) -> None:
    messages = imported(sample, statement)
    assert (message in messages) if message else (messages == [])


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ('open({path!r}, "w").close()', "writes the file {path!r}"),
        ('open({path!r}, "ab").close()', "writes the file {path!r}"),
        ("import os; os.close(os.open({path!r}, os.O_CREAT | os.O_WRONLY))", "writes the file {path!r}"),
        ("import os; os.mkdir({path!r})", "makes a folder"),
        ("import os; os.symlink('x', {path!r})", "links a file"),
    ],
)
def test_files_that_are_written(sample: Sample, tmp_path: Path, statement: str, message: str) -> None:
    path = str(tmp_path / "made")
    assert imported(sample, statement.format(path=path))[0] == f"5:1: importing it {message.format(path=path)}"


def test_each_effect_is_reported_with_its_line_and_once(sample: Sample) -> None:
    messages = imported(sample, 'print("one")\nsys.path.append("two")\nfor _ in range(3):\n    print("three")')
    assert messages == [
        "5:1: importing it prints 'one'",
        "6:1: importing it changes sys.path",
        "8:1: importing it prints 'three'",
    ]


def test_each_change_of_the_surroundings_is_reported_with_its_line(sample: Sample) -> None:
    code = 'import os\nos.environ["X"] = "1"\nos.environ["X"] = "1"\nos.chdir("/")\ndel os.environ["X"]\nX = 1'
    assert imported(sample, code) == [
        "6:1: importing it changes the environment",
        "8:1: importing it changes the working directory",
        "9:1: importing it changes the environment",
    ]


def test_an_environment_that_is_replaced_is_changed(sample: Sample) -> None:
    [message] = imported(sample, 'import os\nos.environ = {**os.environ, "X": "1"}')
    assert message.endswith(": importing it changes the environment")


@pytest.mark.parametrize(
    "statement",
    [
        "import re\n\nPATTERN = re.compile('x')",
        "from types import MappingProxyType\n\nFROZEN = MappingProxyType({})",
        "import os\n\nTEXT = open(os.devnull).read()",
        "import tempfile, threading, socket, subprocess, json, logging",
        "sys.path = list(sys.path)",
    ],
)
def test_what_only_defines_things_is_fine(sample: Sample, statement: str) -> None:
    assert imported(sample, statement) == []


def test_a_table_that_is_another_one_each_time(sample: Sample) -> None:
    broken = sample({LEAF: ("def stage_of", 'ACTOR_ENVIRONMENTS |= {"x.Y": object()}\n\n\ndef stage_of')})
    assert f"{LEAF}:5:1: importing it gives another table each time" in broken.messages(GUARD)


def test_the_file_has_its_real_name_and_place_while_it_is_executed(sample: Sample) -> None:
    right = "__file__.endswith('sample/actor_environments.py') and __name__ == 'sample.actor_environments'"
    code = f"if not ({right}):\n    print(__file__)"
    assert imported(sample, code) == []


def test_a_file_that_raises(sample: Sample) -> None:
    broken = sample({SCRIPT: ("import hashlib\n", "import hashlib\n\nraise OSError('no')\n")})
    assert broken.messages(GUARD) == [f"{SCRIPT}:5:1: executing the file raised OSError: no"]


def test_a_file_that_ends_its_process_or_hangs(sample: Sample) -> None:
    ends = sample({SCRIPT: ("import hashlib\n", "import os\nos._exit(3)\nimport hashlib\n")})
    assert ends.messages(GUARD) == [
        f"{SCRIPT}:1:1: executing the file raised ChildProcessError: its process ended with status 3"
    ]
    edits = {
        SCRIPT: ("import hashlib\n", "import hashlib\n\nwhile True:\n    pass\n"),
        "pyproject.toml": ("docs = []", "docs = []\ntime-limit = 0.5"),
    }
    hangs = sample(edits)
    assert f"{SCRIPT}:1:1: executing the file raised TimeoutExpired: it did not finish in 0.5 s" in hangs.messages(
        GUARD
    )


def test_its_mutants(sample: Sample) -> None:
    expected = []
    for path in (LEAF, SCRIPT):
        for shape, code in (
            ("prints", 'print("imported")'),
            ("environment", 'import os as _os; _os.environ["CHANGED_BY_IMPORT"] = "1"'),
            ("search-path", 'import sys as _sys; _sys.path.append("somewhere")'),
            ("writes", 'import os as _os; open(_os.devnull, "w").close()'),
            ("thread", "import threading as _threading; _threading.Thread(target=int).start()"),
            ("process", 'import subprocess as _subprocess; _subprocess.run(["true"])'),
            ("socket", "import socket as _socket; _socket.socket().close()"),
            ("folder", 'import os as _os; _os.chdir("/")'),
        ):
            expected += [f"{path}, {shape}", f"{path}:2: +{code}"]
    another = 'ACTOR_ENVIRONMENTS = {**ACTOR_ENVIRONMENTS, "another.Actor": object()}'
    assert sample().changes(GUARD) == [
        *expected,
        f"{LEAF}, other-table-each-time",
        f"{LEAF}:31: +{another}",
    ]
