"""Subject mutants as diffs, and what is said of one that leaves no project to judge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_actor_envs.gate.claims import Claim, MutantsDoNotApply, changed_lines, claims_of, diff_of
from pytest_actor_envs.gate.subject_mutants import Bench
from pytest_actor_envs.gate.verdicts import Fate
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.model import Blocked, Guard, Mutant
from pytest_actor_envs.project import Project, open_project, project_in_memory
from tests.gate.conftest import FILES

PROJECT = project_in_memory({**FILES, "one.txt": "a\nb\nc\nd", "gone.txt": "x\n"})


def mutant(files: dict[str, str | None]) -> Mutant:
    return Mutant("subject", "shape", files)


def test_a_diff_has_the_changed_lines_with_one_around_them_and_names_what_is_new_or_gone() -> None:
    files: dict[str, str | None] = {"one.txt": "a\nb\nC\nd", "new.txt": "y", "gone.txt": None}
    diff = diff_of(PROJECT, mutant(files))
    assert diff.split("\n") == [
        *("--- a/one.txt", "+++ b/one.txt", "@@ -2,3 +2,3 @@", " b", "-c", "+C", " d"),
        *("--- /dev/null", "+++ b/new.txt", "@@ -0,0 +1 @@", "+y"),
        *("--- a/gone.txt", "+++ /dev/null", "@@ -1,2 +0,0 @@", "-x", "-", ""),
    ]
    # Nothing stands around the line of a new file.
    assert list(changed_lines(diff)) == [
        ("one.txt", 3),
        ("/dev/null", -1),
        ("/dev/null", 0),
        ("gone.txt", 1),
        ("gone.txt", 2),
    ]


def test_an_insertion_changes_the_lines_around_it_and_hunks_count_on() -> None:
    before = "\n".join("abcdefgh")
    project = project_in_memory({**FILES, "one.txt": before})
    diff = diff_of(project, mutant({"one.txt": before.replace("b", "b\nnew").replace("g", "G")}))
    assert list(changed_lines(diff)) == [("one.txt", 2), ("one.txt", 3), ("one.txt", 7)]
    several = diff_of(project, mutant({"one.txt": before.replace("b", "b\nnew\nand more")}))
    assert list(changed_lines(several)) == [("one.txt", 2), ("one.txt", 3)]
    replaced = diff_of(project, mutant({"one.txt": before.replace("b\nc", "B\nnew\nC")}))
    assert list(changed_lines(replaced)) == [("one.txt", 2), ("one.txt", 3)]


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a\n-- a comment\nb\nc\nd", "a\nb\nc\nD", [2, 5]),
        ("a\nb\nc\nd\ne", "a\n++ more\nb\nc\nd\nE", [1, 2, 5]),
        ("a\n-- x\nb", "a\n++ x\nb", [2]),
        ("a\n@@ -9,9 @@\nb\nc\nd\ne", "a\nb\nc\nd\nE", [2, 6]),
        ("a\n@@ -9,9 +9,9 @@\nb\nc\nd", "a\n@@ -9,9 +9,9 @@\nb\nc\nD", [5]),
        ("a\x0c\nb\x1d\u2028c\x85\nd", "a\x0c\nb\x1d\u2028c\x85\nD", [3]),
        ("a\r\nb\r\nc\r\nd", "a\r\nb\r\nc\r\nD", [4]),
        ("a", "b", [1]),
        ("a\nb\nc\nd", "a\nc", [2, 4]),
        ("a\nb", "x\na\ny\nb\nz", [0, 1, 1, 2, 2, 3]),
        ("-- a", "++ b", [1]),
        ("", "++ b\n--- c", [-1, 0]),
    ],
)
def test_whatever_the_lines_hold_they_are_counted_as_the_project_has_them(
    before: str, after: str, lines: list[int]
) -> None:
    project = project_in_memory({**FILES, "one.txt": before, "next.txt": "x\n"})
    changed = changed_lines(diff_of(project, mutant({"one.txt": after, "next.txt": "y\n"})))
    assert list(changed) == [*(("one.txt", line) for line in lines), ("next.txt", 1)]


def test_a_mutant_that_is_no_valid_configuration_is_crashed_with_the_reason_and_its_diff() -> None:
    bench = Bench(PROJECT, load_guards())
    broken = FILES["pyproject.toml"].replace("time-limit = 5", "time-limt = 5")
    report = bench.report(Claim("extra-declared", mutant({"pyproject.toml": broken}), "identity"))
    assert (report.fate, report.killers, report.identity) == (Fate.CRASHED, (), "identity")
    assert report.reason.startswith("the mutant is no valid configuration: pyproject.toml:")
    assert "did you mean 'time-limit'?" in report.reason
    assert "-time-limit = 5\n+time-limt = 5\n" in report.diff


def test_a_page_that_is_no_utf_8_has_a_diff_all_the_same(small: Path) -> None:
    (small / "page.md").write_bytes(b"S\xe4mple\nb\n")
    project = open_project(small)
    assert project is not None
    assert diff_of(project, mutant({"page.md": "S\ufffdmple\nc\n"})).split("\n")[2:5] == [
        *("@@ -1,3 +1,3 @@", " S\ufffdmple", "-b"),
    ]


def said_of(*made: object) -> str:
    """What is said of a guard that makes these."""

    def mutants(project: Project) -> Iterator[Any]:
        for one in made:
            if isinstance(one, BaseException):
                raise one
            yield one

    guard = Guard("more", lambda project: (), lambda project, subject: (), mutants)
    with pytest.raises(MutantsDoNotApply) as raised:
        claims_of(PROJECT, [guard])
    return str(raised.value)


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (3, "3"),
        (Mutant("subject", "shape", [("a", "b")]), "shape of subject"),  # type: ignore[arg-type]
        (mutant({"one.txt": b"x"}), "shape of subject"),  # type: ignore[dict-item]
        (mutant({1: "x"}), "shape of subject"),  # type: ignore[dict-item]
        (mutant({"one.txt": "x\udce4"}), "shape of subject"),
    ],
)
def test_what_is_no_mutant_is_said_of_the_guard_that_made_it(made: object, shown: str) -> None:
    good = mutant({"one.txt": "x", "gone.txt": None})
    assert said_of(good, made, good) == f"more: it makes what is no Mutant with texts of files: {shown}"


def test_a_guard_that_would_end_the_program_is_told_like_any_other_that_raises() -> None:
    assert said_of(SystemExit(3)).startswith("more: making its mutants raised SystemExit: 3 at ")


def test_a_guard_whose_mutants_need_what_another_guards_says_so() -> None:
    assert said_of(Blocked("leaf-table-literal")) == (
        "more: its mutants cannot be made where leaf-table-literal does not hold\n"
        "    mend that first: pytest pyproject.toml::leaf-table-literal"
    )
