"""Which guards there are, and which of them a project has a source for."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import types
from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs import guards
from pytest_actor_envs.model import ConfigurationError, Guard

Sample = Callable[..., Any]
LEAF = "sample/actor_environments.py"


def a_guard(name: str, mutants: Any = lambda project: ()) -> Guard:
    return Guard(name, lambda project: (), lambda project, subject: (), mutants)


def test_guards_are_returned_as_given() -> None:
    one, two = a_guard("one"), a_guard("two")
    assert guards.checked([one, two]) == (one, two)


def test_what_is_no_guard_cannot_be_registered() -> None:
    with pytest.raises(ConfigurationError, match=r"^'x' in the entry points actor_envs.guards is no Guard$"):
        guards.checked(["x"])  # type: ignore[list-item]


def test_a_guard_without_mutants_cannot_be_registered() -> None:
    message = "^guard one has no mutants: a guard that is never seen to fail proves nothing$"
    with pytest.raises(ConfigurationError, match=message):
        guards.checked([a_guard("one", None)])


def test_two_guards_of_one_name_cannot_be_registered() -> None:
    with pytest.raises(ConfigurationError, match=r"^two guards are named one$"):
        guards.checked([a_guard("one"), a_guard("two"), a_guard("one")])


def test_guards_of_some_families_and_of_other_distributions(monkeypatch: pytest.MonkeyPatch) -> None:
    other = a_guard("of-somebody-else")

    def entry_points(group: str) -> list[Any]:
        assert group == "actor_envs.guards"
        return [types.SimpleNamespace(load=lambda: other)]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    loaded = guards.load_guards(["script"])
    assert [guard.name for guard in loaded] == [
        "script-mirrors-registry",
        "script-rejects-unknown-argument",
        "script-skips-by-extra",
        "script-stages-partition",
        "of-somebody-else",
    ]
    assert {guard.family for guard in loaded[:-1]} == {"script"}


@pytest.mark.parametrize("owner", ["somebody", None])
def test_a_guard_of_another_distribution_that_cannot_be_imported(
    monkeypatch: pytest.MonkeyPatch, owner: str | None
) -> None:
    def load() -> Any:
        raise ModuleNotFoundError("no x")

    distribution = types.SimpleNamespace(name=owner) if owner else None
    broken = types.SimpleNamespace(load=load, name="one", value="x:ONE", dist=distribution)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [broken])
    with pytest.raises(ConfigurationError) as error:
        guards.load_guards(["script"])
    named = owner or "unknown"
    assert str(error.value) == (
        f"guard one of the distribution {named} cannot be imported: ModuleNotFoundError('no x')\n"
        f"    mend x:ONE, or uninstall {named}"
    )


def test_every_family_is_its_folder_and_every_guard_has_its_files_name() -> None:
    loaded = guards.load_guards()
    listed = [(family, name.replace("_", "-")) for family, names in guards.FAMILIES.items() for name in names]
    assert [(guard.family, guard.name) for guard in loaded] == listed


def test_the_families_that_a_project_has_a_source_for(sample: Sample) -> None:
    every = sample().project
    config = every.config
    for part, family, reason in (
        ({"registry": None}, "registry", "no registry"),
        ({"fingerprint": None}, "fingerprint", "no fingerprint script"),
        ({"dockerfiles": ()}, "image", "no Dockerfile"),
        ({"docs": ()}, "docs", "no documentation"),
    ):
        sources = {"docs": ("docs/x.md",), "dockerfiles": ("docker/Dockerfile",), **part}
        every.config = dataclasses.replace(config, **sources)
        missing = dict(guards.inactive_families(every))
        assert missing == {family: reason}
        assert guards.active_families(every) == tuple(name for name in guards.FAMILIES if name != family)


def test_a_leaf_that_is_no_script_has_no_guards_of_one(sample: Sample) -> None:
    table_only = 'ACTOR_ENVIRONMENTS = {"sample.workers.First": ["alpha"]}\n'
    assert dict(guards.inactive_families(sample({LEAF: table_only}).project))["script"] == "the leaf prints nothing"
    for script in ("def main(argv):\n    return 0\n", 'if __name__ == "__main__":\n    print()\n'):
        assert "script" not in dict(guards.inactive_families(sample({LEAF: table_only + script}).project))


def test_guards_whose_own_source_is_missing(sample: Sample) -> None:
    bare = sample().project
    assert guards.inactive_guards(bare) == (("extra-locked", "no lock"), ("fingerprint-documented", "no page"))
    locked = sample({"uv.lock": ""}).project
    assert guards.inactive_guards(locked) == (("fingerprint-documented", "no page"),)
    locked.config = dataclasses.replace(locked.config, fingerprint_page="docs/x.md")
    assert guards.inactive_guards(locked) == ()
    locked.config = dataclasses.replace(locked.config, fingerprint_page=None, fingerprint=None)
    assert guards.inactive_guards(locked) == ()


def test_active_guards_are_those_of_active_families_with_their_own_source(sample: Sample) -> None:
    bare = sample().project
    off = {family for family, _ in guards.inactive_families(bare)}
    loaded = guards.load_guards()
    assert off == {"image", "docs"}
    assert guards.active_guards(bare, loaded) == tuple(
        guard
        for guard in loaded
        if guard.family not in off and guard.name not in ("extra-locked", "fingerprint-documented")
    )
