from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.guards.registry import registry_rejects_undeclared_extra as guard
from pytest_actor_envs.model import MutantDoesNotApply

Sample = Callable[..., Any]
GUARD = "registry-rejects-undeclared-extra"
LEAF, REGISTRY = "sample/actor_environments.py", "sample/ray_actor_environment_registry.py"
ACCEPTS = (
    f"{REGISTRY}:1:1: importing the registry accepts an extra that pyproject.toml does not declare: "
    "'no_such_extra_2' of "
)
UNNAMED = f"{REGISTRY}:11:1: the error for an undeclared extra does not name it: ValueError: "
CALL = "\nreject(ACTOR_ENVIRONMENTS)\n"


def test_a_call_that_is_deleted(sample: Sample) -> None:
    broken = sample({REGISTRY: (CALL, "\n")})
    assert broken.messages(GUARD) == [f"{ACCEPTS}sample.workers.First", f"{ACCEPTS}sample.workers.Fourth"]
    assert broken.findings(GUARD)[0].fix == (
        "call the function that rejects undeclared extras at the top level of the module",
    )
    assert set(broken.not_green()) == {GUARD}


def test_a_look_at_the_first_entry_only(sample: Sample) -> None:
    broken = sample({REGISTRY: ("table.items()", "list(table.items())[:1]")})
    assert broken.messages(GUARD) == [f"{ACCEPTS}sample.workers.Fourth"]


def test_a_look_at_the_first_extra_only(sample: Sample) -> None:
    broken = sample({REGISTRY: ("extras or ()", "(extras or ())[:1]")})
    assert broken.messages(GUARD) == [f"{ACCEPTS}sample.workers.First"]


def test_an_error_that_does_not_name_the_extra(sample: Sample) -> None:
    broken = sample({REGISTRY: (' + ": undeclared extra " + extra', ' + ": undeclared extra\\nsomewhere"')})
    assert broken.messages(GUARD) == [
        f"{UNNAMED}sample.workers.First: undeclared extra",
        f"{UNNAMED}sample.workers.Fourth: undeclared extra",
    ]
    assert broken.findings(GUARD)[0].fix == ("name each undeclared extra in the message",)


def test_an_error_without_a_message(sample: Sample) -> None:
    broken = sample({REGISTRY: ('raise ValueError(name + ": undeclared extra " + extra)', "raise ValueError")})
    assert broken.messages(GUARD)[0] == UNNAMED


def test_a_registry_that_looks_at_its_own_copy_of_the_table(sample: Sample) -> None:
    broken = sample({REGISTRY: (CALL, '\nreject({"sample.workers.First": ["alpha"]})\n')})
    assert len(broken.messages(GUARD)) == 2


def test_a_table_that_nobody_may_change_is_judged_like_any_other(sample: Sample) -> None:
    edits = {
        REGISTRY: ("import ACTOR_ENVIRONMENTS\n", "import ACTOR_ENVIRONMENTS as TABLE\n\nACTOR_ENVIRONMENTS = TABLE\n")
    }
    assert sample(edits).not_green() == {}


def test_a_project_whose_actors_all_run_on_the_drivers_interpreter_has_nothing_to_misspell(sample: Sample) -> None:
    text = sample().project.tree.read_text(LEAF)
    for value in ('["beta", "alpha"]', '["alpha"]', '["trtllm"]'):
        text = text.replace(value, "None")
    outcomes = sample({LEAF: text}).outcomes(GUARD)
    assert [finding.message for outcome in outcomes.values() for finding in outcome.findings] == [
        "found no place to look at, so it proves nothing"
    ]


def test_mutants_find_the_raise_wherever_it_stands(sample: Sample) -> None:
    inline = (
        CALL
        + "\nif set(sum([e or [] for e in ACTOR_ENVIRONMENTS.values()], [])) - DECLARED:\n"
        + "    raise ValueError('no_such_extra_2')\n"
    )
    project = sample({REGISTRY: (CALL, inline.replace(CALL, "\n"))}).project
    assert [mutant.shape for mutant in guard.mutants(project)] == ["raise-deleted", "extra-not-named"]
    shapes = [mutant.shape for mutant in guard.mutants(sample().project)]
    assert shapes == ["call-deleted", "raise-deleted", "extra-not-named"]


def test_mutants_do_not_apply_where_nothing_is_rejected(sample: Sample) -> None:
    with pytest.raises(MutantDoesNotApply, match="rejects nothing"):
        list(guard.mutants(sample({REGISTRY: (CALL, "\n")}).project))
    without_raise = sample({REGISTRY: ('raise ValueError(name + ": undeclared extra " + extra)', "{}[extra]")}).project
    with pytest.raises(MutantDoesNotApply, match=r"registry\.py:11 rejects undeclared extras without a raise"):
        list(guard.mutants(without_raise))


def test_every_extra_but_the_first_or_last_is_kept(sample: Sample) -> None:
    assert guard.changes(sample({LEAF: ('["trtllm"]', '["trtllm", "alpha", "beta"]')}).project) == [
        ("sample.workers.First", ["beta", "no_such_extra_2"]),
        ("sample.workers.Fourth", ["no_such_extra_2", "alpha", "beta"]),
    ]
    three = sample({LEAF: ('["beta", "alpha"]', '["beta", "alpha", "trtllm"]')}).project
    assert guard.changes(three)[0] == ("sample.workers.First", ["beta", "alpha", "no_such_extra_2"])


def test_an_error_that_comes_from_nowhere_in_the_project(sample: Sample) -> None:
    broken = sample(
        {REGISTRY: (CALL, "\nif reject.__code__.co_argcount == 1:\n    import json\n\n    json.loads('x')\n")}
    )
    assert broken.outcomes(GUARD)[REGISTRY].reason == "registry-mirrors-table"


def test_a_leaf_that_cannot_be_imported_a_second_time(sample: Sample) -> None:
    once = "import sys\n\nif 'sample.ray_actor_environment_registry' not in sys.modules:\n    raise OSError('first')\n"
    broken = sample({LEAF: ("import sys\n\n", f"{once}\n")})
    assert broken.reports(GUARD) == [(f"{LEAF}:6:1", "importing the leaf raised OSError: first", ())]


def test_its_mutants(sample: Sample) -> None:
    accepts = ACCEPTS.partition(": ")[2]
    both = f"{accepts}sample.workers.First | {accepts}sample.workers.Fourth"
    wrong = "the error for an undeclared extra does not name it: ValueError: wrong"
    assert sample().proofs(GUARD) == [
        f"{REGISTRY}, call-deleted: {both}",
        f"{REGISTRY}, raise-deleted: {both}",
        f"{REGISTRY}, extra-not-named: {wrong}",
    ]
    assert sample().changes(GUARD) == [
        f"{REGISTRY}, call-deleted",
        f"{REGISTRY}:14: -reject(ACTOR_ENVIRONMENTS)",
        f"{REGISTRY}:14: +pass",
        f"{REGISTRY}, raise-deleted",
        f'{REGISTRY}:11: -                raise ValueError(name + ": undeclared extra " + extra)',
        f"{REGISTRY}:11: +                pass",
        f"{REGISTRY}, extra-not-named",
        f'{REGISTRY}:11: -                raise ValueError(name + ": undeclared extra " + extra)',
        f'{REGISTRY}:11: +                raise ValueError("wrong")',
    ]
    assert list(guard.mutants(sample({REGISTRY: None}).project)) == []


def test_mutants_where_only_one_of_the_changes_is_rejected(sample: Sample) -> None:
    project = sample({REGISTRY: ("table.items()", "list(table.items())[3:]")}).project
    assert [mutant.shape for mutant in guard.mutants(project)] == ["call-deleted", "raise-deleted", "extra-not-named"]


def test_mutants_delete_one_call_of_two_on_a_line(sample: Sample) -> None:
    project = sample({REGISTRY: (CALL, "\nreject({}); reject(ACTOR_ENVIRONMENTS)\n")}).project
    files = [mutant.files[REGISTRY] for mutant in guard.mutants(project) if mutant.shape == "call-deleted"]
    assert [text.split("\n")[13] for text in files if text] == ["reject({}); pass"]


def test_mutants_do_not_apply_to_a_leaf_that_raises(sample: Sample) -> None:
    broken = sample({LEAF: ("import sys\n\n", "import sys\n\nraise OSError\n\n")})
    with pytest.raises(MutantDoesNotApply, match=f"{REGISTRY} rejects nothing"):
        list(guard.mutants(broken.project))


def test_a_process_that_ends_is_reported_at_the_registry(sample: Sample) -> None:
    guarded = sample()
    guarded.answer("rejection", {"error": {"type": "TimeoutExpired", "message": "slow", "path": None, "line": None}})
    assert guarded.reports(GUARD) == [(f"{REGISTRY}:1:1", "importing the leaf raised TimeoutExpired: slow", ())]


def test_an_error_that_the_module_itself_raises(sample: Sample) -> None:
    inline = (
        "\nif set(sum([e or [] for e in ACTOR_ENVIRONMENTS.values()], [])) - DECLARED:\n    raise ValueError('wrong')\n"
    )
    message = "the error for an undeclared extra does not name it: ValueError: wrong"
    assert {report[:2] for report in sample({REGISTRY: (CALL, inline)}).reports(GUARD)} == {
        (f"{REGISTRY}:15:1", message)
    }
