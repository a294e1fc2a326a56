from __future__ import annotations

from collections.abc import Callable
from typing import Any

Small = Callable[..., Any]
GUARD = "actor-name-unique"
LEAF = "pkg/actor_environments.py"
TABLE = """\
    "pkg.a.Worker": ["alpha"],
    "pkg.b.Worker": ["beta"],
    "pkg.c.Worker": None,
    "pkg.d.Other": ["alpha"],
"""


def test_each_of_two_actors_with_one_name_is_a_finding_and_one_without_environment_is_none(small: Small) -> None:
    assert small(TABLE).report(GUARD) == [
        f"{LEAF}:2:5: pkg.a.Worker has the class name of pkg.b.Worker, at line 3; "
        "both want the wrapper script python-Worker\n    rename one of the two classes",
        f"{LEAF}:3:5: pkg.b.Worker has the class name of pkg.a.Worker, at line 2; "
        "both want the wrapper script python-Worker\n    rename one of the two classes",
    ]


def test_a_renamed_class_makes_it_green(small: Small) -> None:
    renamed = small(TABLE.replace("b.Worker", "b.Renamed"))
    assert set(renamed.outcomes(GUARD)) == {"pkg.a.Worker", "pkg.b.Renamed", "pkg.c.Worker", "pkg.d.Other"}
    assert renamed.report(GUARD) == []


def test_an_entry_that_is_no_literal_is_left_to_its_guard(small: Small) -> None:
    blocked = small('    "pkg.a.Worker": ("alpha",),\n    "pkg.b.Worker": ["beta"],\n')
    assert blocked.reasons(GUARD) == {"pkg.a.Worker": "blocked: leaf-table-literal"}
    assert blocked.report(GUARD) == []


def test_its_mutants_give_each_actor_a_twin(small: Small) -> None:
    entries = '    "pkg.a.A": ["alpha", "beta"],\n    "pkg.c.C": None,\n'
    assert small(entries).mutants(GUARD) == [
        ("pkg.a.A", "same-package", f'{LEAF}:2: +    "pkg.a_other.A": ["alpha", "beta"],'),
        ("pkg.a.A", "other-package", f'{LEAF}:2: +    "elsewhere.workers.A": ["alpha", "beta"],'),
        (
            "pkg.c.C",
            "given-an-environment",
            f'{LEAF}:2: +    "elsewhere.workers.C": ["alpha"],\n'
            f'{LEAF}:3: -    "pkg.c.C": None,\n{LEAF}:4: +    "pkg.c.C": ["alpha"],',
        ),
    ]


def test_its_mutants_need_no_declared_extra(guarded: Callable[..., Any]) -> None:
    pyproject = '[tool.pytest-actor-envs]\nleaf = "leaf.py"\ndocs = []\n'
    files = {"pyproject.toml": pyproject, "leaf.py": 'ACTOR_ENVIRONMENTS = {"leaf.A": None}\n'}
    [(subject, _, change)] = guarded(files).mutants(GUARD)
    assert subject == "leaf.A"
    assert change.endswith('\nleaf.py:2: +    "leaf.A": ["extra"]}')
