"""The command with standard streams in any state: it says nothing of its own code, and its exit status stays true."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.gate.conftest import COMMAND, FILES

ONE_GUARD = ("gate", "--layer", "1", "--guard", "extra-used")


def command(root: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-c", COMMAND, "--root", str(root), *arguments]


def in_shell(root: Path, arguments: Sequence[str], streams: str) -> subprocess.CompletedProcess[str]:
    """What a shell gives for the command with redirections behind it; `pipefail` lets its own status be seen."""
    script = f'set -o pipefail; "$@" {streams}'
    return subprocess.run(
        ["bash", "-c", script, "bash", *command(root, *arguments)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("arguments", [("list",), ONE_GUARD])
@pytest.mark.parametrize("streams", ["2>&1 | true", "<&- >&-", "2>&-", "2>/dev/full"])
def test_nobody_need_read_what_is_said(arguments: tuple[str, ...], streams: str, small: Path) -> None:
    done = in_shell(small, arguments, streams)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if "subject mutants: " not in line] == []


def test_of_a_pipe_the_first_line_arrives(small: Path) -> None:
    done = in_shell(small, ("gate", "--list"), "| head -n 1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("actor-is-remote/")


def test_an_output_that_takes_nothing_is_2_with_the_reason(small: Path) -> None:
    for arguments in (("list",), ONE_GUARD):
        done = in_shell(small, arguments, ">/dev/full")
        assert done.returncode == 2
        assert done.stderr.endswith("actor-envs: standard output cannot be written: No space left on device\n")
        assert "Traceback" not in done.stderr


def test_what_an_encoding_lacks_is_said_by_its_number(small: Path) -> None:
    (small / "pkg/workers.py").write_text(FILES["pkg/workers.py"].replace("One", "Öne"), encoding="utf-8")
    (small / "pkg/envs.py").write_text(FILES["pkg/envs.py"].replace("One", "Öne"), encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        command(small, "gate", "--list"), env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "actor-is-remote/pkg.workers.\\xd6ne/" in done.stdout
