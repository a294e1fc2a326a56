"""Comments that let subject mutants survive: where they are read, what they cover, and which cannot stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_actor_envs.gate.suppressions import Suppression, applied, suppressions_of
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from pytest_actor_envs.project import Project, open_project, project_in_memory
from tests.gate.conftest import FILES

AT_FOUR = "--- a/pkg/x.py\n+++ b/pkg/x.py\n@@ -3,3 +3,3 @@\n one\n-two\n+2\n three\n"
ELSEWHERE = AT_FOUR.replace("-3,3 +3,3", "-30,3 +30,3")
WHY = Suppression("g", "pkg/x.py", 4, 3, "why")


def report(identity: str, fate: Fate = Fate.SURVIVED, guard: str = "g", diff: str = AT_FOUR) -> MutantReport:
    return MutantReport(1, identity, guard, "s", "shape", fate, (), diff)


KILLED = [report(f"k{number}", Fate.KILLED) for number in range(150)]


def with_file(path: str, text: str) -> Project:
    return project_in_memory({**FILES, path: text})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb  # actor-envs: survives[some-guard] why it may \n", ("some-guard", 2, 2, "why it may")),
        ("a\n  # actor-envs:survives[g]\tfor two # reasons\nb\n", ("g", 3, 2, "for two # reasons")),
        ("#actor-envs: survives[g]\n", ("g", 2, 1, "")),
        ("# actor-envs: survives[] why", ("", 2, 1, "why")),
    ],
)
def test_a_comment_stands_on_its_line_or_alone_above_it(text: str, expected: tuple[str, int, int, str]) -> None:
    guard, line, comment_line, reason = expected
    found = suppressions_of(with_file("a.py", text), ["a.py"])
    assert found == [Suppression(guard, "a.py", line, comment_line, reason)]


@pytest.mark.parametrize(
    "text",
    ["", "a\n", "# actor-envs: ignore[g] why\n", "actor-envs: survives[g] why\n", "<!-- actor-envs: survives[g] -->\n"],
)
def test_other_text_is_none(text: str) -> None:
    assert suppressions_of(with_file("a.py", text), ["a.py"]) == []


def test_in_a_page_only_the_markups_own_comments_suppress() -> None:
    said = "actor-envs: survives[g] why"
    pyproject = '[project]\nname = "x"\n[tool.pytest-actor-envs]\nleaf = "x.py"\n'
    files = {"pyproject.toml": pyproject, "x.py": f"# {said}\n", "a.md": f"`# {said}`\n# {said}\n<!-- {said} -->\n"}
    assert suppressions_of(project_in_memory(files), ["a.md", "x.py"]) == [
        Suppression("g", "a.md", 4, 3, "why"),
        Suppression("g", "x.py", 2, 1, "why"),
    ]


def test_files_are_read_once_in_order_whether_they_are_there_or_not_and_whatever_they_hold() -> None:
    said = "# actor-envs: survives[g] "
    project = project_in_memory({**FILES, "b.py": f"{said}b\n", "a.py": f"x\n{said}a1\ny  {said}a2\n", "ab.py": "x\n"})
    assert suppressions_of(project, ["b.py", "gone.py", "a.py", "ab.py", "b.py", "aa.py", "pkg/envs.py"]) == [
        Suppression("g", "a.py", 3, 2, "a1"),
        Suppression("g", "a.py", 3, 3, "a2"),
        Suppression("g", "b.py", 2, 1, "b"),
    ]


def test_what_is_no_utf_8_is_read_around(small: Path) -> None:
    (small / "a.py").write_bytes(b"x = '\xff'\n# actor-envs: survives[g] caf\xe9\n")
    project = open_project(small)
    assert project is not None
    assert suppressions_of(project, ["a.py"]) == [Suppression("g", "a.py", 3, 2, "caf\ufffd")]


@pytest.mark.parametrize(
    ("changes", "is_covered"),
    [
        ({}, True),
        ({"line": 40, "comment_line": 4}, True),
        ({"line": 40, "comment_line": 39}, False),
        ({"guard": "h"}, False),
        ({"path": "pkg/y.py"}, False),
    ],
)
def test_a_suppression_covers_its_guards_mutants_at_its_lines(changes: dict[str, str | int], is_covered: bool) -> None:
    assert replace(WHY, **changes).covers(report("a")) is is_covered  # type: ignore[arg-type]


def test_only_survivors_at_the_line_are_marked_with_the_reason() -> None:
    others = [report("b", diff=ELSEWHERE), report("c", guard="h"), report("d", Fate.CRASHED), *KILLED]
    first, second = report("a"), report("e")
    expected = [replace(one, fate=Fate.SUPPRESSED, reason="why") for one in (first, second)]
    for complete in (True, False):
        marked, problems = applied([first, *others, second], [WHY], complete)
        assert (marked, problems) == ([expected[0], *others, expected[1]], [])


def test_a_suppression_without_a_reason_covers_nothing_and_the_next_one_counts() -> None:
    bare = replace(WHY, reason="", comment_line=2)
    problem = (
        "pkg/x.py:2:1: gate: lets mutants of g survive without a reason\n"
        "    write it behind the bracket: # actor-envs: survives[g] why they change nothing"
    )
    assert applied([report("a"), *KILLED], [bare], True) == ([report("a"), *KILLED], [problem])
    marked, problems = applied([report("a"), *KILLED], [bare, WHY], True)
    assert (marked[0].fate, problems) == (Fate.SUPPRESSED, [problem])


@pytest.mark.parametrize("reports", [[report("a", diff=ELSEWHERE)], [report("a", Fate.KILLED)], []])
def test_a_suppression_that_no_survivor_needs_is_stale_where_all_were_looked_at(reports: list[MutantReport]) -> None:
    stale = "pkg/x.py:3:1: gate: no mutant of g survives at line 4\n    remove the comment"
    assert applied(reports, [WHY], True) == (reports, [stale])
    assert applied(reports, [WHY], False) == (reports, [])


@pytest.mark.parametrize(("killed", "problems"), [(97, 1), (98, 0)])
def test_two_of_a_hundred_may_be_suppressed_and_no_more(killed: int, problems: int) -> None:
    reports = [report("a"), report("b"), *KILLED[:killed]]
    said = (
        "gate: layer 1: 2 of 99 mutants are suppressed, more than 2%\n"
        "    kill some of them: make the guard see what they change"
    )
    assert applied(reports, [WHY], True)[1] == [said] * problems
    assert applied(reports, [WHY], False)[1] == []


@pytest.mark.parametrize("text", ['x = "# actor-envs: survives[g] why"\n', '"""\n# actor-envs: survives[g] why\n"""\n'])
def test_a_string_of_code_that_says_so_is_no_comment(text: str) -> None:
    assert suppressions_of(with_file("a.py", text), ["a.py"]) == []
    behind = f"{text[:-1]}  # actor-envs: survives[h] it is\n"
    line = behind.count("\n")
    assert suppressions_of(with_file("a.py", behind), ["a.py"]) == [Suppression("h", "a.py", line, line, "it is")]


def test_of_code_that_cannot_be_read_the_comments_above_are() -> None:
    text = "x = 1  # actor-envs: survives[g] why\ny = (\n"
    assert suppressions_of(with_file("a.py", text), ["a.py"]) == [Suppression("g", "a.py", 1, 1, "why")]
