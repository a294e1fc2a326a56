from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Small = Callable[..., Any]
GUARD = "actor-resolves"
LEAF, WORKERS = "pkg/actor_environments.py", "pkg/workers.py"
ENTRY = '    "pkg.workers.A": None,\n'


@pytest.mark.parametrize(
    "text",
    [
        "class A: pass\n",
        "try:\n    import six\nexcept ImportError:\n    class A: pass\n",
        "if True:\r\n    pass\r\nelse:\r\n    class A: pass\r\n",
        "A = make()\n",
        "from pkg.other import A\n",
        "from .other import B as A\n",
        "from pkg.other import *\n",
        "\ufeffclass A: pass\n",
    ],
)
def test_a_class_that_is_there(small: Small, text: str) -> None:
    good = small(ENTRY, {WORKERS: text, "pkg/other.py": "class A: pass\nclass B: pass\n"})
    assert (list(good.outcomes(GUARD)), good.report(GUARD)) == (["pkg.workers.A"], [])


def test_a_module_that_is_not_there_with_the_class_elsewhere(small: Small) -> None:
    files = {
        "pkg/moved.py": "class A: pass\n",
        "pkg/also.py": "A = make()\n",
        "pkg/imports.py": "from pkg.moved import A\n",
    }
    assert small(ENTRY, files).report(GUARD) == [
        f'{LEAF}:2:5: there is no module pkg.workers for A\n    write "pkg.also.A"\n    write "pkg.moved.A"'
    ]
    for written in ("pkg.also.A", "pkg.moved.A", "pkg.imports.A"):
        assert small(f'    "{written}": None,\n', files).report(GUARD) == []


def test_a_class_that_its_module_lacks_with_a_close_name_in_it(small: Small) -> None:
    files = {WORKERS: "class Workers: pass\nclass Worker: pass\nfrom x import Workerz\n"}
    assert small('    "pkg.workers.Workar": None,\n', files).report(GUARD) == [
        f"{LEAF}:2:5: {WORKERS} defines no class Workar at its top level\n    did you mean 'pkg.workers.Worker'?"
    ]
    assert small('    "pkg.workers.Worker": None,\n', files).report(GUARD) == []


def test_a_class_and_a_module_that_are_both_misspelt(small: Small) -> None:
    files = {
        "pkg/worker.py": "class Trainer: pass\n",
        WORKERS: "class Trainer: pass\n",
        "pkg/workersz.py": "class Train: pass\n",
    }
    assert small('    "pkg.workerz.Trainr": None,\n', files).report(GUARD) == [
        f"{LEAF}:2:5: there is no module pkg.workerz for Trainr\n    did you mean 'pkg.workersz.Train'?"
    ]


@pytest.mark.parametrize("body", ["def f():\n    class A: pass\n", "class B:\n    class A: pass\n", "import A\n", ""])
def test_a_class_that_is_not_at_the_top_level(small: Small, body: str) -> None:
    assert small(ENTRY, {WORKERS: body}).report(GUARD) == [
        f"{LEAF}:2:5: {WORKERS} defines no class A at its top level\n    define the class there, or remove the entry"
    ]


def test_re_exports_in_a_circle_end(small: Small) -> None:
    files = {WORKERS: "from pkg.other import A\n", "pkg/other.py": "from pkg.workers import A\n"}
    assert small(ENTRY, files).report(GUARD) == [
        f"{LEAF}:2:5: {WORKERS} defines no class A at its top level\n    did you mean 'pkg.workers.A'?"
    ]


@pytest.mark.parametrize("name", ["A", "pkg.workers.", ".A", ""])
def test_a_key_that_is_no_dotted_name_of_a_class(small: Small, name: str) -> None:
    [line] = small(f'    "{name}": None,\n', {WORKERS: "class B: pass\n"}).report(GUARD)
    assert line == (
        f"{LEAF}:2:5: '{name}' is not the dotted name of a class in a module\n"
        "    define the class there, or remove the entry"
    )


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({WORKERS: "class A: pass\n'ä'; x = = 1\n"}, f"{WORKERS}:2:10: {{}}: invalid syntax"),
        ({WORKERS: "from .other import A\n", "pkg/other.py": "(\n"}, "pkg/other.py:1:1: {}: '(' was never closed"),
    ],
)
def test_a_file_on_the_way_that_does_not_parse_is_a_finding_at_its_line(
    small: Small, files: dict[str, str], message: str
) -> None:
    said = "pkg.workers.A cannot be looked up, since this file is not valid Python"
    assert small(ENTRY, files).report(GUARD) == [message.format(said) + "\n    mend the syntax"]


def test_a_close_module_that_does_not_parse_is_passed_over(small: Small) -> None:
    assert small('    "pkg.worker.A": None,\n', {WORKERS: "class A(:\n"}).report(GUARD) == [
        f"{LEAF}:2:5: there is no module pkg.worker for A\n    define the class there, or remove the entry"
    ]


def test_its_mutants_misspell_each_part_and_take_the_definition_away(small: Small) -> None:
    files = {"pkg/__init__.py": "from .workers import B\n", WORKERS: "class A: pass\nclass B: pass\n"}
    project = small('    "pkg.workers.A": None,\n    "pkg.B": None,\n    "pkg.gone.C": None,\n', files)

    def renamed(line: int, old: str, new: str) -> tuple[str, str]:
        return new, f'{LEAF}:{line}: -    "{old}": None,\n{LEAF}:{line}: +    "{new}": None,'

    def misspelt(line: int, old: str, new: str, part: str) -> tuple[str, str, str]:
        return new, f"{part}-misspelt", renamed(line, old, new)[1]

    gone = f"{WORKERS}: empty\n{WORKERS}:1: -class A: pass\n{WORKERS}:2: -class B: pass"
    moved = f"{WORKERS}: gone\npkg/workers_moved.py:1: +class A: pass\npkg/workers_moved.py:2: +class B: pass"
    assert project.mutants(GUARD) == [
        misspelt(2, "pkg.workers.A", "pkg_gone.workers.A", "module"),
        misspelt(2, "pkg.workers.A", "pkg.workers_gone.A", "module"),
        misspelt(2, "pkg.workers.A", "pkg.workers.A_gone", "class"),
        ("pkg.workers.A", "definition-gone", gone),
        ("pkg.workers.A", "module-moved", moved),
        misspelt(3, "pkg.B", "pkg_gone.B", "module"),
        misspelt(3, "pkg.B", "pkg.B_gone", "class"),
        ("pkg.B", "definition-gone", gone),
        misspelt(4, "pkg.gone.C", "pkg_gone.gone.C", "module"),
        misspelt(4, "pkg.gone.C", "pkg.gone_gone.C", "module"),
        misspelt(4, "pkg.gone.C", "pkg.gone.C_gone", "class"),
    ]
