from __future__ import annotations

from collections.abc import Callable
from typing import Any

Sample = Callable[..., Any]
GUARD = "script-stages-partition"
LEAF = "sample/actor_environments.py"
MAIN = f"{LEAF}:20:1: "
STAGE = 'argv[0] in ("all", stage_of(extras))'


def test_the_stages_are_the_subjects(sample: Sample) -> None:
    assert sorted(sample().outcomes(GUARD)) == ["deps", "trtllm"]


def test_a_stage_that_prints_everything(sample: Sample) -> None:
    broken = sample({LEAF: (STAGE, 'argv[0] in ("all", "deps", stage_of(extras))')})
    assert broken.messages(GUARD) == [f"{MAIN}stage deps prints sample.workers.Fourth, which is not its row"]
    assert set(broken.not_green()) == {GUARD}


def test_a_row_in_no_stage(sample: Sample) -> None:
    broken = sample({LEAF: (STAGE, f'{STAGE} and ("beta" not in extras or argv[0] == "all")')})
    assert broken.messages(GUARD) == [f"{MAIN}stage deps lacks sample.workers.First"]


def test_a_stage_that_fails(sample: Sample) -> None:
    broken = sample({LEAF: ("    return 0\n", '    return 4 if argv[0] == "trtllm" else 0\n')})
    assert broken.messages(GUARD) == [f"{MAIN}`trtllm` exits with 4: "]
