from __future__ import annotations

from collections.abc import Callable
from typing import Any

Sample = Callable[..., Any]
GUARD = "script-skips-by-extra"
LEAF = "sample/actor_environments.py"
PLACE = f"{LEAF}:20:1"
MAIN = f"{PLACE}: "
FILTER = "not set(extras) & set(argv[1:])"


def test_each_extra_that_an_entry_names_is_a_subject(sample: Sample) -> None:
    assert sorted(sample().outcomes(GUARD)) == ["alpha", "beta", "trtllm"]


def test_a_filter_by_the_actors_name_misses_who_is_not_called_so(sample: Sample) -> None:
    broken = sample({LEAF: (FILTER, "not any(extra in name.lower() for extra in argv[1:])")})
    assert (
        f"{MAIN}`all alpha` still prints sample.workers.First, which needs --extra beta --extra alpha"
        in broken.messages(GUARD)
    )
    assert set(broken.not_green()) == {GUARD}


def test_a_filter_that_leaves_out_too_much(sample: Sample) -> None:
    broken = sample(
        {LEAF: (FILTER, 'not ("beta" in argv[1:] and name > "sample.workers.G") and not set(extras) & set(argv[1:])')}
    )
    message = "`all beta` leaves out sample.workers.Second, which does not need it"
    assert broken.reports(GUARD) == [(PLACE, message, ("filter by the entry's extras",))]


def test_several_skipped_extras_are_all_skipped(sample: Sample) -> None:
    broken = sample({LEAF: (FILTER, "not set(extras) & set(argv[1:2])")})
    message = "`all alpha beta trtllm` still prints sample.workers.Fourth, which needs --extra trtllm"
    assert broken.reports(GUARD) == [(PLACE, message, ("filter by the entry's extras",))]


def test_an_extra_of_the_table_that_is_refused(sample: Sample) -> None:
    broken = sample({LEAF: ("- known", '- known | ({"beta"} & set(argv[1:]))')})
    assert broken.messages(GUARD) == [
        f"{MAIN}`all beta` exits with 2: unknown",
        f"{MAIN}`all alpha beta` exits with 2: unknown",
        f"{MAIN}`all alpha beta trtllm` exits with 2: unknown",
    ]
    assert {finding.fix for finding in broken.findings(GUARD)} == {("accept every extra of the table",)}


def test_its_mutants(sample: Sample) -> None:
    first, second, fourth = "sample.workers.First", "sample.workers.Second", "sample.workers.Fourth"
    needless = "which does not need it"
    assert sample().proofs(GUARD) == [
        f"alpha, skip-ignored: `all alpha` still prints {first}, which needs --extra beta --extra alpha | "
        f"`all alpha` still prints {second}, which needs --extra alpha",
        f"alpha, skips-everything: `all alpha` leaves out {fourth}, {needless}",
        "alpha, skip-rejected: `all alpha` exits with 2: ",
        f"beta, skip-ignored: `all beta` still prints {first}, which needs --extra beta --extra alpha",
        f"beta, skips-everything: `all beta` leaves out {fourth}, {needless} | `all beta` leaves out {second}, {needless}",
        "beta, skip-rejected: `all beta` exits with 2:  | `all alpha beta` exits with 2: ",
        f"trtllm, skip-ignored: `all trtllm` still prints {fourth}, which needs --extra trtllm | "
        f"`all alpha beta trtllm` still prints {fourth}, which needs --extra trtllm",
        f"trtllm, skips-everything: `all trtllm` leaves out {first}, {needless} | "
        f"`all trtllm` leaves out {second}, {needless}",
        "trtllm, skip-rejected: `all trtllm` exits with 2:  | `all alpha beta trtllm` exits with 2: ",
    ]


def test_no_mutant_skips_everything_where_every_actor_needs_the_extra(sample: Sample) -> None:
    text = sample().project.tree.read_text(LEAF).replace('["trtllm"]', '["alpha"]')
    assert [line.partition(": ")[0] for line in sample({LEAF: text}).proofs(GUARD)] == [
        "alpha, skip-ignored",
        "alpha, skip-rejected",
        "beta, skip-ignored",
        "beta, skips-everything",
        "beta, skip-rejected",
    ]
