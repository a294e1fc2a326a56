from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Sample = Callable[..., Any]
GUARD = "registry-mirrors-table"
REGISTRY = "sample/ray_actor_environment_registry.py"
BUILT = "ACTOR_ENVIRONMENT_REGISTRY = {name: command(extras) for name, extras in ACTOR_ENVIRONMENTS.items()}\n"
LINE = 16


def test_a_registry_that_leaves_actors_out(sample: Sample) -> None:
    broken = sample({REGISTRY: ("ENVIRONMENTS.items()}", "ENVIRONMENTS.items() if extras}")})
    assert broken.messages(GUARD) == [
        f"{REGISTRY}:{LINE}:1: ACTOR_ENVIRONMENT_REGISTRY lacks sample.workers.Third, which the table has"
    ]
    assert set(broken.not_green()) == {GUARD}


def test_a_registry_with_actors_of_its_own(sample: Sample) -> None:
    broken = sample({REGISTRY: ("{name: command", '{"sample.workers.Base": command(None)} | {name: command')})
    [finding] = broken.findings(GUARD)
    assert finding.message == "ACTOR_ENVIRONMENT_REGISTRY has sample.workers.Base, which the table does not have"
    assert "sample/actor_environments.py" in finding.fix[0]


@pytest.mark.parametrize(
    "statement",
    [
        'ACTOR_ENVIRONMENT_REGISTRY["sample.workers.First"] = command(["beta", "alpha"])',
        'ACTOR_ENVIRONMENT_REGISTRY.update({"sample.workers.First": command(["beta", "alpha"]), **{}})',
        'ACTOR_ENVIRONMENT_REGISTRY.setdefault("sample.workers.First", "")',
        'ACTOR_ENVIRONMENT_REGISTRY.__setitem__("sample.workers.First", command(["beta", "alpha"]))',
    ],
)
def test_an_entry_that_is_replaced_afterwards_even_by_its_equal(sample: Sample, statement: str) -> None:
    broken = sample({REGISTRY: (BUILT, f"{BUILT}if 'äö': {statement}\n")})
    assert broken.messages(GUARD) == [
        f"{REGISTRY}:{LINE + 1}:10: changes the entry sample.workers.First of "
        "ACTOR_ENVIRONMENT_REGISTRY after it was built"
    ]
    assert set(broken.not_green()) == {GUARD}


def test_an_entry_that_is_removed_is_reported_where_it_is(sample: Sample) -> None:
    broken = sample({REGISTRY: (BUILT, f'{BUILT}del ACTOR_ENVIRONMENT_REGISTRY["sample.workers.First"]\n')})
    assert [message.partition(": ")[0] for message in broken.messages(GUARD)] == [
        f"{REGISTRY}:{LINE}:1",
        f"{REGISTRY}:{LINE + 1}:5",
    ]


@pytest.mark.parametrize(
    "statements",
    [
        "ACTOR_ENVIRONMENT_REGISTRY = {}\nfor name, extras in ACTOR_ENVIRONMENTS.items():\n"
        "    ACTOR_ENVIRONMENT_REGISTRY[name] = command(extras)\n",
        "ACTOR_ENVIRONMENT_REGISTRY = {}\n"
        "ACTOR_ENVIRONMENT_REGISTRY.update({n: command(e) for n, e in ACTOR_ENVIRONMENTS.items()})\n",
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
