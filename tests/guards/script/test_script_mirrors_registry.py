from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Sample = Callable[..., Any]
GUARD = "script-mirrors-registry"
LEAF = "sample/actor_environments.py"
PLACE = f"{LEAF}:20:1"
MAIN = f"{PLACE}: "
FIXES = {
    "for": "make the rows from the table alone",
    "prints": "print rows only; messages go to stderr",
    "the": "sort them, so that equal tables give equal lists",
}
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
    broken = sample({LEAF: (old, new)})
    assert broken.messages(GUARD) == [MAIN + message for message in messages]
    assert broken.findings(GUARD)[0].fix == (FIXES[messages[0].split()[0]],)


def test_a_last_row_without_its_newline_is_lost_by_a_shells_read(sample: Sample) -> None:
    first, rest = f"sys.stdout.write({ROWS})", 'sys.stdout.write(row if name != last else row.rstrip("\\n"))'
    code = f'row, last = {ROWS}, "sample.workers.Second"\n            {rest}'
    broken = sample({LEAF: (first, code)})
    fix = "end every row with a newline; a shell's `read` loses one without"
    assert broken.reports(GUARD) == [(PLACE, "the last row does not end with a newline", (fix,))]


def test_a_trailing_tab_is_no_row(sample: Sample) -> None:
    broken = sample({LEAF: (ROWS, ROWS.replace('"\\n"', '"\\t\\n"'))})
    assert len(broken.messages(GUARD)) == 3


def test_a_script_that_fails_or_raises(sample: Sample) -> None:
    failing = sample({LEAF: ("    return 0\n", '    sys.stderr.write("no space")\n    return 3\n')})
    fix = "exit with 0 for a known stage"
    assert failing.reports(GUARD) == [(PLACE, "`all` exits with 3: no space", (fix,))]
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
    assert broken.report(GUARD) == [
        f"{LEAF}:1:1: the script has no function `main`\n"
        "    define `def main(argv: list[str]) -> int`, which prints a row for each entry with extras and returns 0\n"
        "    a row: name, stage (trtllm where an extra is, else deps), `--extra a --extra b`, separated by tabs"
    ]


def test_a_script_that_takes_too_long_is_a_finding_at_its_first_line(sample: Sample) -> None:
    slow = sample()
    slow.answer("script", {"error": {"type": "TimeoutExpired", "message": "slow", "path": None, "line": None}})
    assert slow.messages(GUARD) == [f"{LEAF}:1:1: executing the script raised TimeoutExpired: slow"]


def test_a_table_that_cannot_be_read_blocks_it(sample: Sample) -> None:
    broken = sample({LEAF: ('["beta", "alpha"]', '("beta", "alpha")')})
    assert [outcome.reason for outcome in broken.outcomes(GUARD).values()] == ["leaf-table-literal"]


def test_a_script_of_no_rows_at_all_is_no_row_short(sample: Sample) -> None:
    text = sample().project.tree.read_text(LEAF)
    for value in ('["beta", "alpha"]', '["alpha"]', '["trtllm"]'):
        text = text.replace(value, "None")
    nobody = sample({LEAF: text})
    assert nobody.reports(GUARD) == []
    assert [line.partition(": ")[0] for line in nobody.proofs(GUARD)] == [f"{LEAF}, a-line-more", f"{LEAF}, fails"]


def test_a_row_that_a_script_prints_for_nobody_is_shown_without_its_tabs(sample: Sample) -> None:
    broken = sample({LEAF: ("    return 0\n", '    print("zz\\tdeps")\n    return 0\n')})
    assert broken.messages(GUARD) == [f"{MAIN}prints `zz deps`, which is no row of an entry with an environment"]


def test_its_mutants(sample: Sample) -> None:
    first, second = "sample.workers.First", "sample.workers.Second"
    assert sample().proofs(GUARD) == [
        f"{LEAF}, a-line-more: prints `building`, which is no row of an entry with an environment",
        f"{LEAF}, fails: `all` exits with 1: ",
        f"{LEAF}, one-stage: for {first} the script prints `other --extra beta --extra alpha` "
        "instead of `deps --extra beta --extra alpha` | for sample.workers.Fourth the script prints "
        "`other --extra trtllm` instead of `trtllm --extra trtllm` | "
        f"for {second} the script prints `other --extra alpha` instead of `deps --extra alpha`",
        f"{LEAF}, first-extra-only: for {first} the script prints `deps --extra beta` "
        "instead of `deps --extra beta --extra alpha`",
        f"{LEAF}, unsorted: the rows are not sorted by name, each once",
        f"{LEAF}, row-lost: for {first} the script prints no row instead of `deps --extra beta --extra alpha`",
        f"{LEAF}, row-lost: for sample.workers.Fourth the script prints no row instead of `trtllm --extra trtllm`",
        f"{LEAF}, row-lost: for {second} the script prints no row instead of `deps --extra alpha`",
    ]


def test_mutants_are_only_those_that_change_what_a_table_gives(sample: Sample) -> None:
    text = sample().project.tree.read_text(LEAF)
    single = text.replace('["beta", "alpha"]', '["beta"]')
    two_rows = sample({LEAF: single.replace('["trtllm"]', "None")}).proofs(GUARD)
    assert [line.partition(": ")[0].partition(", ")[2] for line in two_rows] == [
        "a-line-more", "fails", "one-stage", "unsorted", "row-lost", "row-lost",
    ]  # fmt: skip
    one_row = sample({LEAF: single.replace('["trtllm"]', "None").replace('["alpha"]', "None")}).proofs(GUARD)
    assert [line.partition(": ")[0].partition(", ")[2] for line in one_row] == [
        "a-line-more", "fails", "one-stage", "row-lost",
    ]  # fmt: skip
