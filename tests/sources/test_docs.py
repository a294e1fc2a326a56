"""Pages of documentation as passages with exact places."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_actor_envs.sources.docs import Page, page_paths
from pytest_actor_envs.sources.page_reader import read_page
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
