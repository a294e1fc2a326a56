"""The table as its text says it: places, spans and comments of entries, and what makes it no literal."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.fact_store import FactStore
from pytest_actor_envs.sources.parsed_files import ParsedFiles
from pytest_actor_envs.sources.table import Table, read_table


def table(text: str, name: str = "T") -> Table:
    return read_table(ParsedFiles(FactStore()), "leaf.py", text.encode(), name)


def problems(text: str) -> list[tuple[int, int, str, str | None]]:
    return [
        (problem.location.line, problem.location.column, problem.message, problem.entry)
        for problem in table(text).problems
    ]


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "fix"),
    [
        ("T = 1\nx = [\n", 2, 5, "the leaf is not valid Python: '[' was never closed", "mend the syntax"),
        ("U = {}\n", 1, 1, "no table T is assigned at the top level", "write `T: dict[str, list[str] | None]"),
        ("T: dict\n", 1, 1, "no table T is assigned at the top level", "or name the table in [tool.pytest"),
        ("def f():\n    T = {}\n", 1, 1, "no table T is assigned at the top level", "{...}`"),
        ("\nT = dict()\n", 2, 5, "T is not a dict display", 'as one literal: `T = {"package.module.Class"'),
        ("é = 1; T = dict()\n", 1, 12, "T is not a dict display", "write the table"),
    ],
)
def test_a_table_that_cannot_be_read(text: str, line: int, column: int, message: str, fix: str) -> None:
    found = table(text)
    [problem] = found.problems
    assert (problem.location.path, problem.location.line, problem.location.column) == ("leaf.py", line, column)
    assert (problem.message, problem.entry, found.entries, found.readable, found.name) == (
        message,
        None,
        (),
        False,
        "T",
    )
    assert fix in problem.fix


def test_a_leaf_that_is_no_utf_8_is_said_to_be_at_its_line() -> None:
    found = read_table(ParsedFiles(FactStore()), "leaf.py", b"T = {}\n\n# \xff\n", "T")
    [problem] = found.problems
    assert (found.readable, found.name, found.location.line, problem.location.line) == (False, "T", 3, 3)
    assert problem.message == "the leaf is not UTF-8: invalid start byte"
    assert problem.fix == "save it as UTF-8; nothing else can be judged until then"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("T = {}\nT = {}\n", [(2, 1, "T is assigned a second time", None)]),
        ("T: dict = {}\nT: dict = {}\n", [(2, 1, "T is assigned a second time", None)]),
        ("T = {}\nT: dict\nT.a = U.T = 1\n", []),
        ("T = {}\nT['a'] = None\n", [(2, 1, "T is changed after it was written", None)]),
        ("T = {}\ndel T['a']\n", [(2, 5, "T is changed after it was written", None)]),
        ("T = {}\nT |= {}\n", [(2, 1, "T is changed after it was written", None)]),
        ("T = {}\nT.update(a=None)\n", [(2, 1, "T is changed after it was written", None)]),
        ("T = {}\nT['a'].append('x')\n", [(2, 1, "T is changed after it was written", None)]),
        ("T = {}\nT['a'][0] = 'x'\n", [(2, 1, "T is changed after it was written", None)]),
        ("T = {}\nT.append(1)\nT['a'].update()\nU['a'].append(1)\nU.pop()\npop()\nT['a']\nU |= {}\n", []),
        ("T = {**U}\n", [(1, 8, "the table is unpacked from another value", None)]),
        ("T = {1: None}\n", [(1, 6, "the key `1` is not a plain string literal", None)]),
        ("T = {f'a': None}\n", [(1, 6, "the key `f'a'` is not a plain string literal", None)]),
        (
            "T = {\n 'a': None,\n 'b': None, 'a': ['x']}\n",
            [(3, 13, "a is written twice; the first one, at line 2, is lost", "a")],
        ),
        ("T = {'a': ('x',)}\n", [(1, 11, "`('x',)` is a tuple", "a")]),
        ("T = {'a': 'x'}\n", [(1, 11, "`'x'` is neither None nor a list of strings", "a")]),
        ("T = {'a': []}\n", [(1, 11, "the list is empty", "a")]),
        ("T = {'a': ['x', y]}\n", [(1, 17, "`y` is not a plain string literal", "a")]),
        ("T = {'a': ['x', 1]}\n", [(1, 17, "`1` is not a plain string literal", "a")]),
        ("T = {'a': ['x', 'x']}\n", [(1, 17, "the extra 'x' is listed twice", "a")]),
        ("T = {**U, 'a': None, 1: None, 'b': []}\n", None),
    ],
)
def test_what_is_wrong_with_it(text: str, expected: list[tuple[int, int, str, str | None]] | None) -> None:
    if expected is None:
        assert [message[:7] for _, _, message, _ in problems(text)] == ["the tab", "the key", "the lis"]
        assert [entry.name for entry in table(text).entries] == ["a", "b"]
    else:
        assert problems(text) == expected
        assert table(text).readable


FULL = """\
X = 1
# not above the table's first key

# of the statement
T: dict[str, list[str] | None] = {
    # one
    #  two
    "p.é.A": ["trtllm", "x"],  # behind

    "p.B": None,
    # of C
    'p.C': ["y"], "p.D": z,
    "p." "E": [
        "y",
    ],
}
"""


def test_entries_with_their_places() -> None:
    found = table(FULL)
    a, b, c, d, e = found.entries
    assert (found.location.line, found.location.column) == (5, 1)
    assert [entry.name for entry in found.entries] == ["p.é.A", "p.B", "p.C", "p.D", "p.E"]
    assert [entry.extras for entry in found.entries] == [("trtllm", "x"), None, ("y",), None, ("y",)]
    assert [entry.readable for entry in found.entries] == [True, True, True, False, True]
    assert [entry.stage for entry in found.entries] == ["trtllm", None, "deps", None, "deps"]
    assert (a.module, a.class_name) == ("p.é", "A")
    assert [(place.line, place.column, text) for place, text in a.comment] == [(6, 5, "# one"), (7, 5, "#  two")]
    assert (b.comment, e.comment, d.comment == c.comment) == ((), (), True)
    assert [(entry.location.line, entry.location.column) for entry in (a, d)] == [(8, 5), (12, 19)]
    assert [(entry.value_location.line, entry.value_location.column) for entry in (a, d)] == [(8, 14), (12, 26)]
    assert [(use.name, use.location.line, use.location.column) for use in a.uses or ()] == [
        ("trtllm", 8, 15),
        ("x", 8, 25),
    ]
    assert [FULL[slice(*entry.key_span)] for entry in (a, d, e)] == ['"p.é.A"', '"p.D"', '"p." "E"']
    assert [FULL[slice(*entry.value_span)] for entry in (a, b, d, e)] == [
        '["trtllm", "x"]',
        "None",
        "z",
        '[\n        "y",\n    ]',
    ]
    assert a.meaning == ("p.é.A", ("trtllm", "x"), True, ("# one", "#  two"))


@pytest.mark.parametrize(
    ("text", "comments"),
    [
        ("# c\nT = {'a': None}\n", ["# c"]),
        ("x = '''\n# c'''\nT = {'a': None}\n", []),
        ("x = 1\n# c\nT = {'a': None}\n", ["# c"]),
        ("# c\nx = 1\nT = {'a': None}\n", []),
        ("T = {'b': '''\n# c\n# d''',\n'a': None}\n", []),
        ("T = {'b': f'''\n# c\n# {d}''',\n'a': None}\n", []),
        ("T = {\n# c\n# d\n'a': None}\n", ["# c", "# d"]),
        ("T = {\n# c\n\n# d\r\n'a': None}\n", ["# d"]),
        ("T = {\n  # c  \n'a': None,\n# below\n}\n# behind\n", ["# c"]),
        ("T = {'b': 1,  # c\n'a': None}\n", []),
    ],
)
def test_the_comment_of_an_entry(text: str, comments: list[str]) -> None:
    entry = next(entry for entry in table(text).entries if entry.name == "a")
    assert [comment.rstrip() for _, comment in entry.comment] == comments
