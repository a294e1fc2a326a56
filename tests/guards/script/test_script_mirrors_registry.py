from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Sample = Callable[..., Any]
GUARD = "script-mirrors-registry"
LEAF = "sample/actor_environments.py"
MAIN = f"{LEAF}:20:1: "
ROWS = '"\\t".join([name, stage_of(extras), " ".join("--extra " + e for e in extras)]) + "\\n"'


def test_every_guard_holds_on_the_sample(sample: Sample) -> None:
    assert sample().not_green() == {}


@pytest.mark.parametrize(
    ("old", "new", "messages"),
    [
        (
            '" ".join("--extra " + e for e in extras)',
            '"--extra " + extras[0]',
            [
                "for sample.workers.First the script prints `deps --extra beta` instead of "
                "`deps --extra beta --extra alpha`"
            ],
        ),
        (
            'return "trtllm" if "trtllm" in extras else "deps"',
            'return "deps"',
            ["for sample.workers.Fourth the script prints `deps --extra trtllm` instead of `trtllm --extra trtllm`"],
        ),
        (
            "if extras is not None and",
            'if extras is not None and "Second" not in name and',
            ["for sample.workers.Second the script prints no row instead of `deps --extra alpha`"],
        ),
        (
            "    for name, extras in sorted(",
            '    print("building", len(argv))\n    for name, extras in sorted(',
            ["prints `building 1`, which is no row of an entry with an environment"],
        ),
        (
            ROWS,
            ROWS.replace("e in extras", "e in sorted(extras)"),
            [
                "for sample.workers.First the script prints `deps --extra alpha --extra beta` instead of "
                "`deps --extra beta --extra alpha`"
            ],
        ),
        (
            "in sorted(ACTOR_ENVIRONMENTS.items())",
            "in sorted(ACTOR_ENVIRONMENTS.items(), reverse=True)",
            ["the rows are not sorted by name, each once"],
        ),
        (
            f"sys.stdout.write({ROWS})",
            f"sys.stdout.write(2 * ({ROWS}))",
            ["the rows are not sorted by name, each once"],
        ),
    ],
)
def test_wrong_rows(sample: Sample, old: str, new: str, messages: list[str]) -> None:
    assert sample({LEAF: (old, new)}).messages(GUARD) == [MAIN + message for message in messages]


def test_a_last_row_without_its_newline_is_lost_by_a_shells_read(sample: Sample) -> None:
    first, rest = f"sys.stdout.write({ROWS})", 'sys.stdout.write(row if name != last else row.rstrip("\\n"))'
    code = f'row, last = {ROWS}, "sample.workers.Second"\n            {rest}'
    broken = sample({LEAF: (first, code)})
    assert broken.messages(GUARD) == [f"{MAIN}the last row does not end with a newline"]


def test_a_trailing_tab_is_no_row(sample: Sample) -> None:
    broken = sample({LEAF: (ROWS, ROWS.replace('"\\n"', '"\\t\\n"'))})
    assert len(broken.messages(GUARD)) == 3


def test_a_script_that_fails_or_raises(sample: Sample) -> None:
    failing = sample({LEAF: ("    return 0\n", '    sys.stderr.write("no space")\n    return 3\n')})
    assert failing.messages(GUARD) == [f"{MAIN}`all` exits with 3: no space"]
    raising = sample({LEAF: ("    return 0\n", '    raise OSError("no space")\n')})
    assert raising.messages(GUARD) == [f"{MAIN}`all` exits with 1: OSError: no space"]


def test_a_leaf_that_cannot_be_executed_is_one_finding_at_its_line_and_blocks_the_rest(sample: Sample) -> None:
    broken = sample({LEAF: ("import sys\n\n", "import sys\n\nsys.no_such_function()\n")})
    assert broken.messages(GUARD) == [
        f"{LEAF}:5:1: executing the script raised AttributeError: module 'sys' has no attribute 'no_such_function'"
    ]
    for blocked in ("script-skips-by-extra", "script-stages-partition", "script-rejects-unknown-argument"):
        assert {(outcome.verdict.value, outcome.reason) for outcome in broken.outcomes(blocked).values()} == {
            ("blocked", GUARD)
        }


def test_a_leaf_without_main(sample: Sample) -> None:
    broken = sample({LEAF: ("def main(", "def run(")})
    assert broken.messages(GUARD) == [
        f"{LEAF}:1:1: executing the script raised AttributeError: "
        "module 'sample.actor_environments' has no attribute 'main'"
    ]


def test_a_table_that_cannot_be_read_blocks_it(sample: Sample) -> None:
    broken = sample({LEAF: ('["beta", "alpha"]', '("beta", "alpha")')})
    assert [outcome.reason for outcome in broken.outcomes(GUARD).values()] == ["leaf-table-literal"]
