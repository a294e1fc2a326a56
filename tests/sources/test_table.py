"""The table as its text says it: places, spans and comments of entries, and what makes it no literal."""

from __future__ import annotations

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.fact_store import FactStore
from pytest_actor_envs.sources.parsed_files import ParsedFiles
from pytest_actor_envs.sources.table import ExtraUse, Problem, Table, read_table

FIXES = {
    "is assigned a second time": "keep one dict display and nothing that changes it",
    "is changed after": "write the entry into the dict display; whoever reads the table by parsing would miss this",
    "is unpacked from": "write each entry out",
    "the key": "write the actor's fully-qualified name as one string",
    "is written twice": "keep one of the two entries",
    "is a tuple": 'write a list: `["extra"]`, or `None` for the driver\'s interpreter',
    "is neither": 'write a list: `["extra"]`, or `None` for the driver\'s interpreter',
    "is empty": "write `None`: an actor that needs no extra runs on the driver's interpreter",
    "is not a plain": "write the extra's name as a string",
    "is listed twice": "keep one of them",
}


def table(text: str, name: str = "T") -> Table:
    return read_table(ParsedFiles(FactStore()), "leaf.py", text.encode(), name)


def problem(line: int, column: int, message: str, entry: str | None) -> Problem:
    fix = next(fix for part, fix in FIXES.items() if part in message)
    return Problem(Location("leaf.py", line, column), message, fix, entry)


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "fix"),
    [
        ("T = 1\nx = [\n", 2, 5, "the leaf is not valid Python: '[' was never closed", "mend the syntax; nothing else"),
        ("é (", 1, 3, "the leaf is not valid Python: '(' was never closed", "mend the syntax; nothing else"),
        ("T = 1\n)\n", 2, 1, "the leaf is not valid Python: unmatched ')'", "mend the syntax; nothing else"),
        ("U = {}\n", 1, 1, "no table T is assigned at the top level", "write `T: dict[str, list[str] | None]"),
        ("T: dict\n", 1, 1, "no table T is assigned at the top level", "or name the table in [tool.pytest"),
        ("def f():\n    T = {}\n", 1, 1, "no table T is assigned at the top level", "{...}`"),
        ("\nT = dict()\n", 2, 5, "T is not a dict display", 'as one literal: `T = {"package.module.Class"'),
        ("é = 1; T = dict()\n", 1, 12, "T is not a dict display", "write the table"),
    ],
)
def test_a_table_that_cannot_be_read(text: str, line: int, column: int, message: str, fix: str) -> None:
    found = table(text)
    [why] = found.problems
    assert why == Problem(Location("leaf.py", line, column), message, why.fix)
    assert why.fix.startswith(fix) or fix in why.fix[1:]
    at_statement = Location("leaf.py", line, 1 if column == 5 else 8) if "display" in message else why.location
    assert found == Table("T", at_statement, (), (why,), readable=False)


def test_a_leaf_that_is_no_utf_8_is_said_to_be_at_its_line() -> None:
    found = read_table(ParsedFiles(FactStore()), "leaf.py", b"T = {}\n\n# \xff\n", "T")
    place, message = Location("leaf.py", 3), "the leaf is not UTF-8: invalid start byte"
    why = Problem(place, message, "save it as UTF-8; nothing else can be judged until then")
    assert found == Table("T", place, (), (why,), readable=False)


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
        ("T = {'a': None}\nf()['a'] = f().x = 1\nf()[T] = 1\n", []),
    ],
)
def test_what_is_wrong_with_it(text: str, expected: list[tuple[int, int, str, str | None]]) -> None:
    found = table(text)
    assert found.problems == tuple(problem(*each) for each in expected)
    assert (found.readable, found.name, found.location) == (True, "T", Location("leaf.py", 1, 1))
    assert all(entry.uses is None for entry in found.entries if not entry.readable)


def test_the_other_entries_are_read_all_the_same() -> None:
    found = table("T = {**U, 'a': None, 1: None, 'b': []}\n")
    assert [each.message[:7] for each in found.problems] == ["the tab", "the key", "the lis"]
    assert [(entry.name, entry.readable) for entry in found.entries] == [("a", True), ("b", False)]


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
    assert (found.location, found.name) == (Location("leaf.py", 5, 1), "T")
    assert [entry.name for entry in found.entries] == ["p.é.A", "p.B", "p.C", "p.D", "p.E"]
    assert [entry.extras for entry in found.entries] == [("trtllm", "x"), None, ("y",), None, ("y",)]
    assert [entry.readable for entry in found.entries] == [True, True, True, False, True]
    assert [entry.stage for entry in found.entries] == ["trtllm", None, "deps", None, "deps"]
    assert (a.module, a.class_name) == ("p.é", "A")
    assert a.comment == ((Location("leaf.py", 6, 5), "# one"), (Location("leaf.py", 7, 5), "#  two"))
    assert (b.comment, e.comment, d.comment == c.comment) == ((), (), True)
    assert [entry.location for entry in (a, d)] == [Location("leaf.py", 8, 5), Location("leaf.py", 12, 19)]
    assert [entry.value_location for entry in (a, d)] == [Location("leaf.py", 8, 14), Location("leaf.py", 12, 26)]
    assert a.uses == (
        ExtraUse("trtllm", Location("leaf.py", 8, 15)),
        ExtraUse("x", Location("leaf.py", 8, 25)),
    )
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
        ("T = {\n  # c  \n'a': None,\n# below\n}\n# behind\n", ["# c  "]),
        ("T = {'b': 1,  # c\n'a': None}\n", []),
        ("T = {'b': '''\n''',\n# c\n'a': None}\n", ["# c"]),
        ("T = {\n# c # d\r\n'a': None}\n", ["# c # d"]),
        ("T = {\n# c\t\n'a': None}\n", ["# c\t"]),
        ("T = {'b': '''\n# c''',\n'a': None}\n", []),
        ("T = {\n# c\n'a': None}", ["# c"]),
        ("T = {\n# cXX\n'a': None}\n", ["# cXX"]),
    ],
)
def test_the_comment_of_an_entry(text: str, comments: list[str]) -> None:
    entry = next(entry for entry in table(text).entries if entry.name == "a")
    first = entry.location.line - len(comments)
    assert entry.comment == tuple(
        (Location("leaf.py", line, text.split("\n")[line - 1].index("#") + 1), comment)
        for line, comment in enumerate(comments, start=first)
    )
