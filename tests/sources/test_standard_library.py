"""Which Pythons have which modules, as their documentation of what is new says."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.standard_library import ever_in_standard_library, in_standard_library, missing_versions

ALL = [(3, minor) for minor in range(8, 15)]


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("json", []),
        ("graphlib", ALL[:1]),
        ("tomllib", ALL[:3]),
        ("annotationlib", ALL[:6]),
        ("dummy_threading", ALL[1:]),
        ("parser", ALL[2:]),
        ("binhex", ALL[3:]),
        ("distutils", ALL[4:]),
        ("cgi", ALL[5:]),
        ("numpy", ALL),
    ],
)
def test_the_versions_that_lack_a_module(name: str, missing: list[tuple[int, int]]) -> None:
    assert missing_versions(name, (3, 8), (3, 14)) == missing
    assert ever_in_standard_library(name) is (missing != ALL)
    for version in ALL:
        assert missing_versions(name, version, version) == [version] * (version in missing)
        assert in_standard_library(f"{name}.x.y", version) is in_standard_library(name, version)
        assert in_standard_library(name, version) is (version not in missing)


def test_what_is_imported_from_the_future_is_always_there() -> None:
    assert in_standard_library("__future__", (3, 8)) is True
    assert missing_versions("json", (3, 9), (3, 8)) == []
