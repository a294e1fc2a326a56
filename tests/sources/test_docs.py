"""Pages of documentation as passages with exact places."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_actor_envs.sources.docs import Page, page_paths
from pytest_actor_envs.sources.documented_names import names_in
from pytest_actor_envs.sources.page_reader import read_page
from pytest_actor_envs.sources.quoted_entries import quotes_in
from pytest_actor_envs.sources.tree import Tree


def passages(text: str, path: str = "page.md") -> list[tuple[str, str, str]]:
    """(kind, text, line:column) of each passage."""
    page = read_page(path, text)
    return [
        (passage.kind, text[passage.start : passage.end], str(page.at(passage.start)).removeprefix(f"{path}:"))
        for passage in page.passages
    ]


def codes(text: str) -> list[tuple[str, str]]:
    return [(written, place) for kind, written, place in passages(text) if kind == "code"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a `b` c `d`", [("b", "1:4"), ("d", "1:10")]),
        ("``a ` b`` `c`", [("a ` b", "1:3"), ("c", "1:12")]),
        (r"\`not` this `one`", [("this", "1:8")]),
        ("ä`ö`", [("ö", "1:3")]),
        ("# `a` b\n\n> - x `b`\n>   `c`\n", [("a", "1:4"), ("b", "3:8"), ("c", "4:6")]),
        ("| `a` | `a` |\n|---|---|\n| x | `a` |\n", [("a", "1:4"), ("a", "1:10"), ("a", "3:8")]),
        ("| a |\n|---|\n| `b\\|c` |", [("b\\|c", "3:4")]),
        ("`a\n  b`", [("a\n  b", "1:2")]),
        ("*`a`* [`b`](c.md)", [("a", "1:3"), ("b", "1:9")]),
        ("`open\n\nno code", []),
        ("```\n`a`\n```\n`b`", [("b", "4:2")]),
    ],
)
def test_code_spans(text: str, expected: list[tuple[str, str]]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```py\na\nb\n```\n", [("block", "a\nb\n", "2:1")]),
        ("~~~\na", [("block", "a", "2:1")]),
        ("```\n```\n", [("block", "", "2:1")]),
        ("a\n\n```", [("block", "", "3:4")]),
        ("x\n\n    a\n\n    b\n\nend", [("block", "    a\n\n    b\n", "3:1")]),
        ("> ```\n> a\n> ```\n", [("block", "> a\n", "2:1")]),
        ("- ```\r\n  a\r\n  ```\r\n", [("block", "  a\r\n", "2:1")]),
    ],
)
def test_blocks_of_code(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert passages(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](b.md#c 'd')", [("link", "b.md#c", "1:5")]),
        ("![a](b.png) [c](<d e.md>)", [("link", "b.png", "1:6"), ("link", "d%20e.md", "1:18")][:1]),
        ("[a][1] [1]\n\n[1]: b.md\n", [("link", "b.md", "3:6"), ("link", "b.md", "3:6")]),
        ("<https://host/a>", []),
    ],
)
def test_links(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert passages(text) == expected


def test_listings() -> None:
    text = "- `a` b\n- c\n\n  1. `d`\n\n| h | `i` |\n|---|---|\n| `j` k | l |\n"
    page = read_page("page.md", text)
    assert [[[(cell.code, cell.text, cell.start) for cell in row] for row in one.rows] for one in page.listings] == [
        [[("d", "`d`", text.index("d"))]],
        [[("a", "`a` b", 3)], [(None, "c", text.index("c"))]],
        [[("j", "`j` k", text.index("j")), (None, "l", text.index("l"))]],
    ]
    assert [one.header for one in page.listings] == [(), (), ("h", "`i`")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("``a`` :py:mod:`b` `c`\n", [("code", "a", "1:3"), ("code", "b", "1:16")]),
        ("a\n\n   b\n\n\tc\n\nd\n e", [("block", "   b\n\n\tc\n\n", "3:1"), ("block", " e", "8:1")]),
        ("\tb\n\n", [("block", "\tb\n\n", "1:1")]),
    ],
)
def test_passages_of_other_pages(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert passages(text, "page.rst") == expected


def test_listings_of_other_pages() -> None:
    text = "- ``a`` one\n  two\n\n  * ``b``\n\t1. ``c``\n\nend\n- d\n#. ``e``\n"
    [first, second] = read_page("page.rst", text).listings
    assert [[(cell.text, cell.code, cell.start) for cell in row] for row in first.rows] == [
        [("- ``a`` one", "a", text.index("a``"))],
        [("* ``b``", "b", text.index("b``"))],
        [("1. ``c``", "c", text.index("c``"))],
    ]
    assert [[cell.code for cell in row] for row in second.rows] == [["e"]]
    assert (first.header, second.header) == ((), ())


def test_cells_stand_in_their_own_row() -> None:
    text = "`a` b l\n\n- `a` x\n  y\n  z\n- l\n\n| h |\n|---|\n| a | a |\n| l |\n\nl\n"
    listings = read_page("page.md", text).listings
    assert [[(cell.text, cell.start) for cell in row] for one in listings for row in one.rows] == [
        [("`a` x", text.index("a` x"))],
        [("l", text.index("- l") + 2)],
        [("a", text.index("| a |") + 2)],
        [("l", text.index("| l |") + 2)],
    ]


def test_a_mark_may_be_quoted_and_on_the_first_line() -> None:
    mark = "<!-- actor-envs: example of an error -->"
    for text in (f"{mark}\n> \n>\t\n> ```\n> a\n> ```\n", f"{mark}\n```\na\n```\n", f"x\n\n{mark}\n\n```\na\n```\nb"):
        page = read_page("page.md", text)
        [block] = page.free
        assert page.block_below(page.marks[0]) == block
        assert page.is_free(block.end - 1) and not page.is_free(block.end)
    assert read_page("page.md", f"```\na\n```\n{mark}\n").free == ()


def test_marks_free_the_block_right_below() -> None:
    mark = "<!-- actor-envs: example of an error -->"
    text = f"{mark}\n\n```\na\n```\n\n{mark}\ntext\n\n    b\n"
    page = read_page("page.md", text)
    assert [page.text[block.start : block.end] for block in page.free] == ["a\n"]
    assert page.marks == (0, text.rindex(mark))
    first, second = page.marks
    assert page.block_below(first) == page.free[0]
    assert page.block_below(second) is None
    assert page.is_free(text.index("a\n```")) and not page.is_free(text.index("    b"))


@pytest.mark.parametrize("path", ["page.md", "page.rst", "page"])
@pytest.mark.parametrize(
    "text", ["", "\0", "\ufeff# x", "`", "```", "[a](", "| |\n|-|\n|", "\f\v\u2028`a`", "- \n-", "..", "a::\n\n  b"]
)
def test_every_text_is_some_page(text: str, path: str) -> None:
    assert isinstance(read_page(path, text), Page)


def test_a_huge_page_is_read() -> None:
    text = "`a` [b](c)\n\n| `d` | e |\n|---|---|\n| `f` | g |\n\n" * 2000
    assert len(read_page("page.md", text).passages) == 8000


def test_pages_of_a_configuration(tmp_path: Path) -> None:
    tree = Tree(None, {"b.md": "", "docs/a.md": "", "docs/x/c.rst": "", "docs/d.txt": "", "docs/e.txt": "", "z.md": ""})
    assert page_paths(tree, ["docs", "b.md", "docs/a.md", "docs/e.txt"]) == [
        "b.md",
        "docs/a.md",
        "docs/e.txt",
        "docs/x/c.rst",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`a/b/<c>`", [("path", "a/b/", 1)]),
        ("`a/b/x-{c}`", [("path", "a/b/", 1)]),
        ("`a/b/x*`", [("path", "a/b/", 1)]),
        ("`see ./a/.b...`", [("path", "a/.b", 7)]),
        ("`a/X.` `.X/b`", [("path", "a/X", 1), ("path", ".X/b", 8)]),
        ("[OneName](One/TwoName.md#a#b?c) `OneName`", [("link", "One/TwoName.md", 10), ("class", "OneName", 33)]),
        ("`x` OneName a/b", []),
        ("`class OneName: OneName` `TwoName`", [("class", "TwoName", 26)]),
        ("[x](#y) [z](mailto:a) [](?b)", [("link", "", 25)]),
    ],
)
def test_names(text: str, expected: list[tuple[str, str, int]]) -> None:
    page = read_page("page.md", text)
    assert [(name.kind, name.text, name.start) for name in names_in(page, ["sample"])] == expected


@pytest.mark.parametrize(
    ("text", "extras", "value"),
    [
        ('"a.B": [("x")]', ("x",), '[("x")]'),
        ('"a.B": [["x"]] ]', '[["x"]]', '[["x"]]'),
        ('\n"a.B": ["x"\nend', '["x"', '["x"'),
        ('"a.B": ["x"', '["x"', '["x"'),
        ('"a.B": [1]', "[1]", "[1]"),
        ('"a.B": None, []', None, "None"),
    ],
)
def test_the_value_of_a_quoted_entry(text: str, extras: tuple[str, ...] | str | None, value: str) -> None:
    [quote] = quotes_in(read_page("page.md", text))
    assert (quote.name, quote.extras, text[quote.value_start : quote.value_end]) == ("a.B", extras, value)
