"""Which comments let code mutants survive, and how far they reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_actor_envs.gate.code_suppressions import (
    CodeSuppression,
    check_can_be_mutated,
    code_suppressions,
    lift,
    problems_of,
    stale,
)
from pytest_actor_envs.model import ConfigurationError


@pytest.mark.parametrize(
    ("line", "column", "reason", "is_wide"),
    [
        ("x = 1  # pragma: no mutate: nobody can tell", 8, "nobody can tell", False),
        ("x = 1  # pragma:no mutate", 8, "", False),
        ("x = 1  # noqa  # pragma: no mutate: it is so ", 8, "it is so", False),
        ("x = 1  # pragma: no mutate block", 8, "", True),
        ("x = 1  # pragma: no mutate block, all of it", 8, "", True),
        ("x = 1  # pragma: no mutate: function: all of it", 8, "function: all of it", True),
        ("    # pragma: no mutate: what follows", 5, "what follows", True),
        ("x = 1  # pragma: no mutate, function", 8, "", False),
        ("x = 1  # pragma: no mutate start: from here", 8, "", True),
        ("x = 1  # pragma: no mutate end", 8, "", True),
        ("x = 1  # pragma: no mutate class", 8, "", True),
        ("x = 1  # pragma: no mutate file", 8, "", True),
        ("x = 1  # pragma: no mutate:", 8, "", False),
        ("x = 1  # pragma: no mutate: the block is the same", 8, "the block is the same", False),
    ],
)
def test_a_comment_has_a_place_a_reason_and_a_reach(
    line: str, column: int, reason: str, is_wide: bool, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text(f"if True:\n    y = 0\n\n{line}\n")
    [found] = code_suppressions(tmp_path, ["a.py"])
    assert (found.path, found.line, found.column, found.reason, found.is_wide) == ("a.py", 4, column, reason, is_wide)
    assert found.place == f"a.py:4:{column}: gate"


def test_text_that_only_says_so_is_no_comment_and_what_is_lifted_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('x = "# pragma: no mutate: no"\n')
    (tmp_path / "b.py").write_text("x = 1  # pragma: no mutate: why\ny = 2\n")
    (tmp_path / "c.py").write_text("x = 1\n")
    found = code_suppressions(tmp_path, ["a.py", "b.py", "c.py"])
    assert [suppression.path for suppression in found] == ["b.py"]
    lift(tmp_path, found)
    assert (tmp_path / "b.py").read_text() == "x = 1  # lifted\ny = 2\n"
    assert code_suppressions(tmp_path, ["b.py"]) == []


def test_files_are_read_and_lifted_as_utf_8_whatever_stands_before_the_comment(tmp_path: Path) -> None:
    line = "é = 'é'  # pragma: no mutate: sœurs  # noqa\n"
    (tmp_path / "a.py").write_text(f"{line}{line}", encoding="utf-8")
    found = code_suppressions(tmp_path, ["a.py"])
    assert found == [CodeSuppression("a.py", number, 10, "sœurs") for number in (1, 2)]
    lift(tmp_path, found)
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == "é = 'é'  # lifted# noqa\n" * 2


GOOD, OTHER, BARE, WIDE = (
    CodeSuppression("a.py", 1, 8, "why"),
    CodeSuppression("a.py", 2, 8, "why"),
    CodeSuppression("a.py", 3, 9, ""),
    CodeSuppression("b.py", 4, 5, "", is_wide=True),
)
OF_BARE = (
    "a.py:3:9: gate: lets mutants survive without a reason\n"
    "    write it behind a colon: # pragma: no mutate: why nobody can notice the change"
)
OF_WIDE = (
    "b.py:4:5: gate: hides mutants of more than its line\n"
    "    write it at the end of the one line: # pragma: no mutate: why nobody can notice the change"
)
STALE = "a.py:2:8: gate: no mutant survives at this line\n    remove the comment"


def test_what_is_wrong_with_the_comments_is_said_in_order() -> None:
    assert problems_of([WIDE, GOOD, OTHER, BARE]) == [OF_WIDE, OF_BARE]
    assert problems_of([GOOD]) == []


def test_a_comment_at_a_line_where_none_survives_is_stale() -> None:
    assert stale([GOOD, WIDE, OTHER, BARE], {"a.py:1"}) == [STALE]
    assert stale([GOOD], {"b.py:1", "a.py:11"}) == [STALE.replace("py:2", "py:1")]
    assert stale([GOOD, OTHER], {"a.py:1", "a.py:2"}) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"x = 1\ny = '\xe4'\n", "a.py:2:1: gate: not UTF-8, so mutmut cannot read it\n    save it as UTF-8"),
        (
            b"x = 1\ndef f(:\n",
            "a.py:2:7: gate: not valid Python, so there are no code mutants: invalid syntax\n    mend",
        ),
    ],
)
def test_what_mutmut_would_fail_on_is_said_with_its_place(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(content)
    with pytest.raises(ConfigurationError) as raised:
        check_can_be_mutated(tmp_path, ["a.py"])
    assert str(raised.value).startswith(said)


def test_what_is_python_can_be_mutated_with_a_byte_order_mark_too(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"\xef\xbb\xbfx = 1\n")
    check_can_be_mutated(tmp_path, ["a.py"])
