"""The skeleton of a text gives the imports of the whole text, on real files and on hard ones."""

from __future__ import annotations

import ast
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_actor_envs.sources import skeleton as skeleton_reader
from pytest_actor_envs.sources.imports import ImportFact, facts_of_tree, import_facts, parsed
from pytest_actor_envs.sources.skeleton import NotUnderstood, long_strings, skeleton
from tests.sources.random_programs import Program

STANDARD_LIBRARY = Path(sysconfig.get_paths()["stdlib"])


def from_skeleton(content: bytes) -> tuple[ImportFact, ...] | None:
    """The facts of the skeleton, `None` where the whole text has to be read."""
    try:
        return facts_of_tree(ast.parse(skeleton(content)), content)
    except (NotUnderstood, SyntaxError):
        return None


def from_whole(content: bytes) -> tuple[ImportFact, ...]:
    return facts_of_tree(parsed(content), content)


UNDERSTOOD = {
    "nothing to import": "x = 1\n",
    "top": "import a, b as c\nfrom . import d\nfrom .e import f as g, h\nfrom i import *\nfrom .import j\n",
    "no newline at the end": "def f():\n    import a",
    "in a docstring": '"""\nimport a\n"""\nimport b\n',
    "docstring that ends on a line with code": 'x = """\nimport a\n""" + y\nimport b\n',
    "strings side by side": 'x = ["""a""", """\nimport b\n""", \'\'\'\nfrom c import d\'\'\']\nimport e\n',
    "the other quotes inside": "x = '''\n\"\"\"\nimport a\n'''\nimport b\n",
    "quotes in a comment": '# it\'s """\nimport a\n# """\nimport b\n',
    "quotes in a string": "x = '\"\"\"'\nimport a\ny = \"'''\"\nimport b\n",
    "escaped quotes": 'x = """\n\\"""\nimport a\n"""\nimport b\n',
    "a string over an escaped end of line": "x = 'a\\\nimport b'\nimport c\n",
    "the word in comments and strings": "import a  # import order\nx = 'from b import c'  # import d\n# import e\n",
    "brackets around the names": "from a import (  # (\n    b,  # )\n    c as d,\n)\nimport e\n",
    "names over escaped ends of lines": "from a import b, \\\n    c\nimport d, \\\n  e\n",
    "function": "def f(a, b):\n    '''import c'''\n    x = 1\n\n    # comment\n    import d\n    return d\nimport e\n",
    "method": "class A:\n    x = 1\n    @g\n    async def f(self):\n        from a import b\n        return b\n",
    "header over several lines": "def f(\n    a,\n    b=(1, 2),  # :(\n) -> dict[str, int]:\n    import c\n",
    "colon and brackets in a header's strings": "def f(a=':(', b=\"[\"):  # {\n    import c\n",
    "try": "try:\n    x = 1\n    import a\nexcept ImportError:\n    x = 2\n    a = None\nelse:\n    y = 1\nfinally:\n    z = 2\n",
    "try that raises again": "try:\n    import a\nexcept ImportError as e:\n    if e:\n        raise\n    else:\n        raise X\n",
    "second handler": "try:\n    import a\nexcept ValueError:\n    pass\nexcept (X, ModuleNotFoundError):\n    import b\n",
    "handler with a string and a bracket": 'try:\n    import a\nexcept ImportError:\n    x = """\nb\n"""\n    y = [\n    ]\n    raise\n',
    "imports in all parts": "try:\n    import a\nexcept ImportError:\n    import b\nelse:\n    import c\nfinally:\n    import d\n",
    "only in finally": "try:\n    x = 1\nexcept ImportError:\n    y = 1\nfinally:\n    import d\n",
    "nested try": "try:\n    try:\n        import a\n    except ImportError:\n        import b\nexcept Exception:\n    pass\n",
    "function in try": "try:\n    x = 1\n    def f():\n        x = 2\n        import a\nexcept ImportError:\n    pass\n",
    "group": "try:\n    import a\nexcept* ImportError:\n    pass\n",
    "suppress": "import contextlib\nwith open(x) as y, contextlib.suppress(\n    ImportError,\n):\n    import a\n",
    "type checking": "if TYPE_CHECKING:\n    import a\nelse:\n    import b\n",
    "not type checking": "if not typing.TYPE_CHECKING and x:\n    import a\n",
    "versions": "if sys.version_info < (3, 9):\n    x = 1\nelif sys.version_info >= (3, 13):\n    import a\nelse:\n    import b\n",
    "if with else that is nothing's": "if x:\n    y = 1\nelse:\n    import a\nif y:\n    import b\nelse:\n    z = 1\n",
    "elif after an if on one line": "if x: y = 1\nelif TYPE_CHECKING:\n    import a\nelse:\n    import b\n",
    "loops": "for x in y:\n    import a\nelse:\n    import b\nwhile x:\n    z = 1\nelse:\n    import c\n",
    "match": "match x:\n    case 1:\n        y = 1\n    case A(b=2) if c:\n        import a\n",
    "match as a name": "match = 1\nif match:\n    case = 2\n    import a\n",
    "loop in a bracket": "def f():\n    x = [\n        a\n        for a in b\n        if a\n    ]\n    import d\n",
    "bracket below the block": "def f():\n    x = [\n1,\n2]\n    import a\n",
    "decorated": "@d(\n    1,\n)\nclass A(\n    B,\n):\n    import a\n",
    "text before a column": "# é\ntry:\n    import a, ü as b\nexcept é:\n    pass\n",
    "class in class in function": "def f():\n  class A:\n      class B:\n         import a\n",
    "comments to the left": "def f():\n    if x:\n# left\n        y = 1\n  # there\n        import a\n",
    "one-line suites beside": "try:\n    import a\nexcept ImportError: a = None\nif x: y = 1\n",
}

REFUSED = {
    "after a semicolon": "x = 1; import a\n",
    "before a semicolon": "import a; import b\n",
    "one-line suite": "if x: import a\nelse: import b\n",
    "carriage returns": "import a\r\nif x:\r\n    import b\r\n",
    "old ends of lines": "import a\rimport b\r",
    "form feed": "import a\n\fimport b\n",
    "tabs": "if x:\n\timport a\n",
    "tabs and spaces": "if x:\n        import a\nif y:\n\timport b\n",
    "escaped end of line before the word": "from a \\\n  import b\n",
    "escaped end of line in a header": "if TYPE_CHECKING and \\\n    x:\n    import a\n",
    "behind a string on its last line": 'x = """\n"""; import a\n',
    "calls": 'import importlib\nimportlib.import_module("a")\n__import__("b")\n',
    "coding": "# -*- coding: latin-1 -*-\nimport a\n",
    "coding of utf-8": "# coding: utf-8\nimport a\n",
    "byte order mark": "\N{ZERO WIDTH NO-BREAK SPACE}import a\n",
    "string in a header": 'if x == """\n""":\n    import a\n',
    "name that is not of ASCII": "from é import b\n",
    "yield from": "def f():\n    x = (yield\n  from y)\n    import a\n    def g():\n        import importlib; b\n",
    "header in a bracket": "def f():\n    if x:\n        y = [a\nfor a in b\n        ]\n        import c\n",
    "else in a bracket": "try:\n    x = (a if b\nelse c)\n    import d\nexcept ImportError:\n    pass\n",
}

HUNDRED_LINES = "def f(\n" + "    a,\n" * 98 + "):\n"
EXACTLY = {
    "no import": ("x = 1\n", ""),
    "only the word": ("# import\nx = 'import'\n", ""),
    "top": ("x = 1\nimport a\ny = 1\n", "\nimport a\n"),
    "second line": ("\nimport a\n", "\nimport a\n"),
    "comment behind": ("import a  # it's; \"this\" (\nx = 1\n", "import a  # it's; \"this\" (\n"),
    "brackets on one line": ("from a import (b)\nx = 1\n", "from a import (b)\n"),
    "brackets on several": ("from a import (\n    b,\n)\nx = 1\n", "from a import (\n    b,\n)\n"),
    "escaped": ("from a import b, \\\n    c\nx = 1\n", "from a import b, \\\n    c\n"),
    "last line": ("import a", "import a\n"),
    "first statement of a block": (
        "def f():\n    # comment\n\n    \n    X\n    import a\n    y = 1\n",
        "def f():\n\n\n\n    pass\n    import a\n",
    ),
    "comment behind a header": ("if x:  # c\n    y = 1\nelse:\n    import a\n", "if x:  # c\n    pass\nelse:\n    import a\n"),
    "square brackets": ("for x in [\n    1,\n]:\n    import a\n",) * 2,
    "braces": ("for x in {\n    1,\n}:\n    import a\n",) * 2,
    "braces that end": ("for x in {1}:\n    y = 1\n    import a\n", "for x in {1}:\n    pass\n    import a\n"),
    "handler": (
        "try:\n    import a\nexcept E:\n    x = [\n], 1\n    y = (\n), 2\n    z = {\n}, 3\n    s = '''\nin\n'''\n\n"
        "# left\n    raise\nX = 1\ny = 2\n",
        "try:\n    import a\nexcept E:\n    x = [\n], 1\n    y = (\n), 2\n    z = {\n}, 3\n    s = '''\nin\n'''\n\n"
        "# left\n    raise\n",
    ),
    "handler on one line": ("try:\n    import a\nexcept E: X\n# c\nb = 1\n", "try:\n    import a\nexcept E: X\n"),
    "handler in a function": (
        "def f():\n    try:\n        import a\n    except E:\n        x = 1\n    y = 1\n",
        "def f():\n    try:\n        import a\n    except E:\n        x = 1\n",
    ),
    "match": (
        "match x:\n    case 1:\n        y = 1\n    case 2:\n        z = 1\n        import a\n",
        "match x:\n\n\n    case 2:\n        pass\n        import a\n",
    ),
    "a hundred lines of header": (f"{HUNDRED_LINES}    import a\n",) * 2,
    "coding that is far below": ("\n\n#" + "x" * 391 + "coding: y\nimport a\n", "\n\n\nimport a\n"),
}  # fmt: skip

NOT_UNDERSTOOD = {
    "behind a semicolon, with a comment": "x = 1; import a  # behind\n",
    "behind a string that looks like a comment": 'x = """\n# """; import a\n',
    "form feed elsewhere": "import a\nx = 1\f\n",
    "null byte": "import a\nx = '\0'\n",
    "byte order mark elsewhere": "\N{ZERO WIDTH NO-BREAK SPACE}x = 1\nimport a\n",
    "escaped end of line before the word at the left": "from a \\\nimport b\n",
    "tab behind spaces": "if x:\n  \timport a\n",
    "no Python: vertical tab": "\vimport a\n",
    "escaped end of line before the word": "from a \\\n  import b\n",
    "escaped end of line in a header": "if TYPE_CHECKING and \\\n    x:\n    import a\n",
    "string in a header": 'if x == """\n""":\n    import a\n',
    "other string in a header": "if x == '''\n''':\n    import a\n",
    "more lines of header": HUNDRED_LINES.replace("    a,\n", "    a,\n    b,\n", 1) + "    import a\n",
    "coding in the first 400 bytes": "\n\n#" + "x" * 390 + "coding: y\nimport a\n",
    "tabs": "if x:\n\timport a\n",
    "no Python: a string before the word": '"a"import b\n',
    "no Python: a long string before the word": '"""\n"""import a\n',
    "no Python: a word before it": "X import a\n",
    "no Python: a string behind": 'import a "b"\n',
    "no Python: another string behind": "import a 'b'\n",
    "no Python: no block": "try:\n    import a\nfinally:\n",
    "no Python: no end of a string": 'import a\nx = """\n',
    "no Python: a part without its first": "else:\n    import a\n",
    "no Python: nothing around": "    import a\n",
}


@pytest.mark.parametrize(("text", "expected"), EXACTLY.values(), ids=EXACTLY.keys())
def test_the_skeleton_of_a_text(text: str, expected: str) -> None:
    assert skeleton(text.encode()).decode() == expected


@pytest.mark.parametrize("text", NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD.keys())
def test_a_text_without_a_skeleton(text: str) -> None:
    with pytest.raises(NotUnderstood):
        skeleton(text.encode())


@pytest.mark.parametrize("nest", [False, True])
def test_quotes_in_braces_are_refused_where_f_strings_nest(monkeypatch: pytest.MonkeyPatch, nest: bool) -> None:
    monkeypatch.setattr(skeleton_reader, "F_STRINGS_NEST", nest)
    content = b"x = 'f\"{\"'\nimport a\n"
    if nest:
        with pytest.raises(NotUnderstood):
            skeleton(content)
    else:
        assert skeleton(content) == b"\nimport a\n"
    assert skeleton(b"import a\n") == b"import a\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('x = """a"""\n', []),
        ('\nx = """a""" + """\nb"""\n', ['"""\nb"""']),
        ("x = '''\n''' + '''a\n'''\n", ["'''\n'''", "'''a\n'''"]),
        ("x = 'a\\\nb' + 'c'\n", ["'a\\\nb'"]),
        ('x = "a\\\nb"\n', ['"a\\\nb"']),
        ('# """\nx = "\'\'\'"\n"""\n"""\n', ['"""\n"""']),
        ('"""\n""', None),
        ("x = 'a\n'''\n'''\n", None),
        ("'''\n{a'''", ["'''\n{a'''"]),
        *((f'{prefix}"""\n{{a"""', None) for prefix in ("f", "F", "t", "rf", "Fr", "x = f", "x=rF", "[f")),
        *((f'{prefix}"""\n{{a"""', ['"""\n{a"""']) for prefix in ("", "r", "b", "rb", "xf", "x = u", "_rf")),
        ('f"""{a}\n{b"""', None),
        ('f"""\n{d["""\n"""]}"""', None),
        ('f"""\n}{"""', None),
        *((f'f"""\n{text}"""', [f'"""\n{text}"""']) for text in ("{a}", "}", "", "{a}{b}c")),
        ('x = {f"""\n"""}\n', ['"""\n"""']),
        ('f"""\n{a}""", {1}\n', ['"""\n{a}"""']),
        ('f"{a}", """\n{"""\n', ['"""\n{"""']),
    ],
)  # fmt: skip
def test_the_strings_that_hold_an_end_of_line(text: str, expected: list[str] | None) -> None:
    if expected is None:
        with pytest.raises(NotUnderstood):
            long_strings(text.encode())
    else:
        assert [text.encode()[start:end].decode() for start, end in long_strings(text.encode())] == expected


@pytest.mark.parametrize("text", UNDERSTOOD.values(), ids=UNDERSTOOD.keys())
def test_the_skeleton_tells_what_the_whole_text_tells(text: str) -> None:
    assert from_skeleton(text.encode()) == from_whole(text.encode())
    assert import_facts(text.encode()) == from_whole(text.encode())


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_what_the_skeleton_refuses_is_read_whole(text: str) -> None:
    assert from_skeleton(text.encode()) is None
    assert import_facts(text.encode()) == from_whole(text.encode())


def test_an_encoding_other_than_utf_8_is_read_whole() -> None:
    content = "# coding: latin-1\nx = 'é'\nimport a\n".encode("latin-1")
    assert import_facts(content) == from_whole(content)
    with pytest.raises(SyntaxError):
        import_facts("x = 'é'\n".encode("latin-1"))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no f-string holds its own kind of quote before Python 3.12")
@pytest.mark.parametrize("prefix", ["f", "rf", "Fr"])
def test_strings_that_hold_their_own_quotes_are_read_whole(prefix: str) -> None:
    for text in (
        f'x = {prefix}"{{d["#"]}}" # """\nimport a\n# """\n',
        f'x = {prefix}"""\n{{d["""\nimport a\n"""]}}"""\n',
    ):
        assert import_facts(text.encode()) == from_whole(text.encode())


@pytest.mark.parametrize("text", ["import (\n", "import a\0\n", "def f(:\n    import a\n"])
def test_a_text_whose_imports_cannot_be_read_raises(text: str) -> None:
    with pytest.raises(SyntaxError):
        import_facts(text.encode())


def test_blanked_lines_are_what_a_skeleton_saves() -> None:
    text = "import a\n" + "x = [\n    1,\n]\n" * 50 + "def f():\n    y = 1\n    import b\n" + "    z = 2\n" * 50
    kept = skeleton(text.encode()).decode().split("\n")
    assert [line for line in kept if line] == ["import a", "def f():", "    pass", "    import b"]


def test_random_programs_are_told_alike() -> None:
    understood = imports = 0
    for seed in range(200):
        content = Program(seed).text().encode()
        whole, found = from_whole(content), from_skeleton(content)
        assert found is None or found == whole, f"seed {seed}:\n{content.decode()}"
        understood += found is not None
        imports += len(whole)
    assert understood > 190
    assert imports > 500


def differing(paths: Iterator[Path]) -> tuple[int, int, list[Path]]:
    """(valid files, how many are read by their skeleton, those that it tells otherwise)."""
    valid = understood = 0
    wrong = []
    for path in paths:
        content = path.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                whole = from_whole(content)
            except (SyntaxError, RecursionError):
                continue
            found = from_skeleton(content)
        valid += 1
        understood += found is not None
        if found not in (None, whole):
            wrong.append(path)
    return valid, understood, wrong


def test_files_of_the_standard_library_are_told_alike() -> None:
    valid, understood, wrong = differing(iter(sorted(STANDARD_LIBRARY.glob("*.py"))[::3]))
    assert not wrong
    assert valid > 50
    assert understood > 0.8 * valid


@pytest.mark.slow
def test_every_file_of_the_standard_library_and_site_packages_is_told_alike() -> None:
    purelib = Path(sysconfig.get_paths()["purelib"])
    found = {*STANDARD_LIBRARY.rglob("*.py"), *purelib.rglob("*.py")}
    valid, understood, wrong = differing(iter(sorted(found)))
    assert not wrong
    assert valid > 1000
    assert understood > 0.8 * valid
