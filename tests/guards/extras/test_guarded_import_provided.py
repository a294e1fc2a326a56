from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pytest_actor_envs.model import Verdict

Small = Callable[..., Any]
GUARD = "guarded-import-provided"
LEAF, WORKERS, HELPER = "pkg/actor_environments.py", "pkg/workers.py", "pkg/helper.py"
CLASS = "import ray\n{}\n\n@ray.remote\nclass A: pass\n\n\n@ray.remote\nclass B: pass\n"
TABLE = '    "pkg.workers.A": ["beta"],\n    "pkg.workers.B": None,\n'
TRIED = "try:\n    import six\nexcept ImportError:\n    six = None"


def project(small: Small, body: str, files: Mapping[str, str] | None = None, table: str = TABLE, more: str = "") -> Any:
    return small(table, {WORKERS: CLASS.format(body), **(files or {})}, more)


def off(place: str, name: str, distribution: str, chain: str, advice: str, actor: str = "A") -> str:
    return (
        f"{place}: no actor that reaches this import of {name} has {distribution}, so what it is for is off, silently\n"
        f"    {actor} imports it by way of {chain}\n"
        f"    {advice} one of them, or remove the import\n"
        "    if the base image has it, add to [tool.pytest-actor-envs.image-provides]: "
        f'{name.partition(".")[0]} = "why"'
    )


def six(place: str = f"{WORKERS}:3:12", chain: str = "", name: str = "six") -> list[str]:
    return [off(place, name, "six", f"{chain}{place}", "add the extra alpha to", actor) for actor in ("A", "B")]


@pytest.mark.parametrize(
    ("body", "place", "name"),
    [
        (TRIED, "3:12", "six"),
        ("try:\n    from six.moves import urllib\nexcept ModuleNotFoundError:\n    pass", "3:5", "six.moves.urllib"),
        ("import contextlib\nwith contextlib.suppress(ImportError):\n    import six.moves", "4:12", "six.moves"),
        ("try:\n    'ä'; import six\nexcept (OSError, ImportError):\n    pass", "3:17", "six"),
        (
            "class C:\n    def f(self):\n        try:\n            import six\n        except Exception: pass",
            "5:20",
            "six",
        ),
        ("try:\n    pass\nexcept ImportError:\n    import six", "5:12", "six"),
    ],
)
def test_a_tried_import_that_no_actor_has(small: Small, body: str, place: str, name: str) -> None:
    assert project(small, body).report(GUARD) == six(f"{WORKERS}:{place}", name=name)


@pytest.mark.parametrize("extras", ['["alpha"]', '["beta", "alpha"]'])
def test_one_actor_that_has_it_suffices(small: Small, extras: str) -> None:
    good = project(small, TRIED, table=TABLE.replace("None", extras))
    assert {outcome.verdict for outcome in good.outcomes(GUARD).values()} == {Verdict.HOLDS}
    assert len(good.outcomes(GUARD)) == 2


def test_an_actor_that_does_not_reach_it_does_not_count(small: Small) -> None:
    files = {"pkg/other.py": CLASS.format(""), HELPER: f"def f():\n    pass\n{TRIED}\n"}
    table = TABLE + '    "pkg.other.A": ["alpha"],\n'
    broken = project(small, "from . import helper", files, table)
    assert broken.report(GUARD) == six(f"{HELPER}:4:12", f"{WORKERS}:2:1 -> ")


def test_a_function_of_a_helper_is_not_reached_and_one_of_an_own_module_is_by_its_own_actors_only(small: Small) -> None:
    function = "def f():\n    try:\n        import six\n    except ImportError: pass"
    files = {HELPER: f"{function}\n", "pkg/other.py": CLASS.format("from pkg import workers")}
    assert project(small, "from . import helper", files).report(GUARD) == []
    table = TABLE + '    "pkg.other.A": ["alpha"],\n'
    assert project(small, function, files, table).report(GUARD) == six(f"{WORKERS}:4:16")


def test_several_extras_that_bring_it_are_offered(small: Small) -> None:
    brings = '\n[tool.pytest-actor-envs.brings]\nbeta = ["tool"]\nalpha = ["tool"]\n'
    tried = TRIED.replace("six", "tool")
    [line] = project(small, tried, table='    "pkg.workers.A": None,\n', more=brings).report(GUARD)
    advice = "add the extra alpha or beta to"
    assert line == off(f"{WORKERS}:3:12", "tool", "tool", f"{WORKERS}:3:12", advice)


def test_a_distribution_that_no_extra_brings_is_to_be_required(guarded: Callable[..., Any]) -> None:
    pyproject = (
        '[project]\nname = "p"\n[dependency-groups]\ndocs = ["six"]\n'
        '[tool.pytest-actor-envs]\nleaf = "leaf.py"\npackages = ["leaf"]\ndocs = []\n'
    )
    leaf = f'{TRIED}\nACTOR_ENVIRONMENTS = {{"leaf.A": None}}\nclass A: pass\n'
    place = "leaf.py:2:12"
    assert guarded({"pyproject.toml": pyproject, "leaf.py": leaf}).report(GUARD) == [
        off(place, "six", "six", place, "require six in an extra of")
    ]


@pytest.mark.parametrize(("listed", "green"), [("six", True), ('"six.moves"', False), ("sixth", False), ("si", False)])
def test_what_the_base_image_has_needs_no_extra(small: Small, listed: str, green: bool) -> None:
    more = f'\n[tool.pytest-actor-envs.image-provides]\nother = "x"\n{listed} = "why"\n'
    assert project(small, TRIED, more=more).report(GUARD) == ([] if green else six())
    below = TRIED.replace("import six", "import six.moves.urllib", 1)
    named = six(name="six.moves.urllib")
    assert project(small, below, more=more).report(GUARD) == ([] if listed in {"six", '"six.moves"'} else named)


@pytest.mark.parametrize(
    ("instead", "green"),
    [
        ("import json", True),
        ("from pkg import helper", True),
        ("from . import helper", True),
        ("import ray", True),
        ("import iniconfig", True),
        ("import os\n    import six.moves", True),
        ("import pluggy", False),
        ("pass", False),
        ("from nobody import knows", False),
    ],
)
@pytest.mark.parametrize("tried_first", [True, False])
def test_an_alternative_in_the_other_part_suffices(small: Small, instead: str, green: bool, tried_first: bool) -> None:
    parts = ("import six", instead) if tried_first else (instead, "import six")
    body = "try:\n    {}\nexcept ImportError:\n    {}".format(*parts)
    table = '    "pkg.workers.A": ["beta"],\n'
    brings = '\n[tool.pytest-actor-envs.brings]\nalpha = ["pluggy"]\n'
    found = project(small, body, {HELPER: ""}, table, brings)
    of_six = [finding for finding in found.findings(GUARD) if "import of six " in finding.message]
    assert (of_six == []) is green


def test_an_alternative_that_the_base_image_has_suffices(small: Small) -> None:
    body = "try:\n    import six\nexcept ImportError:\n    import apex.fused"
    more = '\n[tool.pytest-actor-envs.image-provides]\napex = "the base image has it"\n'
    good = project(small, body, more=more)
    assert (good.report(GUARD), good.reasons(GUARD)) == ([], {})


def test_the_other_part_of_another_try_is_no_alternative(small: Small) -> None:
    body = (
        "try:\n    import json\nexcept ImportError:\n    json = None\n"
        "try:\n    import six\n    import os\nexcept ImportError:\n    six = None\n"
    )
    assert project(small, body).report(GUARD) == six(f"{WORKERS}:7:12")


def test_the_innermost_try_decides(small: Small) -> None:
    body = (
        "try:\n    try:\n        import six\n    except ImportError:\n        import json\n"
        "except ImportError:\n    json = None"
    )
    assert project(small, body).report(GUARD) == []


def test_what_is_required_outright_is_left_to_the_other_guard(small: Small) -> None:
    assert project(small, "import six\nimport os\ntry:\n    import json\nexcept ImportError: pass").report(GUARD) == []


def test_what_cannot_be_judged_is_said_once_with_the_line_to_add(small: Small) -> None:
    body = (
        "try:\n    import nobody.knows, nobody\nexcept ImportError: pass\n"
        "try:\n    import yaml\nexcept ImportError: pass\n"
        "try:\n    import someone\nexcept ImportError:\n    import os\n"
        "import stranger"
    )
    unclear = project(small, body)
    modules = '    add to [tool.pytest-actor-envs.modules]: nobody = "the distribution"'
    brings = '    require it, or add to [tool.pytest-actor-envs.brings]: alpha = ["pyyaml"]'
    assert unclear.reasons(GUARD) == {
        "pkg.workers.A": (
            f"undecided: {WORKERS}:6:12: no requirement names pyyaml, which provides yaml, and there is no lock\n{brings}\n"
            f"{WORKERS}:3:12: nothing knows the distribution that provides nobody\n{modules}"
        )
    }
    image = '\n[tool.pytest-actor-envs.image-provides]\nnobody = "x"\nyaml = "y"\n'
    assert project(small, body, more=image).reasons(GUARD) == {}


def test_what_cannot_be_judged_is_said_with_the_findings_of_an_entry_that_is_broken_anyway(small: Small) -> None:
    broken = project(small, TRIED + "\ntry:\n    import nobody\nexcept ImportError: pass")
    unknown = (
        f"{WORKERS}:7:12: nothing knows the distribution that provides nobody\n"
        '    add to [tool.pytest-actor-envs.modules]: nobody = "the distribution"'
    )
    assert (broken.report(GUARD), broken.reasons(GUARD)) == ([six()[0], unknown, six()[1]], {})


def test_every_finding_is_reported_at_once_and_each_suggestion_makes_it_green(small: Small) -> None:
    body = TRIED + "\n" + TRIED.replace("six", "iniconfig")
    table = '    "pkg.workers.A": None,\n'
    first = off(f"{WORKERS}:3:12", "six", "six", f"{WORKERS}:3:12", "add the extra alpha to")
    second = off(f"{WORKERS}:7:12", "iniconfig", "iniconfig", f"{WORKERS}:7:12", "add the extra beta to")
    assert project(small, body, table=table).report(GUARD) == [first, second]
    assert project(small, body, table=table.replace("None", '["alpha", "beta"]')).report(GUARD) == []
    pasted = [line.rpartition(": ")[2] for line in (first, second)]
    more = "\n[tool.pytest-actor-envs.image-provides]\n" + "\n".join(pasted) + "\n"
    assert project(small, body, table=table, more=more).report(GUARD) == []


def test_what_other_guards_reject_is_left_to_them(small: Small) -> None:
    table = '    "pkg.workers.A": ["alfa"],\n    "pkg.workers.Gone": None,\n    "pkg.workers.B": ("alpha",),\n'
    assert project(small, "", table=table).reasons(GUARD) == {
        "pkg.workers.A": "blocked: extra-declared",
        "pkg.workers.Gone": "blocked: actor-resolves",
        "pkg.workers.B": "blocked: leaf-table-literal",
    }


def mutants_of(path: str, last: int, name: str) -> list[str]:
    return [
        f"{path}:1: +try:\n{path}:2: +    import {name}\n{path}:3: +except ImportError:\n{path}:4: +    {name} = None",
        f"{path}:{last}: +def _added_by_a_mutant():\n"
        f"{path}:{last + 1}: +    import contextlib\n"
        f"{path}:{last + 2}: +    with contextlib.suppress(ModuleNotFoundError):\n"
        f"{path}:{last + 3}: +        from {name} import anything",
    ]


def test_its_mutants_try_what_no_actor_that_reaches_the_module_has(small: Small) -> None:
    files = {WORKERS: "import ray\n@ray.remote\nclass A: pass\n", "pkg/other.py": "import ray\nB = ray.remote(x)\n"}
    table = '    "pkg.gone.G": None,\n    "pkg.workers.A": ["alpha"],\n    "pkg.other.B": None,\n'
    own, other = mutants_of(WORKERS, 6, "iniconfig"), mutants_of("pkg/other.py", 5, "six")
    assert small(table, files).mutants(GUARD) == [
        ("pkg.workers.A", "tried-at-top", own[0]),
        ("pkg.workers.A", "suppressed-in-method", own[1]),
        ("pkg.other.B", "tried-at-top", other[0]),
        ("pkg.other.B", "suppressed-in-method", other[1]),
    ]
    files["pkg/other.py"] = "from pkg.workers import A\n" + files["pkg/other.py"]
    both = small(table.replace("None,\n}", "None"), files).mutants(GUARD)
    assert [change.split("\n")[1].rpartition(" ")[2] for _, _, change in both[::2]] == ["iniconfig", "six"]
    image = '\n[tool.pytest-actor-envs.image-provides]\nsix = "x"\n'
    assert [subject for subject, _, _ in small(table, files, image).mutants(GUARD)] == [
        "pkg.workers.A",
        "pkg.workers.A",
        "pkg.other.B",
        "pkg.other.B",
    ]
    whole = small(table.replace("None,\n}", "None").replace('["alpha"]', '["alpha", "beta"]'), files)
    spare = [(subject, "spare-of-a-mutant" in change) for subject, _, change in whole.mutants(GUARD)]
    assert spare == [("pkg.workers.A", True)] * 2 + [("pkg.other.B", False)] * 2
