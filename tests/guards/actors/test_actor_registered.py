from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Small = Callable[..., Any]
GUARD = "actor-registered"
LEAF, WORKERS, USER = "pkg/actor_environments.py", "pkg/workers.py", "pkg/user.py"
REGISTRY = "pkg/ray_actor_environment_registry.py"
ENTRY = '    "pkg.workers.A": ["alpha"],\n'
ACTOR = "import ray\n\n\n@ray.remote\nclass A: pass\n"
BASE = {WORKERS: ACTOR}


def missing(place: str, name: str) -> str:
    return (
        f"{place}: the Ray actor class {name.rpartition('.')[2]} is not in the table\n"
        f"    add it to {LEAF}, with its extras, or None for the driver's interpreter:\n"
        f'        "{name}": None,\n'
        "    or say above the class why not: # actor-envs: ignore[actor-registered] ..."
    )


def unknown(place: str, name: str, *fix: str) -> str:
    return "\n    ".join([f"{place}: {name} is looked up, but the table has no such entry", *fix])


def test_each_actor_class_and_each_module_that_looks_names_up_is_a_subject(small: Small) -> None:
    good = small(
        ENTRY,
        {
            **BASE,
            "pkg/broken.py": "remote = (\n",
            USER: 'get_actor_python_env("pkg.workers.A")\n',
            "pkg/changing.py": "ACTOR_ENVIRONMENT_REGISTRY.pop('x')\n",
            "pkg/other.py": "class Plain: pass  # remote\n",
            "pkg/zlast.py": "from ray import remote\n@remote\nclass Z: pass\n",
        },
    )
    places = {
        case.subject.name: str(case.subject.location) for case in good.evaluation.cases(good.evaluation.guards[GUARD])
    }
    assert places == {
        "pkg.changing": "pkg/changing.py:1:1",
        "pkg.user": "pkg/user.py:1:1",
        "pkg.workers.A": "pkg/workers.py:5:1",
        "pkg.zlast.Z": "pkg/zlast.py:3:1",
    }


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("from ray import remote as r\n@r(num_cpus=1)\nclass New(Base): pass\n", "3:1"),
        ("import ray\r\nif True:\r\n    @ray.remote\r\n    class New: pass\r\n", "4:5"),
        ("import ray\nclass Impl: pass\n'äö'; New = ray.remote(num_cpus=1)(Impl)\n", "3:7"),
        ("import ray\nclass Impl: pass\nNew: object = ray.remote(Impl)\n", "3:1"),
        ("import ray\nwrapped = ray.remote(num_cpus=1)\n@wrapped\nclass New: pass\nOther = New\n", "4:1"),
    ],
)
def test_an_actor_class_that_the_table_lacks(small: Small, text: str, place: str) -> None:
    files = {**BASE, "pkg/new.py": text}
    assert small(ENTRY, files).report(GUARD) == [missing(f"pkg/new.py:{place}", "pkg.new.New")]
    assert small(ENTRY + '    "pkg.new.New": None,\n', files).report(GUARD) == []


def test_the_suggested_comment_exempts_a_class(small: Small) -> None:
    text = "import ray\n@ray.remote\n# actor-envs: ignore[actor-registered] its owner starts it\nclass New: pass\n"
    assert small(ENTRY, {**BASE, "pkg/new.py": text}).report(GUARD) == []


@pytest.mark.parametrize("name", ["pkg.A", "pkg.workers.B", "pkg.other.C"])
def test_a_class_is_in_the_table_under_any_name_that_resolves_to_it(small: Small, name: str) -> None:
    files = {
        WORKERS: ACTOR + "B = A\n",
        "pkg/__init__.py": "from .workers import A\n",
        "pkg/other.py": "from pkg.workers import B as C\n",
    }
    assert small(f'    "{name}": None,\n', files).report(GUARD) == []


@pytest.mark.parametrize("name", ["pkg.A", "pkg.workers.B"])
def test_a_class_that_two_entries_name_is_a_finding_until_one_is_removed(small: Small, name: str) -> None:
    files = {WORKERS: ACTOR + "B = A\n", "pkg/__init__.py": "from .workers import A\n"}
    other = f'    "{name}": None,\n'
    assert small(ENTRY + other, files).report(GUARD) == [
        f"{WORKERS}:5:1: 2 entries of the table are of the Ray actor class A: pkg.workers.A, {name}\n"
        "    keep the one that code looks up: which environment an actor has would depend on how it is named"
    ]
    assert small(ENTRY, files).report(GUARD) == []
    assert small(other, files).report(GUARD) == []


def test_a_class_of_the_same_name_elsewhere_is_another_one(small: Small) -> None:
    files = {**BASE, "pkg/other.py": ACTOR, "pkg/broken.py": "(\n"}
    entries = ENTRY + '    "pkg.broken.A": None,\n'
    assert small(entries, files).report(GUARD) == [missing("pkg/other.py:5:1", "pkg.other.A")]


@pytest.mark.parametrize("name", ["pkg.workers.AA", "pkg.worker.A", "pkg.gone.A"])
def test_a_class_that_actor_resolves_suggests_for_an_entry_waits_for_it(small: Small, name: str) -> None:
    entries = ENTRY.replace("pkg.workers.A", name)
    broken = small(entries, {**BASE, "pkg/other.py": ACTOR.replace("class A", "class Untabled")})
    assert broken.reasons(GUARD) == {"pkg.workers.A": "blocked: actor-resolves"}
    assert broken.report(GUARD) == [missing("pkg/other.py:5:1", "pkg.other.Untabled")]
    [finding] = broken.findings("actor-resolves")
    suggested = finding.fix[0].replace('"', "'").split("'")[1]
    assert small(entries.replace(name, suggested), BASE).report(GUARD) == []


def test_a_class_that_no_entry_is_taken_for_is_a_finding_beside_one_that_does_not_resolve(small: Small) -> None:
    entries = '    "elsewhere.B": None,\n    "pkg.broken.A": None,\n'
    broken = small(entries, {**BASE, "pkg/broken.py": "("})
    assert broken.report(GUARD) == [missing("pkg/workers.py:5:1", "pkg.workers.A")]


def test_an_exempt_entry_explains_nothing(small: Small) -> None:
    exempt = '    # actor-envs: ignore[actor-resolves] comes later\n    "pkg.workers.AA": None,\n'
    other = '    "elsewhere.B": None,\n'
    assert small(exempt + other, BASE).findings("actor-resolves")
    assert small(exempt + other, BASE).report(GUARD) == [missing("pkg/workers.py:5:1", "pkg.workers.A")]


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ('get_actor_python_env("pkg.workers.AB")\n', "1:22"),
        ("'ä'; reg.get_actor_python_env(fqn=\"pkg.workers.AB\")\n", "1:35"),
        ('ACTOR_ENVIRONMENT_REGISTRY["pkg.workers.AB"]\n', "1:28"),
        ('def f():\n    return ACTOR_ENVIRONMENT_REGISTRY.get("pkg.workers.AB", None)\n', "2:43"),
        ('if "pkg.workers.AB" not in ACTOR_ENVIRONMENT_REGISTRY: pass\n', "1:4"),
        ('NAME = "pkg.workers.AB"\nlaunch(NAME, 1)\n', "2:8"),
        ('class C:\n    NAME = "pkg.workers.AB"\n    def f(self): return launch(self.NAME)\n', "3:32"),
        ('from .reg import get_actor_python_env as env\nenv("pkg.workers.AB")\n', "2:5"),
    ],
)
def test_a_name_that_is_looked_up_and_not_in_the_table(small: Small, text: str, column: str) -> None:
    broken = small(ENTRY, {**BASE, USER: text})
    assert broken.report(GUARD) == [unknown(f"{USER}:{column}", "pkg.workers.AB", "did you mean 'pkg.workers.A'?")]
    assert small(ENTRY, {**BASE, USER: text.replace("workers.AB", "workers.A")}).report(GUARD) == []


def test_all_names_of_a_module_are_reported_at_once_each_with_its_own_advice(small: Small) -> None:
    text = (
        'get_actor_python_env("pkg.A")\n'
        'get_actor_python_env("quite.different")\n'
        'get_actor_python_env("")\n'
        'get_actor_python_env("pkg.broken.A")\n'
        "get_actor_python_env(some)\n"
        'get_actor_python_env("pkg.workers.A")\n'
    )
    files = {**BASE, "pkg/__init__.py": "from .workers import A\n", "pkg/broken.py": "(\n", USER: text}
    entries = '    "pkg.AB": None,\n    "pkg.workerz.B": None,\n' + ENTRY
    broken = small(entries, files)
    assert broken.report(GUARD) == [
        unknown(f"{USER}:1:22", "pkg.A", "did you mean 'pkg.workers.A'?"),
        unknown(f"{USER}:2:22", "quite.different", "add it to the table:", '    "quite.different": None,'),
        unknown(f"{USER}:3:22", "", "add it to the table:", '    "": None,'),
        unknown(f"{USER}:4:22", "pkg.broken.A", "did you mean 'pkg.workers.A'?"),
    ]
    assert broken.reasons(GUARD) == {}


def test_a_class_that_is_looked_up_and_was_never_in_the_table(small: Small) -> None:
    files = {**BASE, "pkg/b.py": "class Plain: pass\n", USER: 'get_actor_python_env("pkg.b.Plain")\n'}
    advice = ("add it to the table:", '    "pkg.b.Plain": None,')
    assert small(ENTRY, files).report(GUARD) == [unknown(f"{USER}:1:22", "pkg.b.Plain", *advice)]


def test_the_suggested_entry_makes_it_green(small: Small) -> None:
    files = {**BASE, USER: 'get_actor_python_env("quite.different")\n'}
    [line] = small(ENTRY, files).report(GUARD)
    assert small(ENTRY + line.split("\n")[-1] + "\n", files).report(GUARD) == []


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ('ACTOR_ENVIRONMENT_REGISTRY["x"] = "python"\n', "1:1"),
        ('\'ä\'; reg.ACTOR_ENVIRONMENT_REGISTRY["x"] = "python"\n', "1:6"),
        ('del ACTOR_ENVIRONMENT_REGISTRY["x"]\n', "1:5"),
        ('def f():\n    ACTOR_ENVIRONMENT_REGISTRY.update(x="y")\n', "2:5"),
        ('ACTOR_ENVIRONMENT_REGISTRY |= {"x": "y"}\n', "1:1"),
        ("from . import ray_actor_environment_registry as r\nr.ACTOR_ENVIRONMENT_REGISTRY = {}\n", "2:1"),
    ],
)
def test_a_registry_that_is_changed_elsewhere(small: Small, text: str, column: str) -> None:
    change = "; an environment that was built before does not follow\n    write the entry into " + LEAF
    files = {**BASE, REGISTRY: "from pkg.actor_environments import ACTOR_ENVIRONMENTS as T\n", USER: text}
    said = f"{USER}:{column}: ACTOR_ENVIRONMENT_REGISTRY is changed outside "
    assert small(ENTRY, files).report(GUARD) == [said + REGISTRY + change]
    del files[REGISTRY]
    assert small(ENTRY, files).report(GUARD) == [said + "its module" + change]
    assert small(ENTRY, {**BASE, REGISTRY: text}).report(GUARD) == []


def test_what_is_looked_up_by_a_variable_is_undecided_once_for_each_module(small: Small) -> None:
    text = (
        'get_actor_python_env("pkg.workers.A")\n'
        "def f(name):\n    get_actor_python_env(name)\n    return ACTOR_ENVIRONMENT_REGISTRY[name]\nlaunch(cls)\n"
    )
    unclear = small(ENTRY, {**BASE, USER: text})
    assert unclear.reasons(GUARD) == {
        "pkg.user": f"undecided: {USER}:3:26, {USER}:4:39: "
        "what is looked up is no literal, so it cannot be compared with the table\n"
        "    if this module looks up whatever it is given, add to [tool.pytest-actor-envs] "
        f'readers: "{USER}"'
    }
    reader = small(ENTRY, {**BASE, USER: text}, f'readers = ["{USER}"]\n')
    assert (reader.reasons(GUARD), list(reader.outcomes(GUARD))) == ({}, ["pkg.user", "pkg.workers.A"])


def test_the_registry_itself_looks_variables_up(small: Small) -> None:
    text = "REG = {}\ndef get(name):\n    return ACTOR_ENVIRONMENT_REGISTRY[name]\n"
    good = small(ENTRY, {**BASE, REGISTRY: text})
    assert (good.reasons(GUARD), good.report(GUARD)) == ({}, [])
    assert "pkg.ray_actor_environment_registry" in good.outcomes(GUARD)


def test_its_mutants_lose_the_entry_and_the_name(small: Small) -> None:
    files = {
        **BASE,
        "pkg/extra.py": "import ray\n@ray.remote\nclass Untabled: pass\n",
        REGISTRY: 'get_actor_python_env(x)\nACTOR_ENVIRONMENT_REGISTRY["pkg.workers.A"]\n',
        USER: 'get_actor_python_env("pkg.workers.A")\nget_actor_python_env(x)\nlaunch("pkg.workers.A")\n',
    }
    added = 'get_actor_python_env("elsewhere.workers.NotInTheTable")'
    function = "def _added_by_a_mutant():"
    assert small(ENTRY, files).mutants(GUARD) == [
        (
            "pkg.ray_actor_environment_registry",
            "lookup-misspelt",
            f'{REGISTRY}:2: -ACTOR_ENVIRONMENT_REGISTRY["pkg.workers.A"]\n'
            f'{REGISTRY}:2: +ACTOR_ENVIRONMENT_REGISTRY["elsewhere.workers.NotInTheTable"]',
        ),
        (
            "pkg.ray_actor_environment_registry",
            "lookup-added",
            f"{REGISTRY}:5: +{function}\n{REGISTRY}:6: +    return {added}",
        ),
        (
            "pkg.ray_actor_environment_registry",
            "table-changed",
            f'{REGISTRY}:5: +{function}\n{REGISTRY}:6: +    ACTOR_ENVIRONMENTS["elsewhere.workers.NotInTheTable"] = None',
        ),
        (
            "pkg.user",
            "lookup-misspelt",
            f'{USER}:1: -get_actor_python_env("pkg.workers.A")\n{USER}:1: +{added}',
        ),
        (
            "pkg.user",
            "lookup-misspelt",
            f'{USER}:3: -launch("pkg.workers.A")\n{USER}:3: +launch("elsewhere.workers.NotInTheTable")',
        ),
        ("pkg.user", "lookup-added", f"{USER}:6: +{function}\n{USER}:7: +    return {added}"),
        (
            "pkg.user",
            "registry-changed",
            f"{USER}:6: +{function}\n"
            f'{USER}:7: +    ACTOR_ENVIRONMENT_REGISTRY["elsewhere.workers.NotInTheTable"] = "python"',
        ),
        (
            "pkg.user",
            "table-changed",
            f'{USER}:6: +{function}\n{USER}:7: +    ACTOR_ENVIRONMENTS["elsewhere.workers.NotInTheTable"] = None',
        ),
        (
            "pkg.workers.A",
            "entry-doubled",
            f'{WORKERS}:7: +AAgain = A\n{LEAF}:2: +    "pkg.workers.AAgain": ["alpha"],',
        ),
        ("pkg.workers.A", "entry-removed", f'{LEAF}:2: -    "pkg.workers.A": ["alpha"],'),
        (
            "pkg.workers.A",
            "entry-of-another",
            f'{LEAF}:2: -    "pkg.workers.A": ["alpha"],\n{LEAF}:2: +    "elsewhere.workers.NotInTheTable": ["alpha"],',
        ),
    ]


def test_the_leaf_that_changes_its_own_table_is_left_to_its_guard(small: Small) -> None:
    leaf = f"ACTOR_ENVIRONMENTS = {{\n{ENTRY}}}\nACTOR_ENVIRONMENTS.pop('x', None)\n"
    assert set(small(ENTRY, {**BASE, LEAF: leaf}).outcomes(GUARD)) == {"pkg.workers.A"}


def test_a_module_that_holds_every_word_of_the_search_is_looked_at(small: Small) -> None:
    words = 'launch, ACTOR_ENVIRONMENT_REGISTRY, ACTOR_ENVIRONMENTS\nget_actor_python_env("pkg.workers.Gone")\n'
    assert [finding.location.line for finding in small(ENTRY, {**BASE, USER: words}).findings(GUARD)] == [2]


@pytest.mark.parametrize(
    "text",
    [
        'from pkg.actor_environments import ACTOR_ENVIRONMENTS\nACTOR_ENVIRONMENTS["pkg.workers.A"] = None\n',
        "from pkg.actor_environments import ACTOR_ENVIRONMENTS as T\nT.setdefault('x', None)\n",
        "from . import actor_environments as leaf\nleaf.ACTOR_ENVIRONMENTS = {}\n",
    ],
)
def test_a_table_that_is_changed_elsewhere(small: Small, text: str) -> None:
    change = "; an environment that was built before does not follow\n    write the entry into " + LEAF
    for path in (USER, REGISTRY):
        broken = small(ENTRY, {**BASE, path: text})
        assert broken.report(GUARD) == [f"{path}:2:1: ACTOR_ENVIRONMENTS is changed outside {LEAF}{change}"]


@pytest.mark.parametrize(
    ("lookups", "body"),
    [
        (
            '["pkg.reg.environment_of", "pkg.reg.other"]',
            ["    from pkg.reg import environment_of", '    return environment_of("elsewhere.workers.NotInTheTable")'],
        ),
        ("[]", ['    return ACTOR_ENVIRONMENT_REGISTRY["elsewhere.workers.NotInTheTable"]']),
    ],
)
def test_its_mutants_look_up_as_the_project_does(small: Small, lookups: str, body: list[str]) -> None:
    project = small(ENTRY, {**BASE, USER: "ACTOR_ENVIRONMENT_REGISTRY.get(x)\n"}, f"lookups = {lookups}\n")
    [added] = [change for _, shape, change in project.mutants(GUARD) if shape == "lookup-added"]
    assert added.split("\n")[1:] == [f"{USER}:{5 + index}: +{line}" for index, line in enumerate(body)]
