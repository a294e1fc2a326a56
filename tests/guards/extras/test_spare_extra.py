"""Mutants of a project whose actors have all that there is: an extra is declared besides, for them to lack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pytest_actor_envs.guards.extras.added_imports import foreign_import
from pytest_actor_envs.guards.extras.declarations import with_spare_extra

Small = Callable[..., Any]
Guarded = Callable[[Mapping[str, str]], Any]
LEAF, WORKERS = "pkg/actor_environments.py", "pkg/workers.py"
PYPROJECT = """\
[project]
name = "small"
version = "1"
dependencies = ["ray"]

[project.optional-dependencies]
alpha = ["six"]

[tool.pytest-actor-envs]
leaf = "pkg/actor_environments.py"
docs = []
"""
FILES = {
    "pyproject.toml": PYPROJECT,
    LEAF: 'ACTOR_ENVIRONMENTS = {\n    "pkg.workers.A": ["alpha"],\n}\n',
    "pkg/__init__.py": "",
    WORKERS: "import ray\nimport six\n\n\n@ray.remote\nclass A:\n    pass\n",
}
DECLARED = 'pyproject.toml:7: +spare-of-a-mutant = ["spare-of-a-mutant"]'


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        (
            "import-provided",
            [
                ("import-at-top", [f"{WORKERS}:1: +import spare_of_a_mutant"]),
                (
                    "import-in-method",
                    [
                        f"{WORKERS}:10: +def _added_by_a_mutant():",
                        f"{WORKERS}:11: +    from spare_of_a_mutant import anything",
                    ],
                ),
                (
                    "import-by-name",
                    [
                        f"{WORKERS}:10: +def _added_by_a_mutant():",
                        f'{WORKERS}:11: +    import importlib; importlib.import_module("spare_of_a_mutant")',
                    ],
                ),
            ],
        ),
        (
            "guarded-import-provided",
            [
                (
                    "tried-at-top",
                    [
                        f"{WORKERS}:1: +try:",
                        f"{WORKERS}:2: +    import spare_of_a_mutant",
                        f"{WORKERS}:3: +except ImportError:",
                        f"{WORKERS}:4: +    spare_of_a_mutant = None",
                    ],
                ),
                (
                    "suppressed-in-method",
                    [
                        f"{WORKERS}:10: +def _added_by_a_mutant():",
                        f"{WORKERS}:11: +    import contextlib",
                        f"{WORKERS}:12: +    with contextlib.suppress(ModuleNotFoundError):",
                        f"{WORKERS}:13: +        from spare_of_a_mutant import anything",
                    ],
                ),
            ],
        ),
        (
            "extra-evidenced",
            [
                (
                    "extra-added",
                    [
                        f'{LEAF}:2: -    "pkg.workers.A": ["alpha"],',
                        f'{LEAF}:2: +    "pkg.workers.A": ["alpha", "spare-of-a-mutant"],',
                    ],
                ),
                ("comment-stale", [f"{LEAF}:2: +    # Needs spare-of-a-mutant."]),
            ],
        ),
    ],
)
def test_a_guard_has_mutants_where_an_actor_has_every_extra(
    guarded: Guarded, guard: str, expected: list[tuple[str, list[str]]]
) -> None:
    found = guarded(FILES).mutants(guard)[: len(expected)]
    assert found == [("pkg.workers.A", shape, "\n".join([DECLARED, *lines])) for shape, lines in expected]


@pytest.mark.parametrize(
    "pyproject",
    [
        PYPROJECT,
        PYPROJECT.replace("[project.opt", "  [project.opt").replace("\n", "\r\n"),
        PYPROJECT.replace('dependencies = ["ray"]', 'dependencies = ["ray", "six"]'),
    ],
)
def test_it_stands_below_the_header_of_the_table(guarded: Guarded, pyproject: str) -> None:
    project = guarded({**FILES, "pyproject.toml": pyproject}).project
    lines = pyproject.split("\n")
    lines.insert(6, 'spare-of-a-mutant = ["spare-of-a-mutant"]')
    assert with_spare_extra(project) == {"pyproject.toml": "\n".join(lines)}


LOCK = """\
version = 1
requires-python = ">=3.11"

[[package]]
name = "small"
version = "1"
source = { virtual = "." }
dependencies = [{ name = "ray" }]

[package.optional-dependencies]
alpha = [{ name = "six" }]

[[package]]
name = "ray"
version = "2"

[[package]]
name = "six"
version = "1"
"""
UNDECLARABLE = {
    "a lock decides": {
        "pyproject.toml": PYPROJECT.replace("docs = []", 'docs = []\nlock = "uv.lock"'),
        "uv.lock": LOCK,
    },
    "it is there": {"pyproject.toml": PYPROJECT.replace('["ray"]', '["ray", "spare-of-a-mutant"]')},
    "no table of its own": {
        "pyproject.toml": PYPROJECT.replace("[project.optional-dependencies]\nalpha", "optional-dependencies.alpha"),
    },
}


@pytest.mark.parametrize("files", UNDECLARABLE.values(), ids=UNDECLARABLE)
def test_where_none_can_be_declared_there_are_no_such_mutants(guarded: Guarded, files: dict[str, str]) -> None:
    whole = guarded({**FILES, **files})
    assert with_spare_extra(whole.project) is None
    assert foreign_import(whole.project, []) is None
    assert whole.mutants("guarded-import-provided") == whole.mutants("extra-evidenced") == []
    assert {shape for _, shape, _ in whole.mutants("import-provided")} == {"extra-dropped"}


def test_a_name_that_there_is_needs_nothing_declared(guarded: Guarded) -> None:
    assert foreign_import(guarded(FILES).project, iter(["one", "two"])) == ("one", {})
