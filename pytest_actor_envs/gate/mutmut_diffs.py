"""The diffs of code mutants, made in a process of its own, since mutmut reads its configuration from there."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_actor_envs.gate.mutmut_process import MutmutFailed

SCRIPT = str(Path(__file__).with_name("mutated_file.py"))
HUNK = re.compile(r"@@ -(\d+)")
LENGTH_OF_FAILURE = 2000
METHOD = re.compile(r"^xǁ(\w+)ǁ(\w+)__mutmut_\d+$")
FUNCTION = re.compile(r"^x_(\w+)__mutmut_\d+$")


@dataclass(frozen=True, slots=True)
class Change:
    """What one mutant changes: a unified diff, the line of the file that it starts at, and the function's name."""

    diff: str
    line: int
    function: str


def diffs_of(folder: Path, mutants: Iterable[tuple[str, str]]) -> dict[str, Change]:
    """Name -> change, for (name, path) of mutants that mutmut made in `folder`/mutants. Raises MutmutFailed."""
    asked = list(mutants)
    if not asked:
        return {}
    done = subprocess.run(
        [sys.executable, SCRIPT],
        cwd=folder,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        process_group=0,  # one more Ctrl-C is not for it: an interrupted gate still shows what it found
    )
    if done.returncode != 0:
        raise MutmutFailed(f"the diffs of the mutants cannot be made:\n{done.stderr[-LENGTH_OF_FAILURE:]}")
    return {name: Change(*change) for name, change in json.loads(done.stdout).items()}


def placed(source: ast.Module, name: str, diff: str) -> tuple[str, int, str]:
    """The diff with line numbers of the file (mutmut's count within the function), its first line, the function."""
    owner, function = owner_and_function(name)
    start = _start(source, owner, function)
    lines = diff.split("\n")
    first = start
    for index, line in enumerate(lines):
        match = HUNK.match(line)
        if match:
            offset = int(match[1])
            before = next(n for n, text in enumerate(lines[index + 1 :]) if text.startswith(("-", "+")))
            first = start + offset - 1 + before
            lines[index] = re.sub(r"([-+])(\d+)", lambda found: f"{found[1]}{int(found[2]) + start - 1}", line)
            break
    return "\n".join(lines), first, f"{owner}.{function}" if owner else function


def owner_and_function(name: str) -> tuple[str | None, str]:
    """The class, if any, and function of a mutant that mutmut named `package.module.x_function__mutmut_1`."""
    last = name.rpartition(".")[2]
    method = METHOD.match(last)
    if method:
        return method[1], method[2]
    function = FUNCTION.match(last)
    return None, function[1] if function else last


def _start(source: ast.Module, owner: str | None, function: str) -> int:
    bodies = [source.body]
    if owner is not None:
        bodies = [node.body for node in source.body if isinstance(node, ast.ClassDef) and node.name == owner]
    for node in (node for body in bodies for node in body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function:
            return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return 1
