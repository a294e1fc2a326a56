"""Which names count as misspelt, and which variables an image has by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.guards.image.near_names import (
    has_other_prefix,
    is_of_base_image,
    is_one_slip,
    near,
    project_variables,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NAME", "NAMES"),
        ("NAMES", "NAME"),
        ("NXME", "NAME"),
        ("NMAE", "NAME"),
        ("NAEM", "NAME"),
        ("ANME", "NAME"),
        ("XNAME", "NAME"),
        ("NAME", "XNAME"),
        ("NMAE_X", "NAME_X"),
        ("A1XB", "A1YB"),
    ],
)
def test_one_letter_added_lost_changed_or_swapped_is_a_slip(one: str, other: str) -> None:
    assert is_one_slip(one, other) is True


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NXYE", "NAME"),
        ("NAMEXY", "NAME"),
        ("NAME", "NAMEXY"),
        ("MNEA", "NAME"),
        ("NMAEX", "NAMEY"),
        ("NAME_1", "NAME_2"),
        ("NAME1", "NAME"),
        ("CXAB", "CABD"),
        ("NAXY", "NXAZ"),
    ],
)
def test_two_changes_and_other_digits_are_no_slip(one: str, other: str) -> None:
    assert is_one_slip(one, other) is False


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NRL_SKIP_DEPS", "NEMORL_SKIP_DEPS"),
        ("NEMORL_SKIP_DEPS", "NRL_SKIP_DEPS"),
        ("NEMO_RL_SKIP_DEPS", "NEMORL_SKIP_DEPS"),
        ("NRL_ALL_SKIP_DEPS", "NEMORLALL_ALL_SKIP_DEPS"),
        ("N_RL_SKIP_DEPS", "NEMORL_SKIP_DEPS"),
        ("NEMORL_SKIP_DEPS", "N_RL_SKIP_DEPS"),
        ("NL_SKIP_DEPS", "NEL_SKIP_DEPS"),
    ],
)
def test_a_prefix_with_letters_left_out_is_the_same_prefix(one: str, other: str) -> None:
    assert has_other_prefix(one, other) is True


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NRL_DEPS", "NEMORL_DEPS"),
        ("NRL_KEEP_DEPS", "NEMORL_SKIP_DEPS"),
        ("RL_SKIP_DEPS", "NEMORL_SKIP_DEPS"),
        ("NXL_SKIP_DEPS", "NEMORL_SKIP_DEPS"),
        ("NLR_SKIP_DEPS", "NEMORL_SKIP_DEPS"),
        ("N_SKIP_DEPS", "NEMORL_SKIP_DEPS"),
        ("SKIP_DEPS", "NEMORL_SKIP_DEPS"),
        ("NEMORL_SKIP_DEPS", "SKIP_DEPS"),
    ],
)
def test_another_prefix_is_another_name(one: str, other: str) -> None:
    assert has_other_prefix(one, other) is False


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("NAMED", ["NAMES", "NAMEL"], "NAMEL"),
        ("NAME", ["NAMES"], None),
        ("NAMES", ["NAME"], None),
        ("NAMES", ["NAMES"], None),
        ("NAMES", ["NAMED"], "NAMED"),
        ("NRL_SKIP_DEPS", ["NEMORL_SKIP_DEPS"], "NEMORL_SKIP_DEPS"),
        ("NRL_SKIP_DEPS", ["NEMORL_SKIP_DEPS", "NRL_SKIP_DEP"], "NRL_SKIP_DEP"),
        ("NRL_SKIP_DEPS", ["MAX_JOBS"], None),
        ("NRL_SKIP_DEPS", [], None),
    ],
)
def test_the_name_that_is_meant_is_nearest_and_long_enough(name: str, known: list[str], meant: str | None) -> None:
    assert near(name, known) == meant


@pytest.mark.parametrize(
    ("name", "is_set"),
    [
        ("HTTP_PROXY", True),
        ("http_proxy", True),
        ("CUDA_HOME", True),
        ("PATH", True),
        ("cuda_home", False),
        ("X", False),
    ],
)
def test_base_images_shells_and_the_builder_set_variables(name: str, is_set: bool) -> None:
    assert is_of_base_image(name) is is_set


def test_what_stands_in_quotes_in_every_python_file_of_the_packages_is_a_variable(image: Callable[..., Any]) -> None:
    without = project_variables(image().project)
    project = image(
        {
            "sample/one.py": '# coding: "ONE_NAME", \'TWO_NAMES\', "NAME", THREE_NAMES\n',
            "sample/other.py": 'X = "OTHER_NAME"  # é\n',
            "sample/text.txt": '"TEXT_NAME"\n',
            "other/module.py": '"OUTSIDE_NAME"\n',
        }
    ).project
    assert project_variables(project) - without == {"ONE_NAME", "TWO_NAMES", "OTHER_NAME"}
