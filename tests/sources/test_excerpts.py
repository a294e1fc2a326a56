"""An excerpt is the text without some functions, and everything else stands where it stood."""

from __future__ import annotations

import ast
import sysconfig
import warnings
from pathlib import Path

import pytest

from pytest_actor_envs.sources.excerpts import excerpt

STANDARD_LIBRARY = Path(sysconfig.get_paths()["stdlib"])
WORDS = ("remote", "launch")

BLANKED = {
    "one statement": ("def f(a, b=1):\n    return 1\nx = 2\n", "def f():(_\n           )\nx = 2\n"),
    "comment behind it": ("def f():\n    return 1  # why\n", "def f():(_\n           )\n"),
    "on one line": ("def f(): return 1  # why\n", "def f():_________\n"),
    "short": ("def f():x\n", "def f():_\n"),
    "several statements": ("def f() -> int:\n    'd'\n\n    return 1\nx\n", "def f():(_\n\n\n           )\nx\n"),
    "end to the left": ('def f():\n    x = """\n"""\n', "def f():(_\n\n  )\n"),
    "decorated": ("@d(1)\ndef f():\n    @d\n    class A:\n        x = 1\n", "@d(1)\ndef f():(_\n\n\n            )\n"),
    "method": (
        "class A:\n    async  def f(self):\n        y\n    z = 1\n",
        "class A:\n    async def f():(_\n        )\n    z = 1\n",
    ),
    "under a condition": ("if x:\n    def f(): y\nelse:\n    z = 1\n", "if x:\n    def f():__\nelse:\n    z = 1\n"),
    "text that is not of ASCII": ("def é():\n    'é'\n    é = 1; y\n", "def é():(_\n\n            )\n"),
    "a word that holds import": ("def f():\n    important\n", "def f():(_\n            )\n"),
    "tabs": ("class A:\n\tdef f():\n\t\tx\n\ty = 1\n", "class A:\n\tdef f():(_\n  )\n\ty = 1\n"),
}

KEPT = {
    "import": "def f():\n    import a\n",
    "import at the start of a line": "def f():\n    from a \\\nimport b\n",
    "word": "def f():\n    x.remote()\n",
    "word in a function in it": "def f():\n    def g():\n        launch(x)\n    return g\n",
    "alias": "from a import launch as start\ndef f():\n    start(x)\n",
    "alias over lines": "from a import (\n    launch  # why\n    as start,\n)\ndef f():\n    start(x)\n",
    "alias that looks like a pattern": "import a.remote as _r\ndef f():\n    _r(x)\n",
    "word in a header": "def f(\n    x=remote,\n):\n    pass\n",
    "a name that is longer as Python knows it": "def ŀ():x\n",
    "outside of functions": "x = [\n    1,\n]\nclass A:\n    y = 2\n",
    "carriage returns": "def f():\r\n    x\r\n",
    "form feed": "\fdef f():\n    x\n",
    "byte order mark": "\N{ZERO WIDTH NO-BREAK SPACE}def f():\n    x\n",
}


def excerpt_of(text: str) -> str:
    return excerpt(text.encode(), ast.parse(text.encode()), WORDS).decode()


@pytest.mark.parametrize(("text", "expected"), BLANKED.values(), ids=BLANKED.keys())
def test_a_function_that_says_nothing_is_blanked(text: str, expected: str) -> None:
    assert excerpt_of(text) == expected
    ast.parse(expected)


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT.keys())
def test_everything_else_is_kept(text: str) -> None:
    assert excerpt_of(text) == text


def test_another_encoding_is_kept() -> None:
    content = "# coding: latin-1\ndef f():\n    'é'\n".encode("latin-1")
    assert excerpt(content, ast.parse(content), WORDS) == content


def test_without_words_only_imports_are_looked_for() -> None:
    text = b"from a import b as c\ndef f():\n    c\ndef g():\n    import d\n"
    assert excerpt(text, ast.parse(text), ()) == text.replace(b"f():\n    c\n", b"f():(_\n    )\n")


def test_nothing_outside_of_functions_moves() -> None:
    shorter = 0
    for path in sorted(STANDARD_LIBRARY.glob("*.py"))[::4]:
        content = path.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = ast.parse(content)
            found = excerpt(content, whole, WORDS)
            reduced = ast.parse(found)
        assert _without_bodies(reduced) == _without_bodies(whole), path
        shorter += len(found) < 0.7 * len(content)
    assert shorter > 15


def _without_bodies(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = []
            node.args, node.returns = ast.arguments([], [], None, [], [], None, []), None
            node.__dict__.pop("type_params", None)
    return ast.dump(tree, include_attributes=True)
