"""Which comments let code mutants survive, and how far they reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_actor_envs.gate.code_suppressions import code_suppressions, lift


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
