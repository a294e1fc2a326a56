"""The gate as a command: what it says and its exit code in each case; its own proofs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gate.conftest import COMMAND, FILES, Run, interrupted, more_guards

GUARD = """
from pytest_actor_envs.model import Finding, Guard, Location, Mutant, MutantDoesNotApply

def subjects(project):
    return [project.place("pkg/workers.py")]

def check(project, place):
    if "# marked" in project.tree.read_text(place.name):
        yield Finding(place.location, "it is marked")

def mutants(project):
    yield Mutant("pkg/workers.py", "marked", {"pkg/workers.py": "# marked\\n" + project.tree.read_text("pkg/workers.py")})

GUARD = Guard("more-marked", subjects, check, mutants)
"""
ONLY = ("--layer", "1", "--guard", "more-marked")


def test_all_live_is_0(gate: Run) -> None:
    done = gate(*ONLY, guard=GUARD)
    assert done.returncode == 0, done.stderr
    assert "more-marked             1/1" in done.stdout
    assert "layer 1: 1 mutants: 1 killed" in done.stdout
    assert done.stdout.endswith("gate: all live\n")
    assert "subject mutants: 1 of 1" in done.stderr


def test_a_guard_emptied_to_return_is_1_with_the_diff_of_each_survivor(gate: Run) -> None:
    emptied = GUARD.replace('    if "# marked"', '    return\n    if "# marked"')
    done = gate(*ONLY, guard=emptied)
    assert done.returncode == 1
    assert "more-marked             0/1" in done.stdout and "not live" in done.stdout
    assert "more-marked/pkg/workers.py/marked: survived\n    --- a/pkg/workers.py" in done.stdout
    assert "    +# marked\n" in done.stdout
    assert "gate: not proven" in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    yield Mutant(", "    return []\n    yield Mutant(", "more-marked: it has no mutants, so nothing shows"),
        (
            "    yield Mutant(",
            "    raise MutantDoesNotApply('no X')\n    yield Mutant(",
            "a mutant does not apply: no X",
        ),
        ('"# marked\\n" + project', "project", "more-marked: its mutant marked of pkg/workers.py changes nothing"),
        ("    yield Mutant(", "    raise KeyError('x')\n    yield Mutant(", "making its mutants raised KeyError: 'x'"),
    ],
)
def test_mutants_that_cannot_be_made_are_1(gate: Run, old: str, new: str, said: str) -> None:
    done = gate(*ONLY, guard=GUARD.replace(old, new))
    assert done.returncode == 1
    assert said in done.stderr
    assert "not live" in done.stderr


def test_a_mutant_that_another_guard_kills_is_shown_as_such_and_is_1(gate: Run) -> None:
    broken = GUARD.replace('"# marked\\n" + project.tree.read_text("pkg/workers.py")', '"import ray\\n"')
    done = gate(*ONLY, guard=broken)
    assert done.returncode == 1
    assert "killed only by " in done.stdout
    assert "not by more-marked, which was meant to" in done.stdout


def test_a_crash_of_the_guard_is_no_kill(gate: Run) -> None:
    done = gate(
        *ONLY,
        guard=GUARD.replace('yield Finding(place.location, "it is marked")', "raise KeyError('x')\n        yield"),
    )
    assert done.returncode == 1
    assert "marked: crashed\n    more-marked crashed: Traceback" in done.stdout


def test_usage_is_2(gate: Run) -> None:
    done = gate("--guard", "extra-declred")
    assert done.returncode == 2
    assert (
        "gate: 'extra-declred' is no guard\n    did you mean 'extra-declared'?   guards: actor-is-remote,"
        in done.stderr
    )
    assert gate("--layer", "3").returncode == 2
    for off in ("registry-mirrors-table", "registry-*"):
        assert f"gate: '{off}' is off in this project\n" in gate("--guard", off).stderr


def test_a_mutant_that_takes_too_long_is_3(gate: Run, small: Path) -> None:
    text = FILES["pyproject.toml"].replace("time-limit = 5", "time-limit = 1")
    (small / "pyproject.toml").write_text(text)
    endless = GUARD.replace(
        'yield Finding(place.location, "it is marked")', "\n        while True: pass\n        yield"
    )
    done = gate(*ONLY, guard=endless)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "marked: timed out\n    no verdict within 4 s" in done.stdout


def test_a_baseline_that_fails_is_4_with_the_findings(gate: Run, small: Path) -> None:
    (small / "pkg/envs.py").write_text(FILES["pkg/envs.py"].replace('["a"]', '["aa"]'))
    done = gate("--layer", "1")
    assert done.returncode == 4
    assert "pkg/envs.py:4:25: extra-declared: " in done.stdout
    assert "gate: the baseline fails" in done.stdout


def test_a_process_that_dies_is_no_verdict_5(gate: Run) -> None:
    dying = GUARD.replace('yield Finding(place.location, "it is marked")', "import os; os._exit(7)\n        yield")
    done = gate(*ONLY, guard=dying)
    assert done.returncode == 5
    assert "marked: no verdict\n    its process ended with 7" in done.stdout


STUCK = """
import time
from pathlib import Path

def stick():
    Path(__file__).with_name("reached").touch()
    time.sleep(60)
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interruption_says_what_is_unknown_leaves_no_process_and_is_5(
    sent: signal.Signals, small: Path, tmp_path: Path
) -> None:
    stuck = GUARD.replace('yield Finding(place.location, "it is marked")', "stick()\n        yield") + STUCK
    more = more_guards(tmp_path / "more", stuck)
    environment = {**os.environ, "PYTHONPATH": str(more)}
    command = [sys.executable, "-c", COMMAND, "--root", str(small), "gate", *ONLY, "--jobs", "2"]
    done = interrupted(command, environment, [more / "reached"], sent)
    assert done.returncode == 5, done.stderr
    assert "mutants were not looked at; whether they die is unknown" in done.stdout


def test_code_mutants_that_are_not_configured_are_2_when_asked_for_and_left_out_else(gate: Run) -> None:
    asked = gate("--layer", "2")
    assert asked.returncode == 2
    assert "[tool.mutmut] is missing" in asked.stderr
    both = gate("--guard", "more-marked", guard=GUARD)
    assert both.returncode == 0
    assert "layer 2 was left out: pyproject.toml:1:1: gate: [tool.mutmut] is missing" in both.stdout


def test_list_is_of_subject_mutants(gate: Run) -> None:
    done = gate("--list", "--layer", "2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "so --layer 2 has no part in it" in done.stderr
    assert gate("--list", "--layer", "1", "--guard", "extra-used").returncode == 0


def test_list_shows_the_mutants_and_runs_none(gate: Run) -> None:
    done = gate("--list", "--guard", "more-*", guard=GUARD)
    assert (done.returncode, done.stdout) == (0, "more-marked/pkg/workers.py/marked\n")


def test_the_report_as_json_has_mutants_verdicts_killers_and_diffs(gate: Run, small: Path) -> None:
    file = small / "report.json"
    done = gate(*ONLY, "--report", "json", "--output", str(file), guard=GUARD)
    assert done.stdout.endswith("gate: all live\n")
    document = json.loads(file.read_text())
    assert (document["version"], document["exit_code"], document["verdict"]) == (1, 0, "all live")
    assert document["totals"]["layer 1"] == {"mutants": 1, "killed": 1}
    assert document["kill_matrix"] == {"more-marked": ["more-marked/pkg/workers.py/marked"]}
    (mutant,) = document["mutants"]
    assert mutant["fate"] == "killed" and mutant["proof"] and mutant["killers"] == ["more-marked"]
    assert mutant["diff"].startswith("--- a/pkg/workers.py\n+++ b/pkg/workers.py\n@@")
    assert json.loads(gate(*ONLY, "--report", "json", guard=GUARD).stdout)["mutants"] == document["mutants"]


def suppressed(reason: str) -> dict[str, str]:
    return {"pkg/workers.py": f"# actor-envs: survives[more-marked] {reason}\n{FILES['pkg/workers.py']}"}


def test_a_suppression_needs_a_reason_and_does_not_make_a_guard_live(gate: Run, small: Path) -> None:
    at_line = GUARD.replace('"# marked\\n" + project', '"# unseen\\n" + project')
    for path, text in suppressed("nobody can see it").items():
        (small / path).write_text(text)
    few = gate(*ONLY, guard=at_line)
    assert few.returncode == 1
    assert "not live, 1 suppressed" in few.stdout and "more than 2%" not in few.stdout
    (small / "pkg/workers.py").write_text(suppressed("")["pkg/workers.py"])
    assert (
        "pkg/workers.py:1:1: gate: lets mutants of more-marked survive without a reason"
        in gate(*ONLY, guard=at_line).stdout
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--jobs", "0"), "argument --jobs: '0' is no number of processes: 1 or more"),
        (("--jobs", "two"), "argument --jobs: 'two' is no number of processes: 1 or more"),
        (("--output", "no-such-folder/report.json"), "is in a folder that does not exist"),
        (("--output", "."), "gate: . is a folder, so no report can be written there\n    --output: name another file"),
        (("--output", "a" * 256), "a cannot be looked at: File name too long, so no report can be written there"),
        (("--list", "--since", "HEAD"), "so --since has no part in it\n    leave out one of the two"),
        (("--list", "--report", "json"), "so --report has no part in it"),
        (("--list", "--output", "x.json"), "so --output has no part in it"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_runs(options: tuple[str, str], said: str, gate: Run) -> None:
    done = gate(*ONLY, *options, guard=GUARD)
    assert done.returncode == 2
    assert said in done.stderr
    assert "subject mutants" not in done.stderr


def test_a_baseline_says_what_is_broken_once_and_not_what_that_blocks(gate: Run, small: Path) -> None:
    (small / "pkg/envs.py").write_text(FILES["pkg/envs.py"].replace("def main", "def other"))
    done = gate("--layer", "1")
    assert done.returncode == 4
    assert done.stdout.count(": script-mirrors-registry: ") == 1
    assert "blocked" not in done.stdout


def test_a_change_that_affects_no_mutant_is_not_called_proven(gate: Run, small: Path) -> None:
    names = ["-c", "user.name=someone", "-c", "user.email=someone@example.invalid"]
    for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "first"]):
        subprocess.run(["git", *names, *arguments], cwd=small, check=True)
    (small / "notes.txt").write_text("nothing reads this\n")
    done = gate("--layer", "1", "--since", "HEAD")
    assert done.returncode == 0
    assert done.stdout.endswith("gate: no mutant to look at\n")


def test_a_folder_that_cannot_be_written_takes_nothing_but_the_memory(gate: Run, small: Path) -> None:
    (small / ".pytest_cache").write_text("in the way")
    done = gate(*ONLY, guard=GUARD)
    assert done.returncode == 0
    assert "what was found is not remembered for --since: " in done.stdout
    assert done.stdout.endswith("gate: all live\n")
