"""Edits of Dockerfiles and scripts land where they say, whatever is written there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.guards.image.edits import (
    at_end,
    at_start,
    with_line_in_script,
    with_lines,
    with_text,
    without_lines,
)
from pytest_actor_envs.guards.image.places import stages
from pytest_actor_envs.model import Location

FILE, SCRIPT = "docker/Dockerfile", "docker/install.sh"


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("FROM a\nRUN b\n", "FROM a\nX\nY\nRUN b\n"),
        ("FROM a \\\n AS b\nRUN c\n", "FROM a \\\n AS b\nX\nY\nRUN c\n"),
        ("FROM a \\\n AS \\\n b\nRUN c\n", "FROM a \\\n AS \\\n b\nX\nY\nRUN c\n"),
        ("FROM a \\  \n AS b\nRUN c\n", "FROM a \\  \n AS b\nX\nY\nRUN c\n"),
        ("# escape=`\nFROM a `\n AS b\nRUN c\n", "# escape=`\nFROM a `\n AS b\nX\nY\nRUN c\n"),
    ],
)
def test_lines_at_the_start_stand_right_below_the_whole_from(image: Callable[..., Any], text: str, edited: str) -> None:
    project = image({FILE: text}).project
    assert at_start(project, next(stages(project)), ["X", "Y"]) == {FILE: edited}


def test_the_end_of_a_stage_without_instructions_is_its_start(image: Callable[..., Any]) -> None:
    project = image({FILE: "FROM a \\\n AS b\nFROM c\nRUN d\n"}).project
    empty, last = stages(project)
    assert at_end(project, empty, ["X"]) == {FILE: "FROM a \\\n AS b\nX\nFROM c\nRUN d\n"}
    assert at_end(project, last, ["X"]) == {FILE: "FROM a \\\n AS b\nFROM c\nRUN d\nX\n"}


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("cp a b\n", "X\ncp a b\n"),
        ("#!/bin/sh\n\n# why\nset -e\ncp a b\nset -u\n", "#!/bin/sh\n\n# why\nset -e\nX\ncp a b\nset -u\n"),
        ("#!/bin/sh\n  \nsetup\n", "#!/bin/sh\n  \nX\nsetup\n"),
        ("#!/bin/sh", "#!/bin/sh\nX"),
    ],
)
def test_a_line_of_a_script_stands_behind_comments_and_settings(
    image: Callable[..., Any], text: str, edited: str
) -> None:
    assert with_line_in_script(image({SCRIPT: text}).project, SCRIPT, "X") == {SCRIPT: edited}


def test_a_byte_order_mark_stays_first_and_moves_nothing(sample: Callable[..., Any]) -> None:
    text = "FROM a\nRUN b\n"
    project = sample({"docker/Dockerfile": f"\ufeff{text}"}).project
    unmarked = sample({"docker/Dockerfile": text}).project
    for edit in (
        lambda project: with_lines(project, "docker/Dockerfile", 1, ["ARG A", "ARG B"]),
        lambda project: with_lines(project, "docker/Dockerfile", 2, ["ARG A"]),
        lambda project: without_lines(project, "docker/Dockerfile", 1, 1),
        lambda project: without_lines(project, "docker/Dockerfile", 1, 2, ["FROM b"]),
        lambda project: with_text(project, Location("docker/Dockerfile", 1, 6), "x"),
        lambda project: with_text(project, Location("docker/Dockerfile", 2, 1), "x"),
    ):
        assert edit(project) == {"docker/Dockerfile": f"\ufeff{edit(unmarked)['docker/Dockerfile']}"}
    assert with_text(unmarked, Location("docker/Dockerfile", 1, 6), "x") == {"docker/Dockerfile": "FROM xa\nRUN b\n"}
