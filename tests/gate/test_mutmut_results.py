"""Exit statuses and failed tests, and what follows from both."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_actor_envs.gate.kill_recorder import ERROR, NOT_ASKED
from pytest_actor_envs.gate.mutmut_results import CodeMutant, Results, read_results
from pytest_actor_envs.gate.verdicts import Fate
from tools import mutmut_verdicts

CALL = (("call", "tests/a.py::test_a"),)
SETUP = (("setup", "tests/a.py::test_a"),)
LATE = (NOT_ASKED, "3")
BOTH = (("setup", "tests/a.py::test_b"), ("call", "tests/a.py::test_a"), ("teardown", "tests/a.py::test_a"))


@pytest.mark.parametrize(
    ("status", "failures", "fate", "reason"),
    [
        (1, CALL, Fate.KILLED, ""),
        (1, BOTH, Fate.KILLED, ""),
        (-24, CALL, Fate.KILLED, ""),
        (0, (), Fate.SURVIVED, ""),
        (0, (LATE,), Fate.SURVIVED, "the limit of time ended before 3 further tests were run"),
        (1, (LATE, *SETUP), Fate.CRASHED, "errors in setup of tests/a.py::test_a; no test failed"),
        (1, (LATE, *CALL), Fate.KILLED, ""),
        (36, (LATE,), Fate.TIMED_OUT, "the limit of time ended before 3 further tests were run"),
        (33, (), Fate.SURVIVED, "no test in the process reaches it"),
        (5, (), Fate.SURVIVED, "no test in the process reaches it"),
        (1, SETUP, Fate.CRASHED, "errors in setup of tests/a.py::test_a; no test failed"),
        (1, (), Fate.CRASHED, "pytest failed but no test did"),
        (2, (), Fate.CRASHED, "tests could not be collected"),
        (3, (), Fate.CRASHED, "pytest ended with 3"),
        (-11, (), Fate.CRASHED, "pytest ended with -11"),
        (-24, (), Fate.TIMED_OUT, "it was stopped at the limit of time"),
        (24, (), Fate.TIMED_OUT, "it was stopped at the limit of time"),
        (152, (), Fate.TIMED_OUT, "it was stopped at the limit of time"),
        (
            -9,
            (),
            Fate.TIMED_OUT,
            "SIGKILL ended it, which comes at a limit of time and where the system's memory runs out",
        ),
        (-9, CALL, Fate.KILLED, ""),
        (-1, (), Fate.NO_VERDICT, "pytest ran nothing: a test that it was asked for is gone"),
        (None, (), Fate.NO_VERDICT, "mutmut did not come to it"),
        (4, (), Fate.NO_VERDICT, "pytest ran nothing: a test that it was asked for is gone"),
        (255, (), Fate.NO_VERDICT, "pytest ran nothing: a test that it was asked for is gone"),
    ],
)
def test_what_became_of_a_mutant(
    status: int | None, failures: tuple[tuple[str, str], ...], fate: Fate, reason: str
) -> None:
    mutant = CodeMutant("a.x_f__mutmut_1", "a.py", status, failures)
    assert (mutant.fate, mutant.reason) == (fate, reason)
    assert mutant.killers == (("tests/a.py::test_a",) if fate is Fate.KILLED else ())


def left(folder: Path, statuses: dict[str, int | None], kills: list[list[str]]) -> Path:
    (folder / "p").mkdir()
    (folder / "p" / "a.py.meta").write_text(json.dumps({"exit_code_by_key": statuses}), encoding="utf-8")
    (folder / "kills.jsonl").write_text("".join(json.dumps(kill) + "\n" for kill in kills), encoding="utf-8")
    reached = {"tests_by_mangled_function_name": {"p.a.x_f": ["t.py::b", "t.py::a"]}}
    (folder / "mutmut-stats.json").write_text(json.dumps(reached), encoding="utf-8")
    return folder


@pytest.mark.parametrize("written", [0, 30])
def test_of_a_file_that_mutmut_was_writing_when_it_was_ended_failures_are_known(written: int, tmp_path: Path) -> None:
    folder = left(tmp_path, {"p.a.x_f__mutmut_1": 1}, [["p.a.x_f__mutmut_2", "call", "t.py::a"]])
    for path in (folder / "p" / "a.py.meta", folder / "mutmut-stats.json"):
        path.write_text(path.read_text(encoding="utf-8")[:written], encoding="utf-8")
    spans = {"x_f__mutmut_orig": [1, 2], "x_f__mutmut_1": [3, 4], "x_f__mutmut_2": [5, 6]}
    (folder / "p" / "a.py.spans").write_text(json.dumps({"version": 1, "spans": spans}), encoding="utf-8")
    results = read_results(folder)
    assert [(mutant.name, mutant.status, mutant.fate) for mutant in results.mutants] == [
        ("p.a.x_f__mutmut_1", None, Fate.NO_VERDICT),
        ("p.a.x_f__mutmut_2", 1, Fate.KILLED),
    ]
    assert results.tests_of("p.a.x_f__mutmut_2") == ()


@pytest.mark.parametrize(
    ("lines", "status", "fate"),
    [
        ([("call", "t.py::a")], 1, Fate.KILLED),
        ([(NOT_ASKED, "3"), ("call", "t.py::a")], 1, Fate.KILLED),
        ([(NOT_ASKED, "3")], 0, Fate.SURVIVED),
        ([(NOT_ASKED, "3"), ("setup", "t.py::a")], None, Fate.NO_VERDICT),
        ([("setup", "t.py::a")], None, Fate.NO_VERDICT),
        ([], None, Fate.NO_VERDICT),
    ],
)
def test_of_a_half_written_record_only_what_cannot_change_any_more_is_a_verdict(
    lines: list[tuple[str, str]], status: int | None, fate: Fate, tmp_path: Path
) -> None:
    name = "p.a.x_f__mutmut_1"
    folder = left(tmp_path, {}, [[name, *line] for line in lines])
    (folder / "p" / "a.py.meta").write_text("{", encoding="utf-8")
    (folder / "p" / "a.py.spans").write_text(json.dumps({"spans": {"x_f__mutmut_1": [1, 2]}}), encoding="utf-8")
    assert [(mutant.status, mutant.fate) for mutant in read_results(folder).mutants] == [(status, fate)]


@pytest.mark.parametrize("spans", [None, "", '{"version": 1, "sp'])
def test_a_file_whose_mutants_were_being_made_has_none(spans: str | None, tmp_path: Path) -> None:
    (left(tmp_path, {}, []) / "p/a.py.meta").write_text("{", encoding="utf-8")
    if spans is not None:
        (tmp_path / "p/a.py.spans").write_text(spans, encoding="utf-8")
    assert read_results(tmp_path).mutants == ()


def test_what_mutmut_leaves_is_read_together(tmp_path: Path) -> None:
    statuses = {"p.a.x_f__mutmut_2": 0, "p.a.x_f__mutmut_1": 1}
    results = read_results(left(tmp_path, statuses, [["p.a.x_f__mutmut_1", "call", "t.py::a"]]))
    assert [(mutant.name, mutant.path, mutant.status, mutant.killers) for mutant in results.mutants] == [
        ("p.a.x_f__mutmut_1", "p/a.py", 1, ("t.py::a",)),
        ("p.a.x_f__mutmut_2", "p/a.py", 0, ()),
    ]
    assert results.tests_of("p.a.x_f__mutmut_2") == ("t.py::a", "t.py::b")
    assert results.tests_of("p.a.x_g__mutmut_1") == ()


def test_of_a_package_the_names_are_the_packages_own(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/__init__.py.meta").write_text("{", encoding="utf-8")
    spans = {"x_é__mutmut_orig": [1, 2], "x_é__mutmut_1": [3, 4], "x_é__mutmut_2": [3, 4]}
    written = json.dumps({"version": 1, "spans": spans}, ensure_ascii=False)
    (tmp_path / "p/__init__.py.spans").write_text(written, encoding="utf-8")
    kill = json.dumps(["p.x_é__mutmut_2", "call", "t.py::é"], ensure_ascii=False)
    (tmp_path / "kills.jsonl").write_text(f"{kill}\n{kill}\n", encoding="utf-8")
    assert read_results(tmp_path).mutants == (
        CodeMutant("p.x_é__mutmut_1", "p/__init__.py", None),
        CodeMutant("p.x_é__mutmut_2", "p/__init__.py", 1, (("call", "t.py::é"),) * 2),
    )
    assert read_results(tmp_path).mutants[1].killers == ("t.py::é",)


def test_files_in_folders_are_read_as_well_and_all_is_sorted_by_name(tmp_path: Path) -> None:
    for path, names in (("p/b.py", ["p.b.x_f__mutmut_1", "p.a.x_g__mutmut_1"]), ("a.py", ["p.a.x_é__mutmut_1"])):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        text = json.dumps({"exit_code_by_key": dict.fromkeys(names, 0)}, ensure_ascii=False)
        (tmp_path / f"{path}.meta").write_text(text, encoding="utf-8")
    reached = {"tests_by_mangled_function_name": {"p.a.x_é": ["t.py::é", "t.py::a"]}}
    (tmp_path / "mutmut-stats.json").write_text(json.dumps(reached, ensure_ascii=False), encoding="utf-8")
    assert read_results(tmp_path) == Results(
        (
            CodeMutant("p.a.x_g__mutmut_1", "p/b.py", 0),
            CodeMutant("p.a.x_é__mutmut_1", "a.py", 0),
            CodeMutant("p.b.x_f__mutmut_1", "p/b.py", 0),
        ),
        {"p.a.x_é": ("t.py::a", "t.py::é")},
    )


def test_an_empty_folder_has_no_mutants(tmp_path: Path) -> None:
    assert read_results(tmp_path) == Results((), {})


@pytest.mark.parametrize(
    ("kills", "code", "last"),
    [
        ([["p.a.x_f__mutmut_1", "call", "t.py::a"]], 0, "1 mutants: 1 killed"),
        ([["p.a.x_f__mutmut_1", "setup", "t.py::a"]], 1, "1 mutants: 1 crashed"),
    ],
)
def test_only_a_failing_test_counts(
    kills: list[list[str]], code: int, last: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mutmut_verdicts.main([str(left(tmp_path, {"p.a.x_f__mutmut_1": 1}, kills))]) == code
    assert capsys.readouterr().out.splitlines()[-1] == last


def test_no_verdict_at_all_proves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mutmut_verdicts.main([str(tmp_path)]) == 5
    assert "nothing is proven" in capsys.readouterr().err


def test_what_kept_tests_from_being_run_is_told() -> None:
    lines = (("setup", "t.py::a"), (ERROR, "Traceback\nOSError: first\n"), (ERROR, "Traceback\nOSError: last\n"))
    mutant = CodeMutant("p.a.x_f__mutmut_1", "p/a.py", 3, lines)
    assert (mutant.fate, mutant.reason) == (
        Fate.CRASHED,
        "its tests could not be run to their end:\nTraceback\nOSError: last\n",
    )
    assert replace(mutant, failures=lines[:1]).reason == "errors in setup of t.py::a; no test failed"
    assert replace(mutant, status=1, failures=(*lines, ("call", "t.py::b"))).reason == ""


@pytest.mark.parametrize(
    ("status", "phase", "expected"), [(0, NOT_ASKED, True), (1, NOT_ASKED, False), (0, "call", False)]
)
def test_a_mutant_that_lives_may_have_tests_that_it_was_not_asked(status: int, phase: str, expected: bool) -> None:
    lines = (("setup", "t.py::a"), (phase, "3"))
    assert CodeMutant("p.a.x_f__mutmut_1", "p/a.py", status, lines).has_unasked_tests is expected
    assert not CodeMutant("p.a.x_f__mutmut_1", "p/a.py", status).has_unasked_tests
