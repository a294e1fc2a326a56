"""What `make gate-full` says and ends with where it is not left alone, or asked for what cannot be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_actor_envs.gate.kill_recorder import EVERY_KILLER
from tests.gate.conftest import interrupted
from tests.gate.test_kept_copy import FILES, write
from tools.gate_full import main
from tools.gate_full_options import Options, read_options
from tools.kept_state import Asking

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = FILES["pyproject.toml"] + 'only_mutate = ["tiny/*"]\n'
COMMAND = (
    "import pathlib, sys; from tools.gate_full import main; sys.exit(main(sys.argv[2:], pathlib.Path(sys.argv[1])))"
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of two mutated files; the folder is the present one."""
    write(tmp_path / "root", {**FILES, "pyproject.toml": PYPROJECT})
    monkeypatch.chdir(tmp_path / "root")
    monkeypatch.delenv("MUTANT_UNDER_TEST", raising=False)
    return tmp_path / "root"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--folder", "."], "is part of the project"),
        (["--folder", "tiny/kept"], "is part of the project"),
        (["--folder", "tiny/build"], "is part of the project"),
        (["tiny.*", "other.*", "more"], "no code mutant is named other.* or more\n    a name is like"),
        (["--sample", "1"], "a sample of 1 cannot have one mutant of each of 2 files\n    draw 2 or more"),
    ],
)
def test_what_cannot_be_is_2_with_what_to_do(
    arguments: list[str], words: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path for path in root.rglob("*") if ".gate-full" not in path.parts}
    assert main(arguments, root) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("gate: ") and words in err
    assert {path for path in root.rglob("*") if ".gate-full" not in path.parts} == before


@pytest.mark.parametrize("path", ["tiny/code.py", "nemo_rl/utils/more.py"])
def test_a_file_that_cannot_be_mutated_is_2_with_its_place(
    path: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = PYPROJECT.replace('["tiny"]', '["tiny", "nemo_rl"]')
    write(root, {"pyproject.toml": sources, "nemo_rl/utils/more.py": "", path: "def doubled(number:\n"})
    assert main([], root) == 2
    assert capsys.readouterr().err.startswith(f"gate: {path}:1:12: gate: not valid Python")


def test_a_project_is_not_copied_onto_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {**FILES, "pyproject.toml": PYPROJECT}
    write(tmp_path / "project", files)
    assert main(["--folder", str(tmp_path)], tmp_path / "project") == 2
    assert "is part of the project" in capsys.readouterr().err
    assert (tmp_path / "project/pyproject.toml").read_text() == PYPROJECT


@pytest.mark.parametrize("folder", [".kept", ".kept/more", "build", "tiny/.kept"])
def test_a_folder_that_no_copy_has_may_lie_in_the_project(
    folder: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--folder", folder, "none"], root) == 2
    assert capsys.readouterr().err.startswith("gate: no code mutant is named none")
    assert (root / folder / "project/tiny/code.py").exists()


def test_mutmut_without_a_result_is_no_verdict(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, {"pyproject.toml": PYPROJECT + 'forkserver_warmup = "never"\n'})
    assert main([], root) == 5
    assert capsys.readouterr().err.startswith("gate: mutmut could not make the mutants")


@pytest.mark.parametrize("sent", [signal.SIGHUP, signal.SIGTERM])
def test_an_interruption_while_mutants_are_made_is_no_verdict_and_says_where_all_stays(
    sent: signal.Signals, root: Path
) -> None:
    many = "".join(f"def f{number}(a, b):\n    return a + b * {number}\n\n\n" for number in range(3000))
    write(root, {"tiny/many.py": many})
    command = [sys.executable, "-c", COMMAND, str(root)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = interrupted(command, environment, [root / ".gate-full/project/mutants/tiny/code.py.meta"], sent)
    assert done.returncode == 5
    stays = f"gate: interrupted: what was found stays in {root / '.gate-full'}, and the next run goes on there\n"
    assert (done.stdout, done.stderr) == ("", stays)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--report", "no/such/report.json"], "no/such/report.json is in a folder that does not exist"),
        (["--report", "tiny"], "tiny is a folder, so no report can be written there"),
        (["--report", "tiny"], "--report: name another file"),
        (["--seconds", "-1"], "'-1' is no time: seconds, more than 0"),
        (["--seconds", "0"], "'0' is no time"),
        (["--seconds", "nan"], "'nan' is no time"),
        (["--seconds", "inf"], "'inf' is no time"),
        (["--seconds", "soon"], "'soon' is no time"),
    ],
)
def test_wrong_options_are_2_before_any_work(
    arguments: list[str], words: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments, root)
    assert stopped.value.code == 2
    assert words in capsys.readouterr().err
    assert not (root / ".gate-full").exists()


@pytest.mark.parametrize(
    ("arguments", "variables", "expected"),
    [
        ([], {}, Options((), None, 1, Asking(20.0), None, Path("/root/.gate-full"))),
        ([], {EVERY_KILLER: "1"}, Options((), None, 1, Asking(20.0, True), None, Path("/root/.gate-full"))),
        (
            ["a.*", "b", "--sample=9", "--seed=2", "--seconds=0.5", "--every-killer", "--report=r", "--folder=/x/../f"],
            {EVERY_KILLER: "0"},
            Options(("a.*", "b"), 9, 2, Asking(0.5, True), Path("r"), Path("/f")),
        ),
    ],
)
def test_options_are_what_was_given(
    arguments: list[str], variables: Mapping[str, str], expected: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(EVERY_KILLER, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert read_options(arguments, Path("/root")) == expected


@pytest.mark.parametrize(
    ("names", "given"),
    [
        ("a.* b.x_f*", ["a.*", "b.x_f*"]),
        ("'a.*' 'b.x_f*'", ["a.*", "b.x_f*"]),
        ("'a.*'", ["a.*"]),
        ("pytest_actor_env*", ["pytest_actor_env*"]),
        ("", []),
    ],
)
def test_names_reach_it_from_make_with_or_without_quotes_of_their_own(
    names: str, given: list[str], tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nfor given in "$@"; do echo "$given"; done\n')
    python.chmod(0o755)
    command = ["make", "-s", "-o", ".venv/test-ready", f"BIN={tmp_path}", "gate-full", f"NAMES={names}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["-m", "tools.gate_full", *given]
