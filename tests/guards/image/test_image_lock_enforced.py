from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Image = Callable[..., Any]
GUARD = "image-lock-enforced"
FILE, SCRIPT = "docker/Dockerfile", "docker/install.sh"
FROZEN = "uv sync --frozen --link-mode copy"
SKIP = "if [[ -n $SKIP ]]; then exit 0; fi"


def dockerfile(*code: str) -> dict[str, str]:
    """A stage with one RUN of these lines; a line `RUN` begins another one."""
    text = "\n".join(code).replace("\nRUN\n", '\nEOF\nRUN bash -euo pipefail <<"EOF"\n')
    return {FILE: f'FROM debian AS one\nARG SKIP FLAGS LOCK=--locked\nRUN bash -euo pipefail <<"EOF"\n{text}\nEOF\n'}


def test_each_stage_is_a_subject(image: Image) -> None:
    assert sorted(image().outcomes(GUARD)) == [f"{FILE}[deps]", f"{FILE}[release]"]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ([FROZEN], "nothing behind it checks the lock"),
        (["uv lock --check", FROZEN], "nothing behind it checks the lock"),
        ([FROZEN, "uv lock"], "nothing behind it checks the lock"),
        ([FROZEN, SKIP, "uv lock --check"], f"check of the lock at {FILE}:6:1 is skipped by the exit at {FILE}:5:25"),
        ([FROZEN, "[[ -n $SKIP ]] && exit", "uv lock --check"], f"is skipped by the exit at {FILE}:5:19"),
        ([FROZEN, "RUN", SKIP, "uv lock --check"], f"is skipped by the exit at {FILE}:7:25"),
        ([FROZEN, "if [[ -n $SKIP ]]; then uv lock --check; fi"], f"is skipped by the condition at {FILE}:5:1"),
        ([FROZEN, "[[ -n $SKIP ]] && uv lock --check"], f"is skipped by the condition at {FILE}:5:1"),
        ([FROZEN, "for x in $SKIP; do uv lock --check; done"], f"is skipped by the condition at {FILE}:5:1"),
        ([FROZEN, "uv lock --check || true"], "its status is lost under ||"),
        ([FROZEN, "if uv lock --check; then echo; fi"], "its status is lost in a condition"),
        ([FROZEN, "uv lock --check &"], "its status is lost from the background"),
        ([FROZEN, f"bash -e -c '{SKIP}; uv lock --check'"], "is skipped by the exit at"),
    ],
)
def test_a_lock_that_nobody_checks(image: Image, code: list[str], why: str) -> None:
    findings = image(dockerfile(*code)).findings(GUARD)
    assert len(findings) == 1
    assert findings[0].location.column == 9
    assert findings[0].message.startswith("takes the lock as it is, though pyproject.toml may say something else, and ")
    assert why in findings[0].message


@pytest.mark.parametrize(
    "code",
    [
        ["uv sync --locked"],
        [FROZEN, "uv lock --check"],
        [FROZEN, "uv lock --locked"],
        [FROZEN, "uv sync --locked --extra alpha"],
        [f"{FROZEN} && uv lock --check"],
        [SKIP, FROZEN, "uv lock --check"],
        [FROZEN, "RUN", "uv lock --check", SKIP],
        [FROZEN, SKIP.replace("exit 0", "exit 1"), "uv lock --check"],
        [FROZEN, "if ! uv lock --check; then echo stale; exit 1; fi"],
        [FROZEN, "uv lock --check || exit 1"],
        [FROZEN, f"bash -e -c '{SKIP}'", "uv lock --check"],
        ["if [[ -n $SKIP ]]; then uv sync --frozen; uv lock --check; fi"],
        ["echo uv sync --frozen"],
        ["npm ci --frozen"],
        ["UV_FROZEN=0 uv sync --locked"],
        ["uv sync $LOCK"],
        ['uv pip install "uv==$FLAGS"'],
        ["uv python install $FLAGS"],
    ],
)
def test_a_lock_that_is_checked(image: Image, code: list[str]) -> None:
    assert image(dockerfile(*code)).messages(GUARD) == []


@pytest.mark.parametrize(
    ("code", "place"),
    [
        (["UV_FROZEN=1 uv sync"], "4:1"),
        (["export UV_FROZEN=true", "uv run x"], "5:1"),
        (["flags='--frozen --no-dev'", "uv sync $flags"], "5:1"),
        (['sync() { uv sync "$@" --frozen; }', "sync --extra alpha"], "4:23"),
        (["env X=1 uv run --frozen x"], "4:16"),
    ],
)
def test_forms_of_taking_the_lock_as_it_is(image: Image, code: list[str], place: str) -> None:
    [finding] = image(dockerfile(*code)).findings(GUARD)
    assert str(finding.location) == f"{FILE}:{place}"


def test_in_a_script_that_was_copied(image: Image) -> None:
    broken = image({SCRIPT: ("--locked", "--frozen")})
    [finding] = broken.findings(GUARD)
    assert str(finding.location) == f"{SCRIPT}:5:47"
    assert broken.not_green() == {GUARD: "broken"}


def test_a_variable_of_the_whole_image(image: Image) -> None:
    broken = image({FILE: ("ARG SKIP\n", "ARG SKIP\nENV UV_FROZEN=1\n"), SCRIPT: ("--locked ", "")})
    assert [str(finding.location) for finding in broken.findings(GUARD)] == [f"{SCRIPT}:5:3"]


def test_the_advice_mends(image: Image) -> None:
    [finding] = image(dockerfile(FROZEN)).findings(GUARD)
    flag = finding.fix[0].partition(": ")[2].partition(" ")[0]
    assert image(dockerfile(FROZEN.replace("--frozen", flag))).findings(GUARD) == []
    assert image(dockerfile(FROZEN, finding.fix[1].partition(": ")[2])).findings(GUARD) == []


def test_flags_that_depend_on_an_argument_are_undecided(image: Image) -> None:
    [outcome] = image(dockerfile("uv sync $FLAGS")).outcomes(GUARD).values()
    assert outcome.verdict.value == "undecided"
    assert outcome.reason == (
        f"{FILE}:4:9: whether uv checks the lock depends on the build argument FLAGS; "
        "give it a default: ARG FLAGS=--locked"
    )


def test_shell_that_cannot_be_parsed_is_undecided(image: Image) -> None:
    [outcome] = image(dockerfile("if x; then")).outcomes(GUARD).values()
    assert outcome.verdict.value == "undecided"


def test_what_cannot_be_parsed_hides_no_finding(image: Image) -> None:
    assert len(image({FILE: dockerfile(FROZEN)[FILE] + "RUN if x; then\n"}).findings(GUARD)) == 1


def test_what_is_said_and_what_to_do(image: Image) -> None:
    assert image(dockerfile(FROZEN)).reports(GUARD) == [
        (
            f"{FILE}:4:9",
            "takes the lock as it is, though pyproject.toml may say something else, and nothing behind it checks the lock",
            (
                "refuse a stale lock: --locked in place of --frozen",
                "or check it behind, outside of conditions: uv lock --check",
            ),
        )
    ]


@pytest.mark.parametrize("command", ["sync", "run x", "export", "tree"])
@pytest.mark.parametrize("value", ["1", "true", "yes", "on", "TRUE"])
def test_every_value_that_freezes_every_command_that_reads_the_lock(image: Image, command: str, value: str) -> None:
    assert len(image(dockerfile(f"UV_FROZEN={value} uv {command}")).findings(GUARD)) == 1


@pytest.mark.parametrize("code", ["UV_FROZEN=1 uv --version", "UV_FROZEN=no uv sync", "uv --version; uv sync"])
def test_what_freezes_nothing(image: Image, code: str) -> None:
    assert image(dockerfile(code)).messages(GUARD) == []


@pytest.mark.parametrize("code", ["uv sync $FLAGS", "uv run $FLAGS x", "uv export $FLAGS", "uv $FLAGS sync"])
def test_every_command_whose_flags_depend_on_an_argument_is_undecided(image: Image, code: str) -> None:
    assert [outcome.verdict.value for outcome in image(dockerfile(code)).outcomes(GUARD).values()] == ["undecided"]


@pytest.mark.parametrize(
    "code", ['uv sync "$FLAGS"', "uv sync --extra=$FLAGS", "uv sync $LOCK", "uv sync $OTHER", "sync $FLAGS"]
)
def test_what_is_no_flag_of_uv_is_not_judged(image: Image, code: str) -> None:
    assert image(dockerfile(code)).outcomes(GUARD)[f"{FILE}[one]"].verdict.value == "holds"


def test_flags_that_depend_on_an_argument_hide_no_finding(image: Image) -> None:
    assert len(image(dockerfile(FROZEN, "uv sync $FLAGS")).findings(GUARD)) == 1
    [outcome] = image(dockerfile(FROZEN, "uv sync $FLAGS")).outcomes(GUARD).values()
    assert outcome.verdict.value == "broken"


def test_an_exit_right_behind_skips_the_check(image: Image) -> None:
    [finding] = image(dockerfile(FROZEN, "exit", "uv lock --check")).findings(GUARD)
    assert finding.message.endswith(f"the check of the lock at {FILE}:6:1 is skipped by the exit at {FILE}:5:1")
