"""Exemptions in comments: which lines each is for, and how each kind of file writes them."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.comments import CommentExemption, comment_exemptions


@pytest.mark.parametrize(
    ("below", "lines"),
    [
        ("x", range(2, 3)),
        ("# one\n  # two\nx\ny", range(4, 5)),
        ("@a\n  @b(\n  1,\n)\nclass C:\n  x", range(2, 7)),
        ('@a("(")\ndef f():\n  x\n', range(2, 4)),
        ('  @a("(")\n  async def f():\n    x\n', range(2, 4)),
        ("@a\nx", range(2, 4)),
        ("@X(\n  [1], {})\nx\ny", range(2, 5)),
        ("# last", range(3, 4)),
        ("@a", range(2, 3)),
    ],
)
def test_what_a_comment_above_exempts(below: str, lines: range) -> None:
    found = comment_exemptions("a.py", f"# actor-envs: ignore[x] why\n{below}".encode())
    assert found == (CommentExemption("x", lines, "why", "a.py", 1, 1),)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.md", "a <!-- actor-envs: ignore[g-h] why so -->", [("g-h", range(1, 2), "why so", 1, 3)]),
        ("a.md", "<!--actor-envs:ignore[g]-->  \nb", []),
        ("a.md", "<!-- actor-envs: ignore[g] -->  \nb", [("g", range(2, 3), "", 1, 1)]),
        ("a.md", "# actor-envs: ignore[g] why\n.. actor-envs: ignore[g] why\n", []),
        ("a.rst", "a .. actor-envs: ignore[g] why", [("g", range(1, 2), "why", 1, 3)]),
        ("a.rst", "a.. actor-envs: ignore[g] why\n# actor-envs: ignore[g] why\n", []),
        ("a.toml", "\n  # actor-envs: ignore[] why \nb = 1", [("", range(3, 4), "why", 2, 3)]),
        ("a.toml", "a = 1 #actor-envs: ignore[g]\nb = 1 # actor-envs: ignore[h] x", [
            ("g", range(1, 2), "", 1, 7), ("h", range(2, 3), "x", 2, 7),
        ]),
        ("a.toml", "# actor-envs: ignored[g]\n# actor-envs: ignore [g]\n", []),
    ],
)  # fmt: skip
def test_each_kind_of_file_has_its_own_comments(
    path: str, text: str, expected: list[tuple[str, range, str, int, int]]
) -> None:
    assert comment_exemptions(path, text.encode()) == tuple(
        CommentExemption(guard, lines, reason, path, line, column) for guard, lines, reason, line, column in expected
    )


def test_columns_count_characters_also_where_some_cannot_be_read() -> None:
    content = "ä\n\xff = 1  # actor-envs: ignore[x] why\ny".encode("latin-1")
    assert comment_exemptions("a.py", content) == (CommentExemption("x", range(2, 3), "why", "a.py", 2, 8),)
