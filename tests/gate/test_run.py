"""A run of the gate in this process, with guards of a few lines: layer 1, and what is chosen of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_actor_envs.gate import run
from pytest_actor_envs.gate.claims import MutantsDoNotApply
from pytest_actor_envs.gate.mutmut_configuration import CodeMutantsNotConfigured
from pytest_actor_envs.gate.result import ExitCode, GateResult
from pytest_actor_envs.gate.run import BaselineFails, chosen_guards
from pytest_actor_envs.gate.store import RESULTS_FILE, load
from pytest_actor_envs.gate.verdicts import Fate
from pytest_actor_envs.model import ConfigurationError, Guard, Verdict
from tests.gate.gate_runs import (
    KILLED_A,
    KILLED_B,
    LEFT_OUT,
    SURVIVED,
    A,
    B,
    changes_of,
    opened,
    ran,
    with_two_guards,
)


@pytest.fixture
def root(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return with_two_guards(small, monkeypatch)


def test_layer_one_is_run_counted_and_remembered(root: Path) -> None:
    result, seen = ran(root, 1)
    assert result.seconds is not None
    assert list(result.seconds) == ["baseline", "layer 1"]
    assert all(0 <= seconds < 60 for seconds in result.seconds.values())
    assert result == GateResult(("aa", "ab"), (KILLED_A, SURVIVED, KILLED_B), seconds=result.seconds)
    assert seen == [("subject mutants", number, 3) for number in range(4)]
    assert {identity: found for identity, (_, found) in load(root).reports.items()} == {
        found.identity: found for found in result.reports
    }


def test_layer_two_is_left_out_with_a_note_or_is_an_error_where_it_alone_is_asked_for(root: Path) -> None:
    result, _ = ran(root, 1, 2, guards=("ab",))
    assert (result.guards, result.reports, result.notes) == (("ab",), (KILLED_B,), (LEFT_OUT,))
    assert result.is_part and result.exit_code is ExitCode.ALL_LIVE
    with pytest.raises(CodeMutantsNotConfigured):
        ran(root, 2)


def test_a_configuration_of_layer_two_that_proves_nothing_is_never_left_out(root: Path) -> None:
    with (root / "pyproject.toml").open("a") as file:
        file.write('[tool.mutmut]\nsource_paths = ["pkg"]\n')
    with pytest.raises(CodeMutantsNotConfigured, match="do not say which test kills a mutant"):
        ran(root, 1, 2)


def test_a_broken_baseline_is_told_with_what_is_broken(root: Path) -> None:
    (root / "two.txt").write_text("aa ab\n")
    with pytest.raises(BaselineFails) as raised:
        ran(root, 1)
    assert str(raised.value) == "2 checks are not green on the intact project"
    assert [(name, outcome.verdict) for name, outcome in raised.value.outcomes] == [
        ("aa", Verdict.BROKEN),
        ("ab", Verdict.BROKEN),
    ]
    assert not (root / RESULTS_FILE).exists()


def test_mutants_that_cannot_be_made_end_the_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = Guard("aa", A.subjects, A.check, lambda project: ())
    monkeypatch.setattr(run, "guards_for", lambda project: (empty, B))
    with pytest.raises(MutantsDoNotApply):
        ran(root, 1)


@pytest.mark.parametrize("names", [(), ("*",), ("aa", "ab"), ("a?", "ab")])
def test_all_guards_are_chosen(names: tuple[str, ...], root: Path) -> None:
    assert chosen_guards(opened(root), names) == (A, B)


def test_guards_are_chosen_by_pattern_and_what_none_fits_is_an_error(root: Path) -> None:
    project = opened(root)
    assert chosen_guards(project, ["?b"]) == (B,)
    for names, unknown, why in (
        (["aa", "ax", "off"], "ax", "is no guard"),
        (["off"], "off", "is off in this project"),
        (["AA"], "AA", "is no guard"),
        (["o*"], "o*", "is off in this project"),
    ):
        with pytest.raises(ConfigurationError) as raised:
            chosen_guards(project, names)
        assert str(raised.value) == f"gate: '{unknown}' {why}\n    guards: aa, ab"


def test_a_suppression_is_applied_and_stale_only_where_everything_was_looked_at(root: Path) -> None:
    (root / "one.txt").write_text("intact\n# actor-envs: survives[aa] why\nintact\n")
    result, _ = ran(root, 1)
    assert [(found.shape, found.fate, found.reason) for found in result.reports] == [
        ("aa", Fate.KILLED, ""),
        ("seen-by-nobody", Fate.SUPPRESSED, "why"),
        ("ab", Fate.KILLED, ""),
    ]
    assert [problem.split("\n")[0] for problem in result.problems] == [
        "gate: layer 1: 1 of 3 mutants are suppressed, more than 2%"
    ]
    (root / "one.txt").write_text("# actor-envs: survives[ab] why\nintact\n\n")
    assert ran(root, 1)[0].problems == (
        "one.txt:1:1: gate: no mutant of ab survives at line 2\n    remove the comment",
    )
    assert ran(root, 1, guards=("ab",))[0].problems == ()


def test_a_suppression_in_a_file_that_no_mutant_changes_is_stale(root: Path) -> None:
    (root / "two.txt").write_text("# actor-envs: survives[aa] why\nintact\n")
    stale = "two.txt:1:1: gate: no mutant of aa survives at line 2\n    remove the comment"
    assert ran(root, 1)[0].problems == (stale,)
    assert ran(root, 1, guards=("aa",))[0].problems == ()


def test_what_cannot_be_remembered_is_a_note(root: Path) -> None:
    (root / ".pytest_cache").write_text("in the way")
    result, _ = ran(root, 1, guards=("ab",))
    assert result.reports == (KILLED_B,)
    [note] = result.notes
    assert note.startswith("what was found is not remembered for --since: [Errno ")


@pytest.fixture
def committed(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project as it was committed, and since then `one.txt` changed."""
    changes = {"one.txt": "before\n"}
    monkeypatch.setattr(run, "changes_since", lambda given, reference: changes_of(given == root, reference, changes))
    return root


def test_since_a_commit_only_what_can_be_affected_is_run_and_that_once(committed: Path) -> None:
    first, seen = ran(committed, 1, since="REF")
    assert (first.reports, first.is_part, len(seen)) == ((KILLED_A, SURVIVED, KILLED_B), True, 4)
    said = "since REF: 3 of 3 subject mutants can be affected, {} of them are known from a run in this very state"
    assert first.notes == (said.format(0),)
    second, seen = ran(committed, 1, since="REF")
    assert (second.reports, second.notes, seen) == (first.reports, (said.format(3),), [])
    third, seen = ran(committed, 1, guards=("ab",), since="REF")
    assert third.notes == (said.format(1).replace("3 of 3", "1 of 1"),)
    assert (third.reports, seen) == ((KILLED_B,), [])
