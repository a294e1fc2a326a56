from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.guards import observation
from pytest_actor_envs.model import Blocked, Finding, Location
from pytest_actor_envs.observed import Raised

Sample = Callable[..., Any]
LEAF, REGISTRY, EXECUTABLES = (
    "sample/actor_environments.py",
    "sample/ray_actor_environment_registry.py",
    "sample/py_executables.py",
)


def test_the_calls_of_the_script(sample: Sample) -> None:
    assert observation.script_calls(sample().project) == [
        ["all"],
        ["deps"],
        ["trtllm"],
        ["all", "alpha"],
        ["all", "beta"],
        ["all", "trtllm"],
        ["all", "alpha", "beta"],
        ["all", "alpha", "beta", "trtllm"],
        ["no-such-stage"],
        ["all", "no-such-extra"],
        ["all", "alpha", "no-such-extra"],
        ["all", "idle"],
    ]


def test_unknown_extras_where_no_entry_has_any_and_none_is_left(sample: Sample) -> None:
    text = sample().project.tree.read_text(LEAF)
    for value in ('["beta", "alpha"]', '["alpha"]', '["trtllm"]'):
        text = text.replace(value, "None")
    nobody = sample({LEAF: text}).project
    assert observation.table_extras(nobody) == []
    assert observation.unknown_calls(nobody) == {
        "stage": [["no-such-stage"]],
        "extra": [["all", "no-such-extra"], ["all", "no-such-extra"], ["all", "alpha"]],
    }
    used = sample({LEAF: ('"sample.workers.Third": None', '"sample.workers.Third": ["idle"]')}).project
    assert observation.unknown_calls(used)["extra"] == [["all", "no-such-extra"], ["all", "alpha", "no-such-extra"]]


def test_the_rows_that_a_table_gives(sample: Sample) -> None:
    assert observation.expected_rows(sample().project) == [
        ("sample.workers.First", "deps", "--extra beta --extra alpha"),
        ("sample.workers.Fourth", "trtllm", "--extra trtllm"),
        ("sample.workers.Second", "deps", "--extra alpha"),
    ]


@pytest.mark.parametrize(
    ("output", "rows"),
    [
        ("", []),
        ("a\tb\tc\n", [("a", "b", "c")]),
        ("a\tb\tc\td\nx\n", [("a", "b", "c\td"), ("x", "", "")]),
        ("a\tb\n\n", [("a", "b", ""), ("", "", "")]),
        ("a\tb\tc", [("a", "b", "c")]),
    ],
)
def test_the_rows_that_a_script_printed(output: str, rows: list[tuple[str, str, str]]) -> None:
    assert observation.printed_rows(output) == rows


def test_what_the_registry_shows(sample: Sample) -> None:
    project = sample().project
    plain = observation.registry_observation(project)
    assert sorted(plain) == ["constants", "registry", "system"]
    assert plain["registry"]["sample.workers.Second"] == "uv run --locked --extra alpha --directory /project"
    assert sorted(plain["constants"]) == ["ALPHA", "BASE", "BETA_ALPHA", "SYSTEM", "TRTLLM"]
    flagged = observation.registry_observation(project, system_flag=True)
    assert set(flagged["registry"].values()) == {flagged["system"]}
    assert observation.registry_results(project) == plain


def test_a_registry_under_other_names(sample: Sample) -> None:
    names = 'registry = "sample/registry.py"\nregistry-name = "COMMANDS"\nexecutables-name = "Lines"\n'
    text = sample().project.tree.read_text(REGISTRY)
    edits = {
        "pyproject.toml": ("docs = []", f"docs = []\n{names}"),
        "sample/registry.py": text.replace("ACTOR_ENVIRONMENT_REGISTRY", "COMMANDS"),
        REGISTRY: None,
        EXECUTABLES: ("class PY_EXECUTABLES", "class Lines"),
    }
    observed = observation.registry_observation(sample(edits).project)
    assert (len(observed["registry"]), len(observed["constants"])) == (4, 5)


def test_a_project_without_executables_has_no_constants(sample: Sample) -> None:
    alone = "from sample.actor_environments import ACTOR_ENVIRONMENTS\n\nACTOR_ENVIRONMENT_REGISTRY = {}\n"
    observed = observation.registry_observation(sample({EXECUTABLES: None, REGISTRY: alone}).project)
    assert observed["constants"] == {}


def test_what_raises_blocks_the_guards_that_do_not_report_it(sample: Sample) -> None:
    raising = sample({REGISTRY: ("DECLARED = {", "raise OSError('no')\n\nDECLARED = {")}).project
    with pytest.raises(Blocked, match=r"^registry-mirrors-table$"):
        observation.registry_results(raising)
    misspelt = sample({LEAF: ('["alpha"]', '["alpa"]')}).project
    with pytest.raises(Blocked, match=r"^extra-declared$"):
        observation.registry_results(misspelt)
    leaf = sample({LEAF: ("import sys\n\n", "import sys\n\nraise OSError\n\n")}).project
    with pytest.raises(Blocked, match=r"^script-mirrors-registry$"):
        observation.script_results(leaf)


def test_what_a_call_of_the_script_gave(sample: Sample) -> None:
    results = observation.script_results(sample().project)
    assert observation.call(results, ["all", "idle"]) == {"stdout": "", "stderr": "unknown\n", "code": 2}


@pytest.mark.parametrize(
    ("raised", "finding"),
    [
        (
            Raised("ValueError", "one\n  two \nthree", Location("a.py", 3)),
            Finding(Location("a.py", 3), "doing it raised ValueError: one", ("two", "three")),
        ),
        (Raised("OSError", "", None), Finding(Location("b.py"), "doing it raised OSError: ", ())),
    ],
)
def test_the_finding_of_what_was_raised(raised: Raised, finding: Finding) -> None:
    assert observation.raised_finding(raised, "b.py", "doing it") == finding


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\n\n\ndef it():\n    pass\n", 4),
        ("its = 1\nit = 2\n", 2),
        ("def item(): ...\nit: int = 2\nit = 3\n", 2),
        ("item = 1\nit=2\n", 2),
        ("class item: ...\nclass it:\n    pass\n", 2),
        ("class items(dict): ...\nclass it(dict):\n    pass\n", 2),
        ("x = 1\n    def it(): ...\n", 1),
    ],
)
def test_where_a_name_is_defined(sample: Sample, text: str, line: int) -> None:
    assert observation.function_location(sample({"sample/x.txt": text}).project, "sample/x.txt", "it") == Location(
        "sample/x.txt", line
    )


def test_a_name_in_a_file_that_is_not_there(sample: Sample) -> None:
    assert observation.function_location(sample().project, "sample/no.py", "it") == Location("sample/no.py")
