"""How guards stand, by what became of mutants, and who killed which."""

from __future__ import annotations

from pytest_actor_envs.gate.matrix import GuardProof, guard_proofs, kill_matrix
from pytest_actor_envs.gate.verdicts import Fate, MutantReport


def report(identity: str, guard: str, fate: Fate, *killers: str) -> MutantReport:
    return MutantReport(2 if not guard else 1, identity, guard, "s", "shape", fate, killers, "")


REPORTS = [
    report("e", "g", Fate.KILLED, "g"),
    report("d", "g", Fate.KILLED, "g", "h"),
    report("c", "g", Fate.KILLED, "h"),
    report("b", "g", Fate.SURVIVED),
    report("a", "g", Fate.SUPPRESSED),
    report("f", "h", Fate.SUPPRESSED),
    report("h", "h", Fate.KILLED, "h", "g"),
    report("i", "i", Fate.CRASHED, "g"),
    report("j", "", Fate.KILLED, "tests/a.py::test", "g"),
]


def test_a_guards_own_mutants_and_those_of_others_are_counted_apart() -> None:
    assert guard_proofs(["h", "g", "none"], REPORTS) == (
        GuardProof("h", claimed=2, killed=1, only_killer=1, also_killed=2, suppressed=1),
        GuardProof("g", claimed=5, killed=2, only_killer=2, also_killed=3, suppressed=1),
        GuardProof("none", claimed=0, killed=0, only_killer=0, also_killed=0, suppressed=0),
    )


def test_a_guard_is_live_where_it_kills_all_that_is_not_suppressed() -> None:
    assert [proof.is_live for proof in guard_proofs(["h", "g", "none"], REPORTS)] == [True, False, False]


def test_the_matrix_has_what_was_killed_and_nothing_else_in_order() -> None:
    matrix = kill_matrix(REPORTS)
    assert list(matrix.items()) == [
        ("g", ("d", "e", "h", "j")),
        ("h", ("c", "d", "h")),
        ("tests/a.py::test", ("j",)),
    ]
