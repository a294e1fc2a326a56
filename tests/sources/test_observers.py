"""Each observer's whole answer, in this process; how real guards ask them is tests/guards/test_runtime.py's."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_actor_envs.sources import observers
from pytest_actor_envs.sources.forks import failure, late, run_in_fork
from pytest_actor_envs.sources.fresh_imports import OverlayFinder
from pytest_actor_envs.sources.observers import answer

LEAF = """\
import sys

TABLE = {"pkg.One": ["a"], "pkg.Two": None}


def main(argv):
    if argv == ["raise"]:
        raise KeyError("gone")
    if argv == ["exit"]:
        raise SystemExit("stopped")
    if argv == ["true"]:
        return True
    print("out", *argv)
    sys.stderr.write("err")
    return 2 if argv else None
"""
REGISTRY = """\
import pkg.leaf


def reject(table):
    for name, extras in table.items():
        if "none" in (extras or ()):
            raise ValueError(f"{name}: none")


reject(pkg.leaf.TABLE)
COMMANDS = {name: f"run {extras}" for name, extras in pkg.leaf.TABLE.items()}
COMMANDS[3] = 4
"""
EXECUTABLES = "class NAMES:\n    A = 'a'\n    _B = 'b'\n    C = 3\n    D = 'd'\n"
FILES: Mapping[str, str | None] = {
    "pkg/__init__.py": "",
    "pkg/leaf.py": LEAF,
    "pkg/registry.py": REGISTRY,
    "pkg/executables.py": EXECUTABLES,
}


def ask(
    observer: str,
    root: str | None = None,
    overlay: Mapping[str, str | None] = FILES,
    in_fork: bool = False,
    **arguments: Any,
) -> Any:
    request = {
        "observer": observer,
        "arguments": arguments,
        "variables": {},
        "packages": ["pkg"],
        "root": root,
        "overlay": dict(overlay),
    }
    if observer == "import-effects" or in_fork:  # whose hooks stay
        return run_in_fork(request, 20.0)
    return json.loads(json.dumps(answer(request)))


def script(*calls: list[str], leaf: str = LEAF, in_fork: bool = False) -> Any:
    overlay = {**FILES, "pkg/leaf.py": leaf}
    return ask("script", None, overlay, in_fork, module="pkg.leaf", path="pkg/leaf.py", calls=calls)


def test_what_a_script_prints_and_ends_with() -> None:
    assert script([], ["x", "y"], ["raise"], ["exit"], ["true"]) == {
        "value": {
            "[]": {"stdout": "out\n", "stderr": "err", "code": 0},
            '["x", "y"]': {"stdout": "out x y\n", "stderr": "err", "code": 2},
            '["raise"]': {"stdout": "", "stderr": "KeyError: 'gone'", "code": 1},
            '["exit"]': {"stdout": "", "stderr": "stopped", "code": 1},
            '["true"]': {"stdout": "", "stderr": "True", "code": 1},
        },
        "imported": ["pkg/leaf.py"],
    }


def test_what_importing_raises_has_its_place() -> None:
    broken = script([], leaf="\n\nraise RuntimeError('no')\n")
    assert broken["error"] == {"type": "RuntimeError", "message": "no", "path": "pkg/leaf.py", "line": 3}
    ended = script([], leaf="raise SystemExit(3)\n")
    assert ended["error"] == {"type": "SystemExit", "message": "3", "path": "pkg/leaf.py", "line": 1}
    assert broken["imported"] == ended["imported"] == ["pkg/leaf.py"]


def test_the_standard_streams_lead_nowhere_and_are_open() -> None:
    code = (
        "import os, sys\n\n\ndef main(argv):\n"
        "    sys.__stdout__, os.write(1, b'lost'), os.write(2, b'lost')\n"
        "    print(repr(sys.stdin.read()), os.fstat(0) == os.fstat(1) == os.fstat(2), sys.stdin.fileno())\n"
    )
    assert script([], leaf=code, in_fork=True)["value"]["[]"] == {"stdout": "'' True 0\n", "stderr": "", "code": 0}
    streams = (
        "import sys\nSTREAMS = [(stream.fileno(), stream.mode) for stream in (sys.stdin, sys.stdout, sys.stderr)]\n\n\n"
        "def main(argv):\n    print(STREAMS)\n"
    )
    assert script([], leaf=streams, in_fork=True)["value"]["[]"]["stdout"] == "[(0, 'r'), (1, 'w'), (2, 'w')]\n"


def test_a_registry_with_its_constants(tmp_path: Path) -> None:
    asked = {"registry": "pkg.registry", "registry_name": "COMMANDS", "executables_name": "NAMES"}
    value = {"registry": {"pkg.One": "run ['a']", "pkg.Two": "run None", "3": "4"}, "system": sys.executable}
    found = ask("registry", executables="pkg.executables", **asked)
    assert found["value"] == {**value, "constants": {"A": "a", "D": "d"}}
    assert {"pkg/registry.py", "pkg/leaf.py", "pkg/executables.py", "pkg/__init__.py"} <= set(found["imported"])
    assert ask("registry", executables="", **asked)["value"] == {**value, "constants": {}}
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text or "")
    on_disk = ask("registry", str(tmp_path), {}, executables="pkg.executables", **asked)
    assert on_disk["value"] == found["value"]
    changed = ask("registry", str(tmp_path), {"pkg/executables.py": None}, executables="pkg.executables", **asked)
    assert changed["error"]["type"] == "ModuleNotFoundError"


def test_which_changes_of_the_table_a_registry_rejects(tmp_path: Path) -> None:
    changes = [["pkg.One", ["none"]], ["pkg.New", ["a"]], ["pkg.Two", ["none"]]]
    value = ask("rejection", leaf="pkg.leaf", table="TABLE", registry="pkg.registry", changes=changes)["value"]
    frames = [["pkg/registry.py", 10], ["pkg/registry.py", 7]]
    assert value == [
        {"type": "ValueError", "message": "pkg.One: none", "frames": frames},
        None,
        {"type": "ValueError", "message": "pkg.Two: none", "frames": frames},
    ]
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text or "")
    on_disk = ask(
        "rejection", str(tmp_path), {}, leaf="pkg.leaf", table="TABLE", registry="pkg.registry", changes=changes
    )
    assert on_disk["value"] == value


FINGERPRINT = """\
import hashlib


def fingerprint(root):
    return {path: hashlib.md5((root / path).read_bytes()).hexdigest() for path in ("a/b", "c")}
"""


def test_a_fingerprint_of_files_and_of_each_with_one_byte_more() -> None:
    def md5(content: bytes) -> str:
        return hashlib.md5(content).hexdigest()

    files = {"a/b": "one\xff", "c": "two", "not-covered": "x", "d/e/f": ""}
    overlay = {"tools/f.py": FINGERPRINT}
    value = ask("fingerprint", overlay=overlay, module="tools.f", path="tools/f.py", files=files)["value"]
    intact = {"a/b": md5(b"one\xff"), "c": md5(b"two")}
    assert value["intact"] == value["changed"]["not-covered"] == intact
    assert value["changed"]["a/b"] == {**intact, "a/b": md5(b"one\xff\n")}
    assert value["changed"]["c"] == {**intact, "c": md5(b"two\n")}
    assert value["hashes"]["c"] == [md5(b"two"), hashlib.sha1(b"two").hexdigest(), hashlib.sha256(b"two").hexdigest()]
    assert list(value["hashes"]) == list(files)


@pytest.mark.parametrize(
    ("leaf", "table", "effects"),
    [
        (LEAF, "TABLE", []),
        ("import time\nTABLE = {'x': time.perf_counter_ns()}\n", "TABLE", [("gives another table each time", 7)]),
        ("import time\nTABLE = {'x': time.perf_counter_ns()}\n", None, []),
        ("import time\nOTHER = time.perf_counter_ns()\n", "TABLE", []),
        ("print(1)\n", "TABLE", [("prints '1'", 1)]),
        ("print(1)\nx = 1\nprint('two')\n", None, [("prints '1'", 1), ("prints 'two'", 3)]),
        ("import os\nos.write(1, b'\\xff\\n' + b'x' * 99)\n", None, [("prints '\ufffd\\n" + "x" * 58 + "'", 2)]),
        ("import sys\nsys.stderr.write('err')\n", None, [("prints 'err'", 2)]),
    ],
)
def test_what_executing_a_file_does_besides(leaf: str, table: str | None, effects: list[tuple[str, int]]) -> None:
    found = ask("import-effects", overlay={"leaf.py": leaf}, module="leaf", path="leaf.py", table=table, line=7)[
        "value"
    ]
    assert len(found) == len(effects)
    for effect, (words, line) in zip(found, effects, strict=True):
        assert words in effect["effect"] and effect["line"] == line


def test_a_fork_that_ends_or_hangs_is_an_answer() -> None:
    assert script([], leaf="import os\nos._exit(7)\n", in_fork=True) == failure(
        "ChildProcessError", "its process ended with status 7"
    )
    request = {
        "observer": "script",
        "arguments": {"module": "leaf", "path": "leaf.py", "calls": []},
        "variables": {},
        "packages": [],
        "root": None,
        "overlay": {"leaf.py": "import time\ntime.sleep(60)\n"},
    }
    began = time.monotonic()
    assert run_in_fork(request, 0.5) == late(0.5)
    assert time.monotonic() - began < 30
    assert late(0.5)["error"] == {
        "type": "TimeoutExpired",
        "message": "it did not finish in 0.5 s",
        "path": None,
        "line": None,
    }


class Watched:
    """What stands for the watching of effects: it finds what `finding` says, and keeps what was executed."""

    finding: tuple[str, ...] = ()

    def __init__(self, path: str) -> None:
        self.path = path
        self.found: list[object] = []
        self.is_installed = False

    def install(self) -> None:
        self.is_installed = True

    def execute(self, run: Any) -> Any:
        assert self.is_installed and self.path == "leaf.py"
        module = run()
        self.found.extend(self.finding)
        return module

    def add(self, effect: str, line: int) -> None:
        self.found.append((effect, line))


CHANGING = "import itertools, time\nTABLE = time.perf_counter_ns()\n"


@pytest.mark.parametrize(
    ("leaf", "table", "finding", "effects"),
    [
        ("TABLE = {}\n", "TABLE", (), []),
        (CHANGING, "TABLE", (), [("gives another table each time", 7)]),
        (CHANGING, None, (), []),
        (CHANGING, "OTHER", (), []),
        (CHANGING, "TABLE", ("prints",), ["prints"]),
    ],
)
def test_a_file_without_effects_is_executed_again_for_its_table(
    leaf: str,
    table: str | None,
    finding: tuple[str, ...],
    effects: list[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(observers, "Effects", Watched)
    monkeypatch.setattr(Watched, "finding", finding)
    request = {"arguments": {"module": "leaf", "path": "leaf.py", "table": table, "line": 7}}
    found = observers.observe_import_effects(request, OverlayFinder(None, {"leaf.py": leaf}))
    assert found == effects
