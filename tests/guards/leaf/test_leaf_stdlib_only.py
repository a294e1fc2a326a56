from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Sample = Callable[..., Any]
GUARD = "leaf-stdlib-only"
LEAF, SCRIPT = "sample/actor_environments.py", "tools/generate_fingerprint.py"
MOVE_IT = "move what needs it into another module of the package; this file may use the standard library only"
NAME_IT = "import a module of the standard library by its literal name"
BY_VERSION = "import it under `if sys.version_info >= (...):` and give the other versions a way of their own"
FOR_OLDEST = "write it so that the oldest Python reads it, or raise leaf-python in [tool.pytest-actor-envs]"
UNNAMED = "imports something that is named by no literal, so nobody can tell what"


def alone(what: str, module: str) -> str:
    return f"imports {what} '{module}', which does not exist where {LEAF} runs alone"


def lacking(module: str, versions: str) -> str:
    return f"imports '{module}', which the standard library of Python {versions} does not have"


def with_code(code: str) -> dict[str, Any]:
    """The leaf with `code` from its fifth line on."""
    return {LEAF: ("import sys\n\n", f"import sys\n\n{code}\n\n")}


@pytest.mark.parametrize(
    ("code", "place", "message", "fix"),
    [
        ("import numpy", "5:8", alone("a third-party module", "numpy"), MOVE_IT),
        ("import numpy.linalg as la", "5:8", alone("a third-party module", "numpy.linalg"), MOVE_IT),
        ("import sample", "5:8", alone("its own package", "sample"), MOVE_IT),
        ("from sample.workers import First", "5:1", alone("its own package", "sample.workers"), MOVE_IT),
        ("from . import workers", "5:1", alone("its own package", "."), MOVE_IT),
        ("from .workers import First", "5:1", alone("its own package", ".workers"), MOVE_IT),
        ("def late():\n    import torch", "6:12", alone("a third-party module", "torch"), MOVE_IT),
        ("x = 'äö'; import torch", "5:18", alone("a third-party module", "torch"), MOVE_IT),
        ("def late(n):\n    return __import__(n)", "6:12", UNNAMED, NAME_IT),
        ("import tomllib", "5:8", lacking("tomllib", "3.8, 3.9, 3.10"), BY_VERSION),
        ("import distutils.core", "5:8", lacking("distutils.core", "3.12, 3.13, 3.14"), BY_VERSION),
        (
            "if sys.version_info < (3, 9):\n    import graphlib",
            "6:12",
            lacking("graphlib", "3.8"),
            BY_VERSION,
        ),
        (
            "match sys:\n    case 1:\n        pass",
            "5:1",
            "not valid for Python 3.8: Pattern matching is only supported in Python 3.10 and greater",
            FOR_OLDEST,
        ),
        (
            "@sys.argv[0]\ndef late(): ...",
            "6:1",
            "not valid for Python 3.8: decorators other than a dotted name or its call need Python 3.9",
            FOR_OLDEST,
        ),
    ],
)
def test_what_a_script_that_runs_alone_may_not_do(
    sample: Sample, code: str, place: str, message: str, fix: str
) -> None:
    assert sample(with_code(code)).reports(GUARD) == [(f"{LEAF}:{place}", message, (fix,))]


def test_all_imports_are_judged(sample: Sample) -> None:
    code = "def late(n):\n    __import__(n)\n    import json\n    import tomllib\n    import numpy"
    assert [message.partition(": ")[0] for message in sample(with_code(code)).messages(GUARD)] == [
        f"{LEAF}:6:5",
        f"{LEAF}:8:12",
        f"{LEAF}:9:12",
    ]


@pytest.mark.parametrize(
    "code",
    [
        "import json, os.path, importlib.util",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import numpy",
        "if sys.version_info >= (3, 11):\n    import tomllib",
        "import importlib\n\nimportlib.import_module('json.decoder')",
    ],
)
def test_what_it_may_do(sample: Sample, code: str) -> None:
    assert sample(with_code(code)).reports(GUARD) == []


def test_windows_line_endings_and_an_empty_script(sample: Sample) -> None:
    text = sample().project.tree.read_text(LEAF)
    assert sample({LEAF: text.replace("\n", "\r\n")}).reports(GUARD) == []
    assert sample({SCRIPT: ""}).reports(GUARD) == []


def test_a_newer_oldest_python_by_configuration(sample: Sample) -> None:
    newer = {"pyproject.toml": ("docs = []", 'docs = []\nleaf-python = "3.11"')}
    assert sample({**with_code("import tomllib\nmatch sys:\n    case 1:\n        pass"), **newer}).reports(GUARD) == []
    assert [line.split(", ")[1].split(":")[0] for line in sample(newer).proofs(GUARD)[:4]] == [
        "own-package", "in-function", "import-module", "dynamic",
    ]  # fmt: skip
    between = {"pyproject.toml": ("docs = []", 'docs = []\nleaf-python = "3.10"')}
    shapes = [line.split(", ")[1].split(":")[0] for line in sample(between).proofs(GUARD)]
    assert shapes[4] == "newer-module" and "newer-syntax" not in shapes


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("import numpy", "import numpy\n", ""),
        ("def late(n):\n    return __import__(n)", "__import__(n)", "__import__('json')"),
        ("import tomllib", "import tomllib", "if sys.version_info >= (3, 11):\n    import tomllib"),
    ],
)
def test_the_advice_mends_it(sample: Sample, code: str, old: str, new: str) -> None:
    text = sample(with_code(code)).project.tree.read_text(LEAF)
    assert old in text
    assert sample({LEAF: text.replace(old, new)}).reports(GUARD) == []


def test_its_mutants(sample: Sample) -> None:
    expected = []
    for path in (LEAF, SCRIPT):
        expected += [
            f"{path}, own-package: {alone('its own package', 'sample.anything')}",
            f"{path}, in-function: {alone('a third-party module', 'packaging.version')}",
            f"{path}, import-module: {alone('a third-party module', 'numpy')}",
            f"{path}, dynamic: {UNNAMED}",
            f"{path}, newer-syntax: not valid for Python 3.8: "
            "Pattern matching is only supported in Python 3.10 and greater",
            f"{path}, newer-module: {lacking('tomllib', '3.8, 3.9, 3.10')}",
        ]
    assert [line.replace(f"where {SCRIPT} runs", f"where {LEAF} runs") for line in sample().proofs(GUARD)] == expected
