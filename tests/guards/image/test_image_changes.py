"""Which lines each mutant of the guards of images adds and takes away: `changes.txt` lists them by guard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.guards.image.test_image_mutants import FORMS

SECTIONS = dict(
    section.split("\n", 1)
    for section in Path(__file__).with_name("changes.txt").read_text().removeprefix("## ").split("\n\n## ")
)


def expected(section: str) -> list[str]:
    return SECTIONS[section].rstrip("\n").split("\n")


@pytest.mark.parametrize("guard", sorted(name for name in SECTIONS if " " not in name))
def test_what_mutants_change(image: Callable[..., Any], guard: str) -> None:
    assert image().changes(guard) == expected(guard)


def test_code_is_put_first_in_a_run_of_any_form(image: Callable[..., Any]) -> None:
    found = image({"docker/Dockerfile": FORMS}).changes("image-fails-fast")
    listed, is_wanted = [], False
    for line in found:
        if ", " in line and not line.startswith("docker/Dockerfile:"):
            is_wanted = line.endswith(", goes-on") or "[other]" in line
        if is_wanted:
            listed.append(line)
    assert listed == expected("image-fails-fast forms")
