"""Headers of blocks: which there are, what is around each, and what decides whether a block runs."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.block_headers import Header, circumstances, enclosing, headers_of

TEXT = b"""\
def a():
  if b:
    c
  elif d:
    while e:
      f
    else:
      g
  else:
    try:
      h
    except i:
      j
    else:
      k
    finally:
      l
  async  with m:
     n
  ifs
class o:
  def p():
    pass
"""


def named(header: Header | None, content: bytes = TEXT) -> str:
    """The line that a header stands on."""
    return "" if header is None else content[header.at :].split(b"\n")[0].strip().decode()


def test_headers_know_what_is_around_and_beside_them() -> None:
    headers = headers_of(TEXT, ())
    assert [
        (named(one), one.indentation, one.keyword.decode(), named(one.parent), named(one.previous), named(one.next))
        for one in headers
    ] == [
        ("def a():", 0, "def", "", "", ""),
        ("if b:", 2, "if", "def a():", "", "elif d:"),
        ("elif d:", 2, "elif", "def a():", "if b:", "else:"),
        ("while e:", 4, "while", "elif d:", "", "else:"),
        ("else:", 4, "else", "elif d:", "while e:", ""),
        ("else:", 2, "else", "def a():", "elif d:", ""),
        ("try:", 4, "try", "else:", "", "except i:"),
        ("except i:", 4, "except", "else:", "try:", "else:"),
        ("else:", 4, "else", "else:", "except i:", "finally:"),
        ("finally:", 4, "finally", "else:", "else:", ""),
        ("async  with m:", 2, "with", "def a():", "", ""),
        ("class o:", 0, "class", "", "", ""),
        ("def p():", 2, "def", "class o:", "", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("spans", "lines"),
    [
        ((), ["if a:", "if b:", "if c:", "if d:"]),
        (("x", "y"), ["if a:", "if c:", "if d:"]),
        (("x", "y", "y", "z"), ["if a:", "if d:"]),
        (("q", "r", "x", "y"), ["if a:", "if c:", "if d:"]),
        (("y", "end"), ["if a:", "if b:"]),
    ],
)
def test_lines_in_strings_are_no_headers(spans: tuple[str, ...], lines: list[str]) -> None:
    content = b"q r\n if a:\n  x\n if b:\n  y\n if c:\n  z\n if d:\n  end\n"
    at = [content.index(word.encode()) for word in spans]
    headers = headers_of(content, list(zip(at[::2], at[1::2], strict=True)))
    assert [named(header, content) for header in headers] == lines


@pytest.mark.parametrize(
    ("line", "header"),
    [("if b:", "def a():"), ("c\n", "if b:"), ("f\n", "while e:"), ("g\n", "else:"), 
        ("except i", "else:"), ("ifs", "def a():"), ("class o", ""), ("def a", "")],
)  # fmt: skip
def test_what_encloses_a_line(line: str, header: str) -> None:
    at = TEXT.index(line.encode())
    start = TEXT.rfind(b"\n", 0, at) + 1
    assert named(enclosing(headers_of(TEXT, ()), start, at - start)) == header
    assert enclosing(headers_of(TEXT, ()), 0, at) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"c\n", {"if b:": False, "def a():": False}),
        (b"f\n", {"while e:": False, "if b:": False, "elif d:": False, "def a():": False}),
        (b"g\n", {"while e:": False, "else:": False, "if b:": False, "elif d:": False, "def a():": False}),
        (
            b"h\n",
            {
                "try:": False,
                "except i:": True,
                "else:": False,
                "finally:": False,
                "if b:": False,
                "elif d:": False,
                "def a():": False,
            },
        ),
        (b"n\n", {"async  with m:": False, "def a():": False}),
    ],
)
def test_what_decides_whether_a_block_runs(line: bytes, expected: dict[str, bool]) -> None:
    headers = headers_of(TEXT, ())
    innermost = enclosing(headers, TEXT.rfind(b"\n", 0, TEXT.index(line)) + 1, 9)
    assert innermost is not None
    kept = circumstances([innermost])
    assert {named(header): whole for header, whole in (kept or {}).items()} == expected
    assert circumstances([innermost, innermost]) == kept and circumstances([]) == {}


def test_a_header_that_follows_nothing_is_no_python() -> None:
    headers = headers_of(b" else:\n  if a:\n   b\n if c:\n  d\n", ())
    assert [circumstances([header]) for header in headers[:2]] == [None, None]
    assert circumstances(headers[2:]) == {headers[2]: False}
