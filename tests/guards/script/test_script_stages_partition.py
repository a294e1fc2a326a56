from __future__ import annotations

from collections.abc import Callable
from typing import Any

Sample = Callable[..., Any]
GUARD = "script-stages-partition"
LEAF = "sample/actor_environments.py"
PLACE = f"{LEAF}:20:1"
FIX = ("filter by the stage that the extras give",)
STAGE = 'argv[0] in ("all", stage_of(extras))'


def test_the_stages_are_the_subjects(sample: Sample) -> None:
    assert sorted(sample().outcomes(GUARD)) == ["deps", "trtllm"]


def test_a_stage_that_prints_everything(sample: Sample) -> None:
    broken = sample({LEAF: (STAGE, 'argv[0] in ("all", "deps", stage_of(extras))')})
    assert broken.reports(GUARD) == [(PLACE, "stage deps prints sample.workers.Fourth, which is not its row", FIX)]
    assert set(broken.not_green()) == {GUARD}


def test_a_row_in_no_stage(sample: Sample) -> None:
    broken = sample({LEAF: (STAGE, f'{STAGE} and ("beta" not in extras or argv[0] == "all")')})
    assert broken.reports(GUARD) == [(PLACE, "stage deps lacks sample.workers.First", FIX)]


def test_a_stage_that_fails(sample: Sample) -> None:
    fails = 'sys.stderr.write("no space\\n")\n        return 4\n    return 0\n'
    broken = sample({LEAF: ("    return 0\n", f'    if argv[0] == "trtllm":\n        {fails}')})
    assert broken.reports(GUARD) == [
        (PLACE, "`trtllm` exits with 4: no space", ("accept the stage, also when it has no row",))
    ]


def test_its_mutants(sample: Sample) -> None:
    first, second, fourth = "sample.workers.First", "sample.workers.Second", "sample.workers.Fourth"
    assert sample().proofs(GUARD) == [
        f"deps, prints-all: stage deps prints {fourth}, which is not its row",
        "deps, stage-fails: `deps` exits with 1: ",
        f"deps, prints-nothing: stage deps lacks {first} | stage deps lacks {second}",
        f"trtllm, prints-all: stage trtllm prints {first}, which is not its row | "
        f"stage trtllm prints {second}, which is not its row",
        "trtllm, stage-fails: `trtllm` exits with 1: ",
        f"trtllm, prints-nothing: stage trtllm lacks {fourth}",
    ]


def test_mutants_are_only_those_that_change_what_a_table_gives(sample: Sample) -> None:
    text = sample().project.tree.read_text(LEAF).replace('["trtllm"]', "None")
    assert [line.partition(": ")[0] for line in sample({LEAF: text}).proofs(GUARD)] == [
        "deps, stage-fails",
        "deps, prints-nothing",
        "trtllm, prints-all",
        "trtllm, stage-fails",
    ]
