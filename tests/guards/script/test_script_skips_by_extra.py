from __future__ import annotations

from collections.abc import Callable
from typing import Any

Sample = Callable[..., Any]
GUARD = "script-skips-by-extra"
LEAF = "sample/actor_environments.py"
MAIN = f"{LEAF}:20:1: "
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
    assert broken.messages(GUARD) == [f"{MAIN}`all beta` leaves out sample.workers.Second, which does not need it"]


def test_several_skipped_extras_are_all_skipped(sample: Sample) -> None:
    broken = sample({LEAF: (FILTER, "not set(extras) & set(argv[1:2])")})
    assert broken.messages(GUARD) == [
        f"{MAIN}`all alpha beta trtllm` still prints sample.workers.Fourth, which needs --extra trtllm"
    ]


def test_an_extra_of_the_table_that_is_refused(sample: Sample) -> None:
    broken = sample({LEAF: ("- known", '- known | ({"beta"} & set(argv[1:]))')})
    assert broken.messages(GUARD) == [
        f"{MAIN}`all beta` exits with 2: unknown",
        f"{MAIN}`all alpha beta` exits with 2: unknown",
        f"{MAIN}`all alpha beta trtllm` exits with 2: unknown",
    ]
