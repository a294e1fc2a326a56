from __future__ import annotations

import datetime
import os
import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pytest_actor_envs.sources.known_toml import KnownToml

TEXT = '[project]\nname = "a"\nnumbers = [1, 2.5]\n'
PARSED = {"project": {"name": "a", "numbers": [1, 2.5]}}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that tomllib itself parses, until the test ends."""
    texts: list[str] = []
    parse = tomllib.loads

    def loads(s: str, /, *, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
        texts.append(s)
        return parse(s, parse_float=parse_float)

    monkeypatch.setattr(tomllib, "loads", loads)
    return texts


@pytest.fixture
def known(parsed: list[str]) -> KnownToml:
    """One that stands in for tomllib until the test ends."""
    known = KnownToml()
    known.install()
    return known


def prepared(known: KnownToml, folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(text)
    os.utime(folder / "pyproject.toml", (1, 1))
    known.prepare(str(folder))


def test_who_changes_what_was_parsed_changes_nobody_elses(known: KnownToml, tmp_path: Path) -> None:
    prepared(known, tmp_path, TEXT)
    first = tomllib.loads(TEXT)
    assert first == PARSED
    first["project"].clear()
    assert tomllib.loads(TEXT) == PARSED


def test_the_text_that_is_asked_for_decides_not_the_one_that_is_known(known: KnownToml, tmp_path: Path) -> None:
    prepared(known, tmp_path, TEXT)
    assert tomllib.loads('name = "b"') == {"name": "b"}
    prepared(known, tmp_path, TEXT.replace('"a"', '"b"'))
    assert tomllib.loads(TEXT) == PARSED
    assert tomllib.loads(TEXT.replace('"a"', '"b"'))["project"]["name"] == "b"


def test_floats_are_parsed_as_one_asks(known: KnownToml, tmp_path: Path) -> None:
    prepared(known, tmp_path, TEXT)
    assert tomllib.loads(TEXT, parse_float=Decimal)["project"]["numbers"][1] == Decimal("2.5")


def test_errors_are_those_of_whoever_parses(known: KnownToml, tmp_path: Path) -> None:
    prepared(known, tmp_path, TEXT + "broken")
    with pytest.raises(tomllib.TOMLDecodeError, match="at end of document"):
        tomllib.loads(TEXT + "broken")
    with pytest.raises(TypeError):
        tomllib.loads(TEXT.encode())  # type: ignore[arg-type]


def test_a_file_with_dates_is_parsed_by_whoever_needs_it(known: KnownToml, tmp_path: Path) -> None:
    text = "day = 2020-01-02\n"
    prepared(known, tmp_path, text)
    assert tomllib.loads(text) == {"day": datetime.date(2020, 1, 2)}


def test_without_a_folder_or_a_file_nothing_is_known(known: KnownToml, tmp_path: Path) -> None:
    known.prepare(None)
    known.prepare(str(tmp_path))
    assert tomllib.loads(TEXT) == PARSED


def test_a_text_is_parsed_once(known: KnownToml, parsed: list[str], tmp_path: Path) -> None:
    for _ in range(2):
        prepared(known, tmp_path, TEXT)
        assert tomllib.loads(TEXT) == PARSED
    known.prepare(None)
    known.prepare(str(tmp_path / "gone"))
    assert tomllib.loads(TEXT) == PARSED
    assert parsed == [TEXT]


def test_the_empty_text_is_parsed_like_any(known: KnownToml, parsed: list[str], tmp_path: Path) -> None:
    assert tomllib.loads("") == {}
    prepared(known, tmp_path, "broken")
    assert tomllib.loads("") == {}
    prepared(known, tmp_path, "")
    assert tomllib.loads("") == {}
    assert parsed == ["", "broken", "", ""]
