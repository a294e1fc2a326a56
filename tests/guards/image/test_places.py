"""Stages and RUNs as subjects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_actor_envs.guards.image.places import RunPlace, StagePlace, runs_of, stages
from pytest_actor_envs.model import Location

FILE = "docker/Dockerfile"


def test_a_stage_is_named_and_stands_at_its_from(image: Callable[..., Any]) -> None:
    deps, release = stages(image().project)
    assert deps == StagePlace(FILE, 0, f"{FILE}[deps]", Location(FILE, 1, 1))
    assert release == StagePlace(FILE, 1, f"{FILE}[release]", Location(FILE, 13, 1))


def test_runs_are_counted_within_their_stage(image: Callable[..., Any]) -> None:
    project = image().project
    found = [run for place in stages(project) for run in runs_of(project, place)]
    assert found == [RunPlace(FILE, 0, 1), RunPlace(FILE, 0, 2), RunPlace(FILE, 1, 1)]
