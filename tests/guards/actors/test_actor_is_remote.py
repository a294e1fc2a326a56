from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Small = Callable[..., Any]
GUARD = "actor-is-remote"
LEAF, WORKERS = "pkg/actor_environments.py", "pkg/workers.py"
ENTRY = '    "pkg.workers.A": None,\n'


@pytest.mark.parametrize(
    "text",
    [
        "import ray\n\n@ray.remote\nclass A: pass\n",
        "import ray\n\n@ray.remote(num_cpus=1)\nclass A: pass\n",
        "import ray as r\n\n@other\n@r.remote(num_gpus=[1][0])\nclass A(Base): pass\n",
        "from ray import remote as actor\r\n\r\n@actor\r\nclass A: pass\r\n",
        "import ray\nactor = ray.remote(num_cpus=0)\n\n@actor\nclass A: pass\n",
        "import ray\n\nclass Impl: pass\nA = ray.remote(Impl)\n",
        "import ray\n\nclass Impl: pass\nA = ray.remote(num_cpus=1)(Impl)\n",
        "import ray\n\nclass Impl: pass\nA: object = ray.remote(Impl)\n",
        "import ray\n\n@ray.remote\nclass B: pass\nA = B\n",
        "import ray\nif True:\n    @ray.remote\n    class A: pass\n",
        "import ray\ntry:\n    import six\nexcept ImportError:\n    pass\nelse:\n    @ray.remote\n    class A: pass\n",
        "from pkg.other import B as A\n",
        "from .other import *\n",
    ],
)
def test_every_form_of_a_ray_actor_class(small: Small, text: str) -> None:
    other = "import ray\n\n@ray.remote\nclass B: pass\n\n@ray.remote\nclass A: pass\n"
    good = small(ENTRY, {WORKERS: text, "pkg/other.py": other})
    assert (good.report(GUARD), good.reasons(GUARD)) == ([], {})


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("class A:\n    pass\n", "1:1"),
        ("import ray\n\n@staticmethod\nclass A: pass\n", "4:1"),
        ("import ray\nif True:\n    class A: pass\n", "3:5"),
        ("import ray\n@ray.remote\nclass B: pass\n'äö'; A = len(B)\n", "4:7"),
        ("import ray\nA = ray.remote()\n", "2:1"),
        ("A = B = A\n", "1:1"),
        ("import ray\n@ray.remote\nclass A: pass\nA = object\n", "4:1"),
    ],
)
def test_what_is_no_ray_actor_class_is_a_finding_at_its_definition(small: Small, text: str, place: str) -> None:
    assert small(ENTRY, {WORKERS: text}).report(GUARD) == [
        f"{WORKERS}:{place}: pkg.workers.A is not a Ray actor class\n"
        f"    decorate A with `@ray.remote`, or name the actor class in {LEAF}:2:5"
    ]


def test_both_suggestions_make_it_green(small: Small) -> None:
    text = "import ray\n\nclass A: pass\n\nB = ray.remote(A)\n"
    assert len(small(ENTRY, {WORKERS: text}).report(GUARD)) == 1
    assert small(ENTRY, {WORKERS: text.replace("class A", "@ray.remote\nclass A")}).report(GUARD) == []
    assert small(ENTRY.replace(".A", ".B"), {WORKERS: text}).report(GUARD) == []


def test_the_definition_behind_a_re_export_is_named(small: Small) -> None:
    files = {"pkg/__init__.py": "from .workers import Plain as A\n", WORKERS: "class Plain: pass\n"}
    assert small('    "pkg.A": None,\n', files).report(GUARD) == [
        f"{WORKERS}:1:1: pkg.A is not a Ray actor class\n"
        f"    decorate Plain with `@ray.remote`, or name the actor class in {LEAF}:2:5"
    ]


def test_a_name_that_does_not_resolve_is_left_to_its_guard(small: Small) -> None:
    entries = ENTRY + '    "pkg.workers.B": None,\n'
    assert small(entries, {WORKERS: "class B: pass\n"}).reasons(GUARD) == {"pkg.workers.A": "blocked: actor-resolves"}


def test_its_mutants_take_the_decorator_away_in_every_form(small: Small) -> None:
    text = (
        "import ray\n\n@other\n@ray.remote(num_cpus=1)\nclass A: pass\n\n"
        "class Impl: pass\nB = ray.remote(num_gpus=1)(Impl)\nC = A\n"
        "def other(found): return found\n"
    )
    entries = "".join(f'    "pkg.{name}": None,\n' for name in ("workers.Gone", "workers.A", "workers.B", "workers.C"))
    project = small(entries, {WORKERS: text})
    assert project.mutants(GUARD) == [
        ("pkg.workers.A", "bound-again", f"{WORKERS}:12: +A = object"),
        (
            "pkg.workers.A",
            "decorator-gone",
            f"{WORKERS}:4: -@ray.remote(num_cpus=1)\n{WORKERS}:4: +@staticmethod",
        ),
        ("pkg.workers.B", "bound-again", f"{WORKERS}:12: +B = object"),
        (
            "pkg.workers.B",
            "assigned-plain",
            f"{WORKERS}:8: -B = ray.remote(num_gpus=1)(Impl)\n{WORKERS}:8: +B = Impl",
        ),
        ("pkg.workers.C", "bound-again", f"{WORKERS}:12: +C = object"),
    ]
