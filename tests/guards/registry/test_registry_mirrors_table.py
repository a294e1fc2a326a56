from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.guards import inactive_families
from pytest_actor_envs.guards.registry import registry_mirrors_table

Sample = Callable[..., Any]
GUARD = "registry-mirrors-table"
REGISTRY = "sample/ray_actor_environment_registry.py"
BUILT = "ACTOR_ENVIRONMENT_REGISTRY = {name: command(extras) for name, extras in ACTOR_ENVIRONMENTS.items()}\n"
LINE = 16
ADVICE = "build the registry from the table alone, in one expression"


def test_a_registry_that_leaves_actors_out(sample: Sample) -> None:
    broken = sample({REGISTRY: ("ENVIRONMENTS.items()}", "ENVIRONMENTS.items() if extras}")})
    message = "ACTOR_ENVIRONMENT_REGISTRY lacks sample.workers.Third, which the table has"
    assert broken.reports(GUARD) == [(f"{REGISTRY}:{LINE}:1", message, (ADVICE,))]
    assert set(broken.not_green()) == {GUARD}


def test_a_registry_with_actors_of_its_own(sample: Sample) -> None:
    broken = sample({REGISTRY: ("{name: command", '{"sample.workers.Base": command(None)} | {name: command')})
    [finding] = broken.findings(GUARD)
    assert finding.message == "ACTOR_ENVIRONMENT_REGISTRY has sample.workers.Base, which the table does not have"
    assert finding.fix == (f"add it to sample/actor_environments.py; {ADVICE}",)


@pytest.mark.parametrize(
    "statement",
    [
        'ACTOR_ENVIRONMENT_REGISTRY["sample.workers.First"] = command(["beta", "alpha"])',
        'ACTOR_ENVIRONMENT_REGISTRY.update({"sample.workers.First": command(["beta", "alpha"]), **{}})',
        'ACTOR_ENVIRONMENT_REGISTRY.setdefault("sample.workers.First", "")',
        'ACTOR_ENVIRONMENT_REGISTRY.__ior__({"sample.workers.First": command(["beta", "alpha"])})',
        'ACTOR_ENVIRONMENT_REGISTRY.__setitem__("sample.workers.First", command(["beta", "alpha"]))',
    ],
)
def test_an_entry_that_is_replaced_afterwards_even_by_its_equal(sample: Sample, statement: str) -> None:
    broken = sample({REGISTRY: (BUILT, f"{BUILT}if 'äö': {statement}\n")})
    message = "changes the entry sample.workers.First of ACTOR_ENVIRONMENT_REGISTRY after it was built"
    assert broken.reports(GUARD) == [(f"{REGISTRY}:{LINE + 1}:10", message, (ADVICE,))]
    assert set(broken.not_green()) == {GUARD}


def test_an_entry_that_is_removed_is_reported_where_it_is(sample: Sample) -> None:
    broken = sample({REGISTRY: (BUILT, f'{BUILT}del ACTOR_ENVIRONMENT_REGISTRY["sample.workers.First"]\n')})
    assert [message.partition(": ")[0] for message in broken.messages(GUARD)] == [
        f"{REGISTRY}:{LINE}:1",
        f"{REGISTRY}:{LINE + 1}:5",
    ]


@pytest.mark.parametrize("method", ["pop", "__delitem__"])
def test_an_entry_that_a_method_removes(sample: Sample, method: str) -> None:
    removed = f'ACTOR_ENVIRONMENT_REGISTRY.{method}("sample.workers.First")\n'
    assert [message.partition(": ")[0] for message in sample({REGISTRY: (BUILT, BUILT + removed)}).messages(GUARD)] == [
        f"{REGISTRY}:{LINE}:1",
        f"{REGISTRY}:{LINE + 1}:1",
    ]


@pytest.mark.parametrize(
    "statements",
    [
        "ACTOR_ENVIRONMENT_REGISTRY = {}\nfor name, extras in ACTOR_ENVIRONMENTS.items():\n"
        "    ACTOR_ENVIRONMENT_REGISTRY[name] = command(extras)\n",
        "ACTOR_ENVIRONMENT_REGISTRY = {}\n"
        "ACTOR_ENVIRONMENT_REGISTRY.update({n: command(e) for n, e in ACTOR_ENVIRONMENTS.items()})\n",
        f"{BUILT}for name in [3]:\n    ACTOR_ENVIRONMENT_REGISTRY.pop(name, 'sample.workers.First')\n",
        f"{BUILT}ACTOR_ENVIRONMENT_REGISTRY.get('sample.workers.First')\nprint\n",
        f"{BUILT}ACTOR_ENVIRONMENT_REGISTRY.update(dict())\nACTOR_ENVIRONMENT_REGISTRY['sample.workers.First']\n",
        f"{BUILT}(ACTOR_ENVIRONMENT_REGISTRY | {{}})['sample.workers.First'] = 1\n",
        f"{BUILT}ACTOR_ENVIRONMENT_REGISTRY.pop(3, None)\n",
        f'{BUILT}OTHER = {{}}\nOTHER["sample.workers.First"] = 1\nOTHER.update({{"sample.workers.First": 2}})\n',
    ],
)
def test_a_registry_may_be_built_in_a_loop_or_at_once(sample: Sample, statements: str) -> None:
    assert sample({REGISTRY: (BUILT, statements)}).not_green() == {}


def test_an_import_that_raises_is_one_finding_at_its_line_and_blocks_the_rest(sample: Sample) -> None:
    broken = sample({REGISTRY: (BUILT, f"{BUILT}\nraise OSError('first line\\nsecond line')\n")})
    [finding] = broken.findings(GUARD)
    assert str(finding.location) == f"{REGISTRY}:{LINE + 2}:1"
    assert finding.message == "importing the registry raised OSError: first line"
    assert finding.fix == ("second line",)
    assert broken.not_green() == {
        GUARD: "broken",
        "executable-constant-used": "blocked",
        "executable-matches-extras": "blocked",
        "registry-rejects-undeclared-extra": "blocked",
        "system-flag-honoured": "blocked",
    }


def test_a_registry_that_does_not_parse_is_reported_at_its_line(sample: Sample) -> None:
    broken = sample({REGISTRY: (BUILT, f"{BUILT}x = = 1\n")})
    assert (
        f"{REGISTRY}:{LINE + 1}:1: importing the registry raised SyntaxError: invalid syntax"
        in broken.messages(GUARD)[0]
    )


def test_what_extra_declared_rejects_is_not_reported_again(sample: Sample) -> None:
    broken = sample({"sample/actor_environments.py": ('["alpha"]', '["alpa"]')})
    assert [outcome.reason for outcome in broken.outcomes(GUARD).values()] == ["extra-declared"]


def test_a_registry_that_raises_elsewhere_is_reported_at_its_first_line(sample: Sample) -> None:
    broken = sample({REGISTRY: (BUILT, f"{BUILT}import json\n\njson.loads = exec('raise SystemExit(3)')\n")})
    assert [place for place, _, _ in broken.reports(GUARD)] == [f"{REGISTRY}:{LINE + 3}:1"]


def test_without_a_registry_the_family_is_off(sample: Sample) -> None:
    guarded = sample({REGISTRY: None})
    assert [family for family, _ in inactive_families(guarded.project) if family == "registry"] == ["registry"]
    assert list(registry_mirrors_table.subjects(guarded.project)) == []
    assert list(registry_mirrors_table.mutants(guarded.project)) == []


def test_its_mutants(sample: Sample) -> None:
    actors = [f"sample.workers.{name}" for name in ("First", "Second", "Third", "Fourth")]
    lacks = "ACTOR_ENVIRONMENT_REGISTRY lacks {}, which the table has"
    added = "ACTOR_ENVIRONMENT_REGISTRY has added.by.Somebody, which the table does not have"
    expected = [f"{REGISTRY}, entry-added: {added}"]
    expected += [f"{REGISTRY}, emptied: " + " | ".join(map(lacks.format, sorted(actors)))]
    expected += [f"{REGISTRY}, import-fails: importing the registry raised RuntimeError: not today"]
    for actor in actors:
        changed = f"changes the entry {actor} of ACTOR_ENVIRONMENT_REGISTRY after it was built"
        expected += [f"{REGISTRY}, entry-lost: {lacks.format(actor)} | {changed}"]
        expected += [f"{REGISTRY}, entry-replaced: {changed}"]
    assert sample().proofs(GUARD) == expected


def test_a_process_that_ends_is_reported_at_the_registry(sample: Sample) -> None:
    guarded = sample()
    guarded.answer("registry", {"error": {"type": "TimeoutExpired", "message": "slow", "path": None, "line": None}})
    assert guarded.reports(GUARD) == [(f"{REGISTRY}:1:1", "importing the registry raised TimeoutExpired: slow", ())]
