"""Which extras install nothing on an interpreter."""

import pathlib

import pytest
from packaging.markers import Marker

from nemo_rl.distributed.driver_settings import PROJECT_ROOT
from nemo_rl.utils.doubtful_extras import doubtful_extras
from nemo_rl.utils.excluded_extras import (
    ExcludedExtraError,
    excluding_markers,
    markers_of,
    needed,
    reject_excluded_extras,
)

PROJECT = """
[project]
name = "Some.Project"
[project.optional-dependencies]
all_new = ["a; python_version >= '3.12'", "b; python_full_version >= '3.12.3' and implementation_name == 'cpython'"]
some-new = ["a; python_version >= '3.12'", "b"]
nothing = []
through = ["some_project[all-new]"]
through-some = ["some_project[all-new, some-new]"]
circle = ["some-project[circle]"]
pypy = ["a; platform_python_implementation == 'PyPy'"]
"""


def reject(folder: pathlib.Path, extra: str, interpreter: str) -> None:
    (folder / "pyproject.toml").write_text(PROJECT)
    reject_excluded_extras(folder, ["nothing", extra], interpreter)


@pytest.mark.parametrize(
    ("extra", "interpreter"),
    [
        ("all_new", "CPython 3.12.3 /python"),
        ("all_new", "CPython 3.12.1 /python"),
        ("some-new", "CPython 3.11.7 /python"),
        ("through", "CPython 3.13.0 /python"),
        ("through-some", "CPython 3.11.7 /python"),
        ("circle", "CPython 3.11.7 /python"),
        ("pypy", "PyPy 3.11.7 /python"),
        ("unknown", "CPython 3.11.7 /python"),
    ],
)
def test_an_extra_that_installs_something_or_wants_nothing_is_fine(
    tmp_path: pathlib.Path, extra: str, interpreter: str
) -> None:
    reject(tmp_path, extra, interpreter)


@pytest.mark.parametrize("extra", ["all_new", "all-new", "through"])
def test_an_extra_that_markers_exclude_is_rejected_with_what_each_requirement_needs(
    tmp_path: pathlib.Path, extra: str
) -> None:
    with pytest.raises(ExcludedExtraError) as caught:
        reject(tmp_path, extra, "CPython 3.11.7 /usr/bin/python3.11")
    message = str(caught.value)
    assert f"the extra {extra!r} installs nothing on CPython 3.11.7 /usr/bin/python3.11" in message
    assert 'a needs python_version >= "3.12"' in message
    assert 'b needs python_full_version >= "3.12.3"' in message


@pytest.mark.parametrize(
    ("extra", "doubtful"),
    [
        ("all_new", True),
        ("All.New", True),
        ("some-new", False),
        ("nothing", False),
        ("unknown", False),
        ("through", True),
        ("circle", True),
        ("pypy", True),
    ],
)
def test_only_extras_without_a_plain_requirement_are_looked_at_closely(
    tmp_path: pathlib.Path, extra: str, doubtful: bool
) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    assert doubtful_extras(tmp_path, ["some-new", extra]) == ([extra] if doubtful else [])


def test_of_nemo_rl_only_the_extra_with_a_marker_is_looked_at_closely() -> None:
    assert doubtful_extras(PROJECT_ROOT, ["vllm", "nemo_gym", "mcore"]) == ["nemo_gym", "mcore"]


def test_the_implementation_counts_too(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ExcludedExtraError, match='a needs platform_python_implementation == "PyPy"'):
        reject(tmp_path, "pypy", "CPython 3.11.7 /python")


def test_nemo_gym_of_this_project_needs_a_newer_python_than_the_project() -> None:
    reject_excluded_extras(PROJECT_ROOT, ["nemo_gym"], "CPython 3.12.1 /python")
    with pytest.raises(ExcludedExtraError, match=r'nemo-gym needs python_version >= "3\.12"'):
        reject_excluded_extras(PROJECT_ROOT, ["nemo_gym"], "CPython 3.11.7 /python")


def test_markers_are_those_of_the_interpreter_that_is_described() -> None:
    assert markers_of("PyPy 3.10.14 /usr/bin/pypy3") == {
        "implementation_name": "pypy",
        "implementation_version": "3.10.14",
        "platform_python_implementation": "PyPy",
        "python_full_version": "3.10.14",
        "python_version": "3.10",
    }


def test_a_project_without_extras_has_no_doubtful_ones(tmp_path: pathlib.Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "plain"\nversion = "1"\n')
    assert doubtful_extras(tmp_path, ["a"]) == []
    reject_excluded_extras(tmp_path, ["a"], "CPython 3.11.7 /python")


@pytest.mark.parametrize(
    ("marker", "words"),
    [
        ("python_version >= '3.12' and extra == 'a'", 'python_version >= "3.12"'),
        ("extra == 'a'", 'extra == "a"'),
        ("python_version >= '3.12' or extra == 'a' or os_name == 'nt'", 'python_version >= "3.12" or os_name == "nt"'),
        ("os_name == 'nt'", 'os_name == "nt"'),
    ],
)
def test_what_a_marker_needs_besides_extras(marker: str, words: str) -> None:
    assert needed(Marker(marker)) == words


NEW = "a; python_version >= '3.12'"
OWN = {
    "new": [NEW],
    "two": [NEW, "b; python_version >= '3.13'"],
    "some": [NEW, "c"],
    "none": [],
    "through": ["the-project[new]", "The_Project[two]; python_version < '4'"],
    "deep": ["the.project[through]"],
    "chosen": ["a; extra == 'chosen'"],
    "another": ["a; extra == 'chosen'"],
    "other-project": ["other[new]"],
    "whole-project": ["the-project", NEW],
    "some-below": ["the-project[some]", NEW],
    "circle": [f"the-project[circle,{','.join(f'new{number}' for number in range(9))}]"],
    **{f"new{number}": [NEW] for number in range(9)},
}
A, B = 'a needs python_version >= "3.12"', 'b needs python_version >= "3.13"'


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("new", {A}),
        ("two", {A, B}),
        ("some", None),
        ("none", None),
        ("undeclared", None),
        ("through", {A, B}),
        ("deep", {A, B}),
        ("chosen", None),
        ("another", {'a needs extra == "chosen"'}),
        ("other-project", None),
        ("whole-project", None),
        ("some-below", None),
        ("circle", {A}),
    ],
)
def test_what_the_requirements_of_an_extra_would_need(extra: str, expected: set[str] | None) -> None:
    found = excluding_markers(extra, OWN, "the-project", markers_of("CPython 3.11.7 /python"), frozenset())
    assert (found if found is None else set(found)) == expected


def test_the_error_names_the_extra_the_interpreter_all_needs_and_the_way_out(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ExcludedExtraError) as caught:
        reject(tmp_path, "all_new", "CPython 3.11.7 /usr/bin/python3.11")
    assert str(caught.value) == (
        "the extra 'all_new' installs nothing on CPython 3.11.7 /usr/bin/python3.11: "
        'a needs python_version >= "3.12", b needs python_full_version >= "3.12.3" and implementation_name == "cpython"\n'
        "    run the driver, and with it its actors, on a Python that fits; uv itself would not complain"
    )
