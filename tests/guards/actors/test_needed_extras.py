"""The entry that is suggested for a class has the extras that its imports show, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Guarded = Callable[..., Any]
LEAF, NEW = "pkg/actor_environments.py", "pkg/new.py"
TABLE = f'[tool.pytest-actor-envs]\nleaf = "{LEAF}"\ndocs = []\n'
EXTRAS = 'a = ["six"]\nB_b = ["iniconfig"]\nc = ["pluggy"]\nd = ["packaging"]\nab = ["six", "iniconfig"]\n'
ACTOR = "import ray\n\n\n@ray.remote\nclass New{bases}:\n    def run(self):\n        {body}\n"


def files(body: str, extras: str = EXTRAS, more: str = "", base: str = '"ray"', bases: str = "") -> dict[str, str]:
    """A project whose one Ray actor class, with this body of a method, is not in the table."""
    project = f'[project]\nname = "small"\ndependencies = [{base}]\n\n[project.optional-dependencies]\n{extras}\n'
    return {
        "pyproject.toml": project + more + TABLE,
        "pkg/__init__.py": "",
        LEAF: 'ACTOR_ENVIRONMENTS = {\n    "pkg.other.Plain": None,\n}\n',
        "pkg/other.py": "class Plain: pass\n",
        NEW: ACTOR.format(body=body, bases=bases),
    }


def suggested(guarded: Guarded, given: dict[str, str]) -> list[str]:
    """The suggested entry, and what is said of others."""
    [finding] = guarded(given).findings("actor-registered")
    assert finding.message == "the Ray actor class New is not in the table"
    assert finding.fix[0] == f"add it to {LEAF}, with its extras, or None for the driver's interpreter:"
    assert finding.fix[-1].startswith("or say above the class why not: ")
    return [line.strip() for line in finding.fix[1:-1]]


FOUR = "import six, iniconfig, pluggy, packaging"
PULLED = 'a = ["small[b]", "six"]\nb = ["pluggy"]\nc = ["iniconfig"]\n'


def conflict(one: str, other: str) -> str:
    return f'[tool.uv]\nconflicts = [[{{ extra = "{one}" }}, {{ extra = "{other}" }}]]\n'


@pytest.mark.parametrize(
    ("given", "value", "others"),
    [
        (files("pass"), "None", None),
        (files("import os"), "None", None),
        (files("import ray.util"), "None", None),
        (files("import pluggy"), '["c"]', None),
        (files("import pluggy.hooks, pluggy"), '["c"]', None),
        (files("import packaging, iniconfig", extras='"Z.z" = ["packaging"]\nB_b = ["iniconfig"]\n'), '["Z.z", "B_b"]', None),
        (files("import six"), '["a"]', "ab"),
        (files("import six, iniconfig"), '["ab"]', None),
        (files("import six, pluggy"), '["a", "c"]', "c, ab"),
        (files("import six, pluggy, packaging"), '["a", "c", "d"]', "c, d, ab"),
        (files("import six", extras='a = ["six"]\nb = ["six"]\nc = ["six"]\n'), '["a"]', "b; c"),
        (files(FOUR, extras=EXTRAS.partition("ab")[0]), "None", None),
        (files(FOUR), '["c", "d", "ab"]', None),
        (files("import nothing_knows_this, pluggy"), '["c"]', None),
        (files("import nothing_knows_this"), "None", None),
        (files("try: import pluggy\n        except ImportError: pluggy = None"), "None", None),
        (files("import pluggy", base='"ray", "pluggy"'), "None", None),
        (files("import six, iniconfig", extras=EXTRAS.partition("ab")[0], more=conflict("a", "b-b")), "None", None),
        (files("import six, iniconfig", more=conflict("a", "b-b")), '["ab"]', None),
        (files("import six, pluggy", more=conflict("A", "c")), '["c", "ab"]', None),
        (files("import six, iniconfig", extras=PULLED), '["a", "c"]', None),
        (files("import six, pluggy", extras=PULLED), '["a"]', None),
        (files("import six, iniconfig", extras=PULLED, more=conflict("b", "c")), "None", None),
        (files("import iniconfig", extras=PULLED, more=conflict("b", "c"), base='"ray", "small[b]"'), "None", None),
        ({**files("pass", bases="(Base)"), "pkg/base.py": "class Base:\n    def f(self): import pluggy\n"}, "None", None),
    ],
)  # fmt: skip
def test_the_smallest_sets_that_provide_all_imports_without_a_conflict(
    guarded: Guarded, given: dict[str, str], value: str, others: str | None
) -> None:
    more = [] if others is None else [f"its imports allow as well: {others}"]
    assert suggested(guarded, given) == [f'"pkg.new.New": {value},', *more]


def test_imports_of_base_classes_count(guarded: Guarded) -> None:
    given = files("pass", bases="(Base)")
    given["pkg/base.py"] = "class Base:\n    def f(self): import pluggy\n"
    given[NEW] = "from pkg.base import Base\n" + given[NEW]
    assert suggested(guarded, given) == ['"pkg.new.New": ["c"],']


def test_a_lock_that_cannot_be_read_leaves_the_extras_open(guarded: Guarded) -> None:
    assert suggested(guarded, {**files("import pluggy"), "uv.lock": "= 3"}) == ['"pkg.new.New": None,']


@pytest.mark.parametrize("body", ["pass", "import pluggy", "import six", "import six, iniconfig, packaging"])
def test_the_suggested_entry_holds_under_every_guard(guarded: Guarded, body: str) -> None:
    given = files(body)
    entry, *_ = suggested(guarded, given)
    given[LEAF] = given[LEAF].replace("}", f"    {entry}\n}}")
    mended = guarded(given)
    for guard in ("actor-registered", "actor-resolves", "extra-declared", "extra-compatible", "extra-evidenced"):
        assert (mended.report(guard), mended.reasons(guard)) == ([], {})
    assert mended.report("import-provided") == []


def test_a_class_that_is_looked_up_is_suggested_with_its_extras(guarded: Guarded) -> None:
    given = files("import pluggy")
    given[NEW] = given[NEW].replace("@ray.remote\n", "")
    given["pkg/user.py"] = 'get_actor_python_env("pkg.new.New")\n'
    [finding] = guarded(given).findings("actor-registered")
    assert finding.fix == ("add it to the table:", '    "pkg.new.New": ["c"],')
