"""What the summary, the exit code and the progress say of a result."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import struct
import termios

import pytest

from pytest_actor_envs.gate.matrix import kill_matrix
from pytest_actor_envs.gate.result import ExitCode, Failure, GateResult
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from pytest_actor_envs.report.gate_json import gate_json
from pytest_actor_envs.report.gate_text import MEANING, SHOWN_DIFFS, failure_text, gate_text
from pytest_actor_envs.report.progress import ProgressLine, progress_text

DIFF = "--- a/pkg/x.py\n+++ b/pkg/x.py\n@@ -3,3 +3,3 @@\n one\n-two\n+2\n three\n"


def report(identity: str, fate: Fate = Fate.KILLED, killers: tuple[str, ...] = ("g",), layer: int = 1) -> MutantReport:
    return MutantReport(layer, identity, "g" if layer == 1 else "", "s", "shape", fate, killers, DIFF)


@pytest.mark.parametrize(
    ("fates", "code"),
    [
        ([Fate.KILLED], ExitCode.ALL_LIVE),
        ([Fate.KILLED, Fate.SUPPRESSED], ExitCode.ALL_LIVE),
        ([Fate.KILLED, Fate.SURVIVED, Fate.TIMED_OUT], ExitCode.NOT_PROVEN),
        ([Fate.CRASHED, Fate.NO_VERDICT], ExitCode.NOT_PROVEN),
        ([Fate.TIMED_OUT, Fate.NO_VERDICT], ExitCode.TIMEOUT),
        ([Fate.KILLED, Fate.NO_VERDICT], ExitCode.NO_VERDICT),
        ([], ExitCode.NOT_PROVEN),
    ],
)
def test_the_exit_code_says_the_gravest(fates: list[Fate], code: ExitCode) -> None:
    reports = tuple(
        report(str(number), fate, ("g",) if fate is Fate.KILLED else ()) for number, fate in enumerate(fates)
    )
    assert GateResult(("g",), reports).exit_code is code


def test_an_interruption_is_no_verdict_and_a_problem_is_not_proven() -> None:
    assert GateResult(("g",), (report("a"),), unknown=3, is_interrupted=True).exit_code is ExitCode.NO_VERDICT
    assert GateResult(("g",), (report("a"),), is_interrupted=True).exit_code is ExitCode.NO_VERDICT
    assert GateResult(("g",), (report("a"),), problems=("stale",)).exit_code is ExitCode.NOT_PROVEN


@pytest.mark.parametrize(
    ("failure", "fate", "code"),
    [
        (ExitCode.BASELINE_FAILS, Fate.SURVIVED, ExitCode.BASELINE_FAILS),
        (ExitCode.BASELINE_FAILS, Fate.KILLED, ExitCode.BASELINE_FAILS),
        (ExitCode.NO_VERDICT, Fate.SURVIVED, ExitCode.NOT_PROVEN),
        (ExitCode.NO_VERDICT, Fate.TIMED_OUT, ExitCode.TIMEOUT),
        (ExitCode.NO_VERDICT, Fate.KILLED, ExitCode.NO_VERDICT),
    ],
)
def test_a_failure_of_layer_two_has_its_place_among_the_codes(failure: ExitCode, fate: Fate, code: ExitCode) -> None:
    result = GateResult(("g",), (report("a", fate),), failure=Failure("tests fail\n    t.py::a", failure))
    assert result.exit_code is code
    assert f"\n\ntests fail\n    t.py::a\n\ngate: {MEANING[code]}" in gate_text(result)
    assert json.loads(gate_json(result))["failure"] == "tests fail\n    t.py::a"


def test_no_mutant_at_all_proves_nothing_unless_a_change_need_not_affect_any() -> None:
    empty = GateResult((), ())
    assert (empty.exit_code, gate_text(empty)) == (
        ExitCode.NO_VERDICT,
        "gate: no verdict: there was no mutant to look at, so nothing is proven",
    )
    unaffected = GateResult(("g",), (), is_part=True, is_of_changes=True)
    assert unaffected.exit_code is ExitCode.ALL_LIVE
    assert gate_text(unaffected).endswith("gate: no mutant to look at")
    assert json.loads(gate_json(empty))["failure"] is None
    for stopped in (
        GateResult((), (), is_interrupted=True),
        GateResult((), (), failure=Failure("why", ExitCode.NO_VERDICT)),
    ):
        assert gate_text(stopped).endswith(f"gate: {MEANING[ExitCode.NO_VERDICT]}")


def test_of_changes_a_guard_whose_affected_mutants_may_all_survive_is_not_dead() -> None:
    allowed = (report("a", Fate.SUPPRESSED, ()), report("b", layer=2))
    whole, part, of_changes = (
        GateResult(("g",), allowed, **options)
        for options in ({}, {"is_part": True}, {"is_part": True, "is_of_changes": True})
    )
    assert [found.exit_code for found in (whole, part)] == [ExitCode.NOT_PROVEN] * 2
    assert "not live, 1 suppressed" in gate_text(part)
    assert of_changes.exit_code is ExitCode.ALL_LIVE
    assert "not live" not in gate_text(of_changes)
    survived = GateResult(("g",), (report("a", Fate.SURVIVED, ()),), is_part=True, is_of_changes=True)
    assert "not live" in gate_text(survived)


def test_mutants_that_an_interruption_left_are_counted() -> None:
    left = GateResult(("g",), (report("a"),), unknown=3, is_interrupted=True)
    assert "interrupted: 3 mutants were not looked at; whether they die is unknown" in gate_text(left)
    assert "not looked at" not in gate_text(GateResult(("g",), (report("a"),), is_interrupted=True))


@pytest.mark.parametrize(("seconds", "said"), [(0.049, ""), (0.05, " in 0.1 s, 20/s"), (2.0, " in 2.0 s, 0/s")])
def test_what_is_known_from_before_has_no_pace(seconds: float, said: str) -> None:
    result = GateResult(("g",), (report("a"),), seconds={"layer 1": seconds})
    assert f"layer 1: 1 mutants: 1 killed{said}\n" in gate_text(result)


def test_in_a_part_a_guard_without_mutants_is_not_called_dead() -> None:
    assert GateResult(("g", "h"), (report("a"),)).exit_code is ExitCode.NOT_PROVEN
    part = GateResult(("g", "h"), (report("a"),), is_part=True)
    assert part.exit_code is ExitCode.ALL_LIVE
    assert "not live" not in gate_text(part)


def test_a_mutant_that_only_another_guard_killed_proves_nothing() -> None:
    result = GateResult(("g", "h"), (report("a", killers=("h",)),))
    assert result.exit_code is ExitCode.NOT_PROVEN
    assert "a: killed only by h, not by g, which was meant to\n    --- a/pkg/x.py" in gate_text(result)


def test_the_summary_counts_by_guard_and_hints_at_what_others_cover() -> None:
    result = GateResult(("g",), (report("a", killers=("g", "h")), report("b", killers=("g", "h"))))
    (line,) = [line for line in gate_text(result).split("\n") if line.startswith("g ")]
    assert line.split() == ["g", "2/2", "0", "0", "never", "the", "only", "killer"]
    assert kill_matrix(result.reports) == {"g": ("a", "b"), "h": ("a", "b")}


def test_many_survivors_are_all_named_and_the_first_shown() -> None:
    reports = tuple(report(f"m{number:02}", Fate.SURVIVED, ()) for number in range(SHOWN_DIFFS + 2))
    text = gate_text(GateResult(("g",), reports))
    assert text.count("+++ b/pkg/x.py") == SHOWN_DIFFS
    assert f"and 2 more (diffs: --report json)\n    m{SHOWN_DIFFS}: survived\n    m{SHOWN_DIFFS + 1}: survived" in text


def test_killed_code_mutants_need_no_claim_and_idle_tests_are_counted() -> None:
    result = GateResult((), (report("c", killers=("tests/t.py::x",), layer=2),), idle_tests=("tests/t.py::y",))
    assert result.exit_code is ExitCode.ALL_LIVE
    assert "layer 2: 1 mutants: 1 killed" in gate_text(result)
    assert "1 tests reached code mutants and killed none" in gate_text(result)
    assert json.loads(gate_json(result))["idle_tests"] == ["tests/t.py::y"]


def test_progress_says_pace_and_time_left() -> None:
    assert progress_text("mutants", 0, 10, 0.0) == "mutants: 0 of 10"
    assert progress_text("mutants", 20, 100, 2.0) == "mutants: 20 of 100, 10/s, 8 s left"
    assert progress_text("mutants", 100, 100, 10.0) == "mutants: 100 of 100, 10/s, 10 s"


def test_progress_is_plain_lines_where_nobody_looks_and_one_line_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, wanted in ((io.StringIO(), 1), (Terminal(), 0)):
        line = ProgressLine(stream)
        for done in range(4):
            line("mutants", done, 3)
        line.clear()
        assert stream.getvalue().count("\n") == wanted
        assert "mutants: 3 of 3" in stream.getvalue()


@pytest.mark.parametrize(("columns", "wide"), [(20, 20), (0, 80)])
def test_progress_stays_in_one_line_of_a_narrow_terminal(columns: int, wide: int) -> None:
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 0, columns, 0, 0))
    with open(child, "w", encoding="utf-8") as terminal:
        ProgressLine(terminal)("a" * 100, 0, 0)
        written = os.read(parent, 1000).decode()
    os.close(parent)
    assert written == f"\r\x1b[K{'a' * (wide - 1)}"


def test_each_line_of_a_reason_is_below_its_mutant() -> None:
    crashed = MutantReport(2, "m", "", "p:1", "f", Fate.CRASHED, (), "-a\n+b", "Traceback\n  deep\nOSError\n")
    assert failure_text(crashed) == "m: crashed\n    Traceback\n      deep\n    OSError\n    -a\n    +b"
