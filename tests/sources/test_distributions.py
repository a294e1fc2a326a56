"""Which distribution provides a name: by configuration, known names, what is installed, and the table, in this order."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from pytest_actor_envs.sources import distributions
from pytest_actor_envs.sources.distributions import Distributions

CONFIGURED = {"a.b": "For_AB", "a": "for-a", "yaml": "other-yaml"}
KNOWN = ("known", "known-more", "megatron", "pytest-x")


@pytest.mark.parametrize(
    ("dotted", "expected"),
    [
        ("a.b.c", {"for-ab"}),
        ("a.c", {"for-a"}),
        ("yaml.nodes", {"other-yaml"}),
        ("known", {"known"}),
        ("known.more", {"known"}),
        ("known_more.x", {"known-more"}),
        ("megatron.core", {"megatron"}),
        ("pytest.x", {"pytest-x"}),
        ("PIL.Image", {"pillow"}),
        ("google.protobuf.any", {"protobuf"}),
        ("google.nowhere", set()),
        ("nobody_knows.x", set()),
        ("_pytest.config", {"pytest"}),
    ],
)
def test_a_name_is_provided(dotted: str, expected: set[str]) -> None:
    found = Distributions(CONFIGURED, KNOWN)
    assert found.of(dotted) == expected
    assert found.of(dotted) == expected


def install(folder: Path, name: str, files: list[str], imports: str = "") -> None:
    info = folder / f"{name.replace('-', '_')}-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.5\nName: {name}\nVersion: 1\n{imports}\nImport-Name: in_text\n"
    )
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    install(tmp_path, "Shared_One", ["shared_ns/one/__init__.py", "shared_ns/single.py"])
    install(tmp_path, "shared-two", ["shared_ns/two/__init__.py", "shared_ns/oneness.py"])
    install(tmp_path, "whole", ["whole_ns/__init__.py", "whole_ns/part.py"])
    install(tmp_path, "flat", ["flat_module.py"])
    install(tmp_path, "Declares_It", ["x/y.py"], "Import-Name: said.here ; private\nImport-Name: \nOther: said.other\n")
    install(tmp_path, "declares-too", ["x/z.py"], "Import-Name: said.here\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for answers in (distributions._top_levels, distributions._declared_names):
        monkeypatch.setattr(distributions, answers.__name__, answers.__wrapped__)
    return tmp_path


@pytest.mark.parametrize(
    ("dotted", "expected"),
    [
        ("shared_ns", {"shared-one", "shared-two"}),
        ("shared_ns.one", {"shared-one"}),
        ("shared_ns.one.deeper", {"shared-one"}),
        ("shared_ns.two", {"shared-two"}),
        ("shared_ns.single", {"shared-one"}),
        ("shared_ns.none", set()),
        ("whole_ns.anything", {"whole"}),
        ("flat_module.anything", {"flat"}),
        ("said.here.below", {"declares-it", "declares-too"}),
        ("said.other", set()),
        ("in_text", set()),
    ],
)
def test_an_installed_distribution_provides(installed: Path, dotted: str, expected: set[str]) -> None:
    assert importlib.metadata.version("flat") == "1"
    assert Distributions({}, ()).of(dotted) == expected
