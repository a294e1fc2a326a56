from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Sample = Callable[..., Any]
GUARD = "script-rejects-unknown-argument"
LEAF = "sample/actor_environments.py"
MAIN = f"{LEAF}:20:1: "
STAGE, EXTRA = 'argv[0] not in ("all", "deps", "trtllm")', "set(argv[1:]) - known"


def test_stage_and_extra_are_the_subjects(sample: Sample) -> None:
    assert sorted(sample().outcomes(GUARD)) == ["extra", "stage"]


@pytest.mark.parametrize(
    ("old", "new", "messages"),
    [
        (
            STAGE,
            "False",
            ["`no-such-stage` exits with 0, not with 2", "`no-such-stage` says nothing on stderr"],
        ),
        (
            EXTRA,
            "set(argv[2:]) - known",
            [
                "`all no-such-extra` exits with 0, not with 2",
                "`all no-such-extra` prints on stdout before it fails",
                "`all no-such-extra` says nothing on stderr",
                "`all idle` exits with 0, not with 2",
                "`all idle` prints on stdout before it fails",
                "`all idle` says nothing on stderr",
            ],
        ),
        (
            EXTRA,
            f'{EXTRA} - {{"idle"}}',
            [
                "`all idle` exits with 0, not with 2",
                "`all idle` prints on stdout before it fails",
                "`all idle` says nothing on stderr",
            ],
        ),
    ],
)
def test_what_is_accepted(sample: Sample, old: str, new: str, messages: list[str]) -> None:
    broken = sample({LEAF: (old, new)})
    assert broken.messages(GUARD) == [MAIN + message for message in messages]
    assert set(broken.not_green()) == {GUARD}


def test_another_status(sample: Sample) -> None:
    broken = sample({LEAF: ("return 2", "return 1")})
    assert broken.messages(GUARD)[-1] == f"{MAIN}`no-such-stage` exits with 1, not with 2"


def test_no_message(sample: Sample) -> None:
    broken = sample({LEAF: ('        sys.stderr.write("unknown\\n")\n', "")})
    assert broken.messages(GUARD)[-1] == f"{MAIN}`no-such-stage` says nothing on stderr"


def test_rows_before_the_refusal(sample: Sample) -> None:
    broken = sample({LEAF: ('sys.stderr.write("unknown\\n")', 'sys.stderr.write("unknown\\n"), print("row")')})
    assert broken.messages(GUARD)[-1] == f"{MAIN}`no-such-stage` prints on stdout before it fails"


def test_a_script_that_ends_itself_as_argparse_does_is_judged_by_its_status(sample: Sample) -> None:
    assert sample({LEAF: ("return 2", "sys.exit(2)")}).not_green() == {}
    with_text = sample({LEAF: ("return 2", 'sys.exit("unknown argument")')})
    assert with_text.messages(GUARD)[-1] == f"{MAIN}`no-such-stage` exits with 1, not with 2"


def test_what_to_do(sample: Sample) -> None:
    broken = sample({LEAF: (EXTRA, "set(argv[2:]) - known")})
    assert [finding.fix for finding in broken.findings(GUARD)[:3]] == [
        ("reject an unknown extra with exit status 2",),
        ("check the arguments before printing anything",),
        ("say on stderr which extra is unknown, and which are known",),
    ]


def test_its_mutants(sample: Sample) -> None:
    def said(what: str) -> str:
        return " | ".join(f"`all {words}` {what}" for words in ("no-such-extra", "alpha no-such-extra"))

    assert sample().proofs(GUARD) == [
        "stage, accepted: `no-such-stage` exits with 0, not with 2",
        "stage, other-status: `no-such-stage` exits with 1, not with 2",
        "stage, silent: `no-such-stage` says nothing on stderr",
        "stage, prints-first: `no-such-stage` prints on stdout before it fails",
        f"extra, accepted: {said('exits with 0, not with 2')}",
        f"extra, other-status: {said('exits with 1, not with 2')}",
        f"extra, silent: {said('says nothing on stderr')}",
        f"extra, prints-first: {said('prints on stdout before it fails')}",
    ]


def test_mutants_of_a_script_that_ends_itself(sample: Sample) -> None:
    proofs = sample({LEAF: ("return 2", "sys.exit(2)")}).proofs(GUARD)
    assert proofs[:2] == [
        "stage, accepted: `no-such-stage` exits with 0, not with 2",
        "stage, other-status: `no-such-stage` exits with 1, not with 2",
    ]
