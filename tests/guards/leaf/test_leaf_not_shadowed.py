from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.guards.leaf.leaf_not_shadowed import importable_name

Sample = Callable[..., Any]
GUARD = "leaf-not-shadowed"
LEAF, SCRIPT = "sample/actor_environments.py", "tools/generate_fingerprint.py"
ADVICE = "rename it, or move one of the two to another folder"


def hides(module: str, script: str) -> str:
    return f"hides the standard library's module '{module}' from {script}, whose folder comes first on sys.path"


@pytest.mark.parametrize(
    ("beside", "module"),
    [
        ("sample/json.py", "json"),
        ("sample/json.pyc", "json"),
        ("sample/_json.cpython-311-x86_64-linux-gnu.so", "_json"),
        ("sample/_json.so", "_json"),
        ("sample/math.cp312-win_amd64.pyd", "math"),
        ("sample/tomllib.py", "tomllib"),
        ("sample/distutils.py", "distutils"),
    ],
)
def test_a_neighbour_with_the_name_of_a_module(sample: Sample, beside: str, module: str) -> None:
    assert sample({beside: ""}).reports(GUARD) == [(f"{beside}:1:1", hides(module, LEAF), (ADVICE,))]


def test_a_neighbouring_package(sample: Sample) -> None:
    [(place, message, fix)] = sample({"tools/logging/__init__.py": ""}).reports(GUARD)
    assert (place, message, fix) == ("tools/logging:1:1", hides("logging", SCRIPT), (ADVICE,))


def test_all_neighbours_are_reported_in_order(sample: Sample) -> None:
    broken = sample({"sample/typing.py": "", "sample/helpers.py": "", "sample/argparse.py": ""})
    assert [place for place, _, _ in broken.reports(GUARD)] == ["sample/argparse.py:1:1", "sample/typing.py:1:1"]


@pytest.mark.parametrize(
    "beside",
    [
        "sample/json.txt",
        "sample/json.py.orig",
        "sample/json.so.bak",
        "sample/helpers.py",
        "json.py",
        "sample/deep/json.py",
    ],
)
def test_what_hides_nothing(sample: Sample, beside: str) -> None:
    assert sample({beside: ""}).reports(GUARD) == []


def test_its_mutants(sample: Sample) -> None:
    assert sample().proofs(GUARD) == [
        f"{script}, {shape}: {hides(module, script)}"
        for script in (LEAF, SCRIPT)
        for shape, module in (("module", "json"), ("module", "argparse"), ("package", "typing"))
    ]
    leaf_at_the_top = {
        "pyproject.toml": ('leaf = "sample/actor_environments.py"', 'leaf = "environments.py"'),
        "environments.py": "ACTOR_ENVIRONMENTS = {'sample.workers.First': None}\n",
        "sample/ray_actor_environment_registry.py": None,
        "sample/py_executables.py": None,
    }
    assert sample(leaf_at_the_top).proofs(GUARD)[0] == f"environments.py, module: {hides('json', 'environments.py')}"


def test_its_mutants_are_empty_files(sample: Sample) -> None:
    guarded = sample()
    mutants = guarded.evaluation.guards[GUARD].mutants(guarded.project)
    assert [dict(mutant.files) for mutant in mutants][:3] == [
        {"sample/json.py": ""},
        {"sample/argparse.py": ""},
        {"sample/typing/__init__.py": ""},
    ]


def test_what_no_import_finds_has_no_name() -> None:
    assert importable_name("notes.txt") == ""
