"""The leaf: what its functions say, and what the script prints."""

import pytest

from nemo_rl.distributed import actor_environments
from nemo_rl.distributed.actor_environments import (
    ACTOR_ENVIRONMENTS,
    USAGE,
    did_you_mean,
    known_extras,
    main,
    problems,
    rows,
    stage_of,
)

SMALL_TABLE = {
    "project.workers.Vllm": ["vllm", "gym"],
    "project.workers.Driver": None,
    "project.workers.Trt": ["trtllm", "gym"],
    "project.a.Gym": ["gym"],
}
GYM_ROW = "project.a.Gym\tdeps\t--extra gym"
TRT_ROW = "project.workers.Trt\ttrtllm\t--extra trtllm --extra gym"
VLLM_ROW = "project.workers.Vllm\tdeps\t--extra vllm --extra gym"


@pytest.fixture
def small_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actor_environments, "ACTOR_ENVIRONMENTS", SMALL_TABLE)


def test_table_has_the_actors_and_their_extras_in_order() -> None:
    assert len(ACTOR_ENVIRONMENTS) == 29
    assert sum(extras is None for extras in ACTOR_ENVIRONMENTS.values()) == 9
    quantized = "nemo_rl.modelopt.models.generation.vllm_quant_worker.VllmQuantGenerationWorker"
    assert ACTOR_ENVIRONMENTS[quantized] == ["modelopt", "vllm"]
    assert known_extras() == ["automodel", "fsdp", "mcore", "modelopt", "nemo_gym", "sglang", "trtllm", "vllm"]


@pytest.mark.usefixtures("small_table")
def test_known_extras_are_those_of_entries_each_once() -> None:
    assert known_extras() == ["gym", "trtllm", "vllm"]


def test_stage_is_trtllm_for_environments_with_that_extra_anywhere() -> None:
    assert stage_of(["gym", "trtllm"]) == "trtllm"
    assert stage_of(["gym", "vllm"]) == "deps"


@pytest.mark.usefixtures("small_table")
@pytest.mark.parametrize(
    ("stage", "skipped", "expected"),
    [
        ("all", [], [GYM_ROW, TRT_ROW, VLLM_ROW]),
        ("deps", [], [GYM_ROW, VLLM_ROW]),
        ("trtllm", [], [TRT_ROW]),
        ("all", ["vllm"], [GYM_ROW, TRT_ROW]),
        ("deps", ["trtllm"], [GYM_ROW, VLLM_ROW]),
        ("all", ["vllm", "trtllm"], [GYM_ROW]),
        ("all", ["gym"], []),
    ],
)
def test_rows_are_the_environments_of_a_stage_without_those_with_a_skipped_extra(
    stage: str, skipped: list[str], expected: list[str]
) -> None:
    assert rows(stage, skipped) == expected
    assert rows(stage, iter(skipped)) == expected


def test_suggestion_is_the_closest_known_word_if_one_is_close() -> None:
    assert did_you_mean("mcore2", ["core", "mcore", "vllm"]) == "; did you mean 'mcore'?"
    assert did_you_mean("zzz", ["mcore", "vllm"]) == ""


@pytest.mark.usefixtures("small_table")
def test_problems_name_every_wrong_argument_with_what_is_known() -> None:
    assert problems("all", ["gym", "vllm"]) == []
    assert problems("dep", ["vlm", "gym", "zzz"]) == [
        "unknown stage 'dep'; did you mean 'deps'?; known: deps, trtllm, all",
        "unknown extra 'vlm'; did you mean 'vllm'?; known: gym, trtllm, vllm",
        "unknown extra 'zzz'; known: gym, trtllm, vllm",
    ]


@pytest.mark.usefixtures("small_table")
def test_main_prints_the_selected_rows_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["all"]) == 0
    assert capsys.readouterr() == (f"{GYM_ROW}\n{TRT_ROW}\n{VLLM_ROW}\n", "")
    assert main(["deps", "vllm"]) == 0
    assert capsys.readouterr() == (f"{GYM_ROW}\n", "")


@pytest.mark.usefixtures("small_table")
def test_main_prints_no_row_when_any_argument_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["all", "vlm", "zzz"]) == 2
    assert capsys.readouterr() == (
        "",
        "actor_environments.py: unknown extra 'vlm'; did you mean 'vllm'?; known: gym, trtllm, vllm\n"
        "actor_environments.py: unknown extra 'zzz'; known: gym, trtllm, vllm\n",
    )
    assert main(["nightly"]) == 2
    assert capsys.readouterr() == (
        "",
        "actor_environments.py: unknown stage 'nightly'; known: deps, trtllm, all\n",
    )


def test_suggested_extra_is_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["all", "nemo-gym"]) == 2
    assert "did you mean 'nemo_gym'?" in capsys.readouterr().err
    assert main(["all", "nemo_gym"]) == 0


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_usage_is_printed_when_asked_for(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([flag]) == 0
    assert capsys.readouterr() == (USAGE, "")


def test_no_argument_is_an_error_that_shows_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capsys.readouterr() == ("", USAGE)
