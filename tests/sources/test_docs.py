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
    assert all(passage.start <= passage.end for passage in page.passages)
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
        ("[x][1] `a` `a`\n\n`a`\n\n[1]: b.md", [("a", "1:9"), ("a", "1:13"), ("a", "3:2")]),
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
        ("[a][1]\n\n[c](b.md)\n\n[1]: b.md\n", [("link", "b.md", "5:6"), ("link", "b.md", "3:5")]),
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
    [whole] = read_page("page.rst", "- ``a``\n\tb\n c\n\n+ ``d``").listings
    assert [[cell.code for cell in row] for row in whole.rows] == [["a"], ["d"]]


def test_cells_stand_in_their_own_row() -> None:
    text = "`a` b l\n\n- `a` x\n  y\n  z\n- l\n\n| h |\n|---|\n| a | a |\n| l |\n\nl\n"
    listings = read_page("page.md", text).listings
    assert [[(cell.text, cell.start) for cell in row] for one in listings for row in one.rows] == [
        [("`a` x", text.index("a` x"))],
        [("l", text.index("- l") + 2)],
        [("a", text.index("| a |") + 2)],
        [("l", text.index("| l |") + 2)],
    ]
    text = "| h | i |\n|---|---|\n| `a` | `a` |\n| a | a |\n| b |\n"
    [listing] = read_page("page.md", text).listings
    assert [[cell.start for cell in row] for row in listing.rows[:2]] == [[23, 29], [36, 40]]
    assert [[cell.text for cell in row] for row in listing.rows] == [["`a`", "`a`"], ["a", "a"], ["b", ""]]


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


def test_a_block_may_begin_with_a_mark_itself() -> None:
    mark = "<!-- actor-envs: example of an error -->"
    page = read_page("page.md", f"{mark}\n\n    {mark}\n")
    first, second = page.marks
    assert page.block_below(first) == page.free[0] and page.block_below(second) is None


@pytest.mark.parametrize("path", ["page.md", "page.rst", "page"])
@pytest.mark.parametrize(
    "text", ["", "\0", "\ufeff# x", "`", "```", "[a](", "| |\n|-|\n|", "\f\v\u2028`a`", "- \n-", "..", "a::\n\n  b"]
)
def test_every_text_is_some_page(text: str, path: str) -> None:
    assert isinstance(read_page(path, text), Page)


def test_a_huge_page_is_read() -> None:
    text = "`a` [b](c)\n\n| `d` | e |\n|---|---|\n| `f` | g |\n\n" * 250
    assert len(read_page("page.md", text).passages) == 1000


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
        ("[x](a?b#c?d) [y](HTTP:a) [z](//a) [v](a#b?c#d) [w]({a})", [("link", "a", 4), ("link", "a", 38)]),
        (
            "see sample.a.B, sample.md and sample.x.py2 other.sample.a sample",
            [("dotted", "sample.a.B", 4), ("dotted", "sample.x.py2", 30)],
        ),
        (
            "`python-OneName` python-two xpython-A a/python-B python-C-d",
            [("script", "python-OneName", 1), ("script", "python-B", 40)],
        ),
        (
            "from sample.a import B, C as D  # E\nfrom other.sample import F\nfrom .sample import J\n",
            [("dotted", "sample.a", 5), ("dotted", "sample.a.B", 21), ("dotted", "sample.a.C", 24)],
        ),
        (
            "x\n>>> from sample import (\n  G,\n  H as I,\n)\nfrom sample_x import A\n",
            [("dotted", "sample.G", 29), ("dotted", "sample.H", 34)],
        ),
        (
            "`a/b/{c}` `a/{b}` `a/b/` `a/b/[c]`",
            [("path", "a/b/", 1), ("path", "a/", 11), ("path", "a/b/", 19), ("path", "a/b/", 26)],
        ),
        (
            "`X = 1 TwoName` `TwoName=2 OneName==3`",
            [("class", "TwoName", 7), ("class", "TwoName", 17), ("class", "OneName", 27)],
        ),
        ("`UPPER Lower lowerName AbC OneName`\n\n    OneName = 1\n", [("class", "AbC", 23)]),
    ],
)
def test_names(text: str, expected: list[tuple[str, str, int]]) -> None:
    page = read_page("page.md", text)
    assert [(name.kind, name.text, name.start) for name in names_in(page, ["sample", "second"])] == expected


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '"a.B": ["x", "y"], \'c.D\': None "e.F":None',
            [
                ("entry", "a.B", 1, ("x", "y"), '["x", "y"]', None),
                ("entry", "c.D", 20, None, "None", None),
                ("entry", "e.F", 32, None, "None", None),
            ],
        ),
        (
            '"a.B": ["x", ...] "c.D": (1) "e.F": [\'x\']',
            [("entry", "c.D", 19, "(1)", "(1)", None), ("entry", "e.F", 30, ("x",), "['x']", None)],
        ),
        ('"a.B": ("x", "y") "c.D": {"x"}', [("entry", "a.B", 1, '("x", "y")', '("x", "y")', None)]),
        ('"a.B": [(]"x"]\n]', [("entry", "a.B", 1, '[(]"x"]', '[(]"x"]', None)]),
        ('"a.B": [\nx\n', [("entry", "a.B", 1, "[", "[", None)]),
        (
            "a.B deps --extra x --extra  y\n> c.D\ttrtllm\t--extra z \ne.F deps --extra\ng.H deps --extra x more\n",
            [
                ("row", "a.B", 0, ("x", "y"), "deps --extra x --extra  y", "deps"),
                ("row", "c.D", 32, ("z",), "trtllm\t--extra z", "trtllm"),
            ],
        ),
        (
            "| actor | Extras |\n|---|---|\n| `A` | x, y and z-w |\n| `a.B` | `x` |\n| C | x |\n| `D` | None |\n| `E` | |\n",
            [
                ("cell", "A", 32, ("x", "y", "z-w"), "x, y and z-w", None),
                ("cell", "a.B", 55, ("x",), "x", None),
                ("cell", "D", 81, None, "None", None),
                ("cell", "E", 96, None, "", None),
            ],
        ),
        ("| a | b | needs extra |\n|---|---|---|\n| `A` | x | `y` |\n", [("cell", "A", 41, ("y",), "y", None)]),
        ("| extra | actor |\n|---|---|\n| `x` | `A` |\n\n| a | b |\n|---|---|\n| `A` | x |\n\n- `A` x\n", []),
        (
            '"a.B": [ "x"]\nz.Y deps --extra v\n"c.D": None',
            [
                ("entry", "a.B", 1, ("x",), '[ "x"]', None),
                ("row", "z.Y", 14, ("v",), "deps --extra v", "deps"),
                ("entry", "c.D", 34, None, "None", None),
            ],
        ),
    ],
)
def test_quotes(text: str, expected: list[tuple[object, ...]]) -> None:
    quotes = quotes_in(read_page("page.md", text))
    assert [
        (quote.form, quote.name, quote.start, quote.extras, text[quote.value_start : quote.value_end], quote.stage)
        for quote in quotes
    ] == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("page.md", "{mark}\n\n    a\n", ["    a\n"]),
        ("page.md", "x\n\n{mark}\n\t\n> \n```\na\n```\n", ["a\n"]),
        ("page.md", "x\n{mark}\n\n    a\n", ["    a\n"]),
        ("page.md", "```\na\n```", []),
        ("page.md", "\n\n```\na\n```", []),
        ("page.rst", ".. actor-envs: example of an error\n\n   a\n\nb\n   c\n", ["   a\n\n"]),
        ("page.rst", "{mark}x\n\n   a\n", []),
    ],
)
def test_blocks_that_are_free(path: str, text: str, expected: list[str]) -> None:
    page = read_page(path, text.replace("{mark}", "<!-- actor-envs: example of an error -->"))
    assert [page.text[block.start : block.end] for block in page.free] == expected
    assert [block.free for block in page.passages if block.kind == "block"].count(True) == len(expected)
    assert all(type(passage.free) is bool for passage in page.passages)
