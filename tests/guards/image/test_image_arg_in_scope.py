"""image-arg-in-scope: build arguments are declared where they are used, and used where they are declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.guards.image.near_names import near

Image = Callable[..., Any]
GUARD = "image-arg-in-scope"
FILE = "docker/Dockerfile"


def dockerfile(*lines: str) -> dict[str, str]:
    return {FILE: "\n".join([*lines, ""])}


def test_each_stage_is_a_subject_and_so_are_the_arguments_above_them(image: Image) -> None:
    assert sorted(image().outcomes(GUARD)) == [f"{FILE}[deps]", f"{FILE}[release]"]
    above = {FILE: ("FROM debian AS deps", "ARG BASE=debian\nFROM $BASE AS deps")}
    assert sorted(image(above).outcomes(GUARD)) == [f"{FILE}[]", f"{FILE}[deps]", f"{FILE}[release]"]
    assert image().not_green() == image(above).not_green() == {}
    evaluation = image(above).evaluation
    places = {case.subject.name: str(case.subject.location) for case in evaluation.cases(evaluation.guards[GUARD])}
    assert places[f"{FILE}[]"] == f"{FILE}:1:5"


@pytest.mark.parametrize(
    "lines",
    [
        ["FROM a", "ARG X", "RUN echo $X"],
        ["FROM a", "ARG X=1", 'ENV Y="${X}/b"'],
        ["FROM a", "ARG X=1 Y=$X", "LABEL l=$Y"],
        ["FROM a", "ARG X", "ARG Y", "RUN echo $X $Y"],
        ["FROM a AS one", "ARG X", "FROM one", "RUN echo $X"],
        ["FROM a AS one", "ARG X", "FROM one", "ARG X", "RUN echo $X"],
        ["ARG X=a", "FROM $X", "ARG X", "RUN echo $X"],
        ["ARG X=a", "ARG Y=$X:1", "FROM ${Y}"],
        ["ARG P=linux", "FROM --platform=$P a"],
        ["FROM --platform=$BUILDPLATFORM a", "ARG TARGETARCH", "RUN echo ${TARGETARCH}"],
        ["FROM a AS one", "ARG X", "RUN echo $X", "FROM b", "RUN X=2; echo $X"],
        ["FROM a AS one", "ARG X", "RUN echo $X", "FROM b", "RUN for X in 1 2; do echo $X; done"],
        ["FROM a AS one", "ARG X", "RUN echo $X", "FROM b", "RUN read -r X < f && echo $X"],
        ["FROM a AS one", "ARG X", "RUN echo $X", "FROM b", "ENV X=1", "RUN echo $X"],
        ["FROM a AS one", "ARG X", "RUN echo $X", "FROM b", "RUN echo '$X' \\$X"],
        ["FROM a AS one", "ARG X", "RUN echo $X", "FROM b", "# $X", "RUN true # $X"],
        ["FROM a", "ARG X", "RUN bash <<EOF", "echo $X", "EOF"],
        ["FROM a", "ARG X", 'RUN bash -c "echo $X"'],
        ["FROM a", "ARG X", "COPY <<EOF /f", "$X", "EOF"],
        ["FROM a", "ARG X", "COPY --chown=$X a b"],
        ["FROM a", "ARG X", "RUN --mount=type=cache,id=c-$X,target=/c true"],
        ["FROM a", "ARG X", "RUN if $(f); then X=1; fi; echo $X"],
        ["FROM a", "ARG X", "RUN echo ${Y:-$X}"],
        ["FROM a", "ARG X", "RUN python3 -c \"import os; os.environ['X']\""],
        ["FROM a", "ARG X", "RUN python3 <<EOF", "import os; os.environ['X']", "EOF"],
        ["FROM a", "ARG X", "ONBUILD RUN echo $X"],
        ["FROM a", "ARG MAX_JOBS UV_INDEX PIP_INDEX_URL HTTPS_PROXY DEBIAN_FRONTEND=noninteractive", "RUN make"],
        ["FROM a", "RUN echo $PATH $HOME $CUDA_VERSION $UNKNOWN_THING"],
        ["FROM a AS one", "ARG CUDA_VERSION", "RUN echo $CUDA_VERSION", "FROM b", "RUN echo $CUDA_VERSION"],
        ["FROM a AS one", "ARG SHARD1", "RUN echo $SHARD1", "FROM b", "RUN echo $SHARD2"],
        ["FROM a", 'ENV TOOL_HOME=/x', "RUN echo $TOOL_HOME"],
        ["FROM a", "CMD echo $X"],
        ["ARG X=a", "FROM b", "ARG X", "RUN echo $X"],
        ["ARG X", "ARG Y=a", "FROM $Y", "FROM $X"],
        ["FROM a", "ENV TOOL_HOME=1", "ARG TOOL_HOMES", "RUN echo $TOOL_HOMES", "FROM b", "RUN echo $TOOL_HOME"],
    ],
)  # fmt: skip
def test_files_that_hold(image: Image, lines: list[str]) -> None:
    assert image(dockerfile(*lines)).messages(GUARD) == []


@pytest.mark.parametrize(
    ("lines", "place", "message"),
    [
        (
            ["FROM a AS one", "ARG X", "RUN echo $X", "FROM b AS two", "RUN echo ${X}"],
            "5:10",
            "the stage 'two' reads the build argument X, which no ARG declares for it; it is at docker/Dockerfile:2:5",
        ),
        (
            ["ARG X=a", "FROM $X AS one", "ENV Y=$X"],
            "3:7",
            "the stage 'one' reads the build argument X, which no ARG declares for it; it is at docker/Dockerfile:1:5",
        ),
        (
            ["FROM a AS one", "RUN echo $X", "ARG X", "RUN echo $X"],
            "2:10",
            "the stage 'one' reads the build argument X, which no ARG declares for it; it is at docker/Dockerfile:3:5",
        ),
        (
            ["FROM a AS one", "RUN <<EOF", "# a", "  echo ä $TARGETARCH", "EOF"],
            "4:10",
            "the stage 'one' reads the build argument TARGETARCH, which no ARG declares for it",
        ),
        (
            ["FROM a AS one", "ARG X", "RUN echo $X", "FROM b AS two", "RUN --mount=type=cache,target=/c/$X true"],
            "5:34",
            "the stage 'two' reads the build argument X, which no ARG declares for it; it is at docker/Dockerfile:2:5",
        ),
        (
            ["FROM a AS one", "ARG X", "RUN echo $X", "FROM b AS two", "COPY <<EOF /f", "${X}", "EOF"],
            "6:1",
            "the stage 'two' reads the build argument X, which no ARG declares for it; it is at docker/Dockerfile:2:5",
        ),
        (
            ["FROM a AS one", "ARG X", "RUN echo $X", "FROM $X AS two"],
            "4:6",
            "FROM reads the build argument X, which no ARG declares for it; it is at docker/Dockerfile:2:5",
        ),
        (
            ["FROM a AS one", "ARG X=1", "RUN X=2; echo ok"],
            "2:5",
            "nothing reads the build argument X in the stage 'one'",
        ),
        (
            ["FROM a AS one", "RUN echo $X", "FROM b AS two", "ARG Y X"],
            "4:5",
            "nothing reads the build argument Y in the stage 'two'",
        ),
        (["FROM a AS one", "ARG X", "RUN echo '$X'"], "2:5", "nothing reads the build argument X in the stage 'one'"),
        (["FROM a AS one", "ARG X", "RUN true # $X"], "2:5", "nothing reads the build argument X in the stage 'one'"),
        (["FROM a AS one", "RUN echo $X", "ARG X"], "3:5", "nothing reads the build argument X in the stage 'one'"),
        (
            [
                "FROM a AS one",
                "ENV TOOL_HOME=1",
                "ARG TOOL_HOMES",
                "RUN echo $TOOL_HOMES",
                "FROM b AS two",
                "RUN echo $TOOL_HOMES",
            ],
            "6:10",
            "the stage 'two' reads the build argument TOOL_HOMES, which no ARG declares for it; it is at docker/Dockerfile:3:5",
        ),
        (["ARG X=a", "FROM b"], "1:5", "no FROM reads the build argument X, and no stage declares it"),
    ],
)
def test_an_argument_out_of_scope_or_unread(image: Image, lines: list[str], place: str, message: str) -> None:
    messages = image(dockerfile(*lines)).messages(GUARD)
    assert f"{FILE}:{place}: {message}" in messages


@pytest.mark.parametrize(
    ("lines", "place", "name", "meant"),
    [
        (
            ["FROM a AS one", "ARG TOOL_VERSION", "RUN echo $TOOL_VERSION $TOOL_VERSOIN"],
            "3:24",
            "TOOL_VERSOIN",
            "TOOL_VERSION",
        ),
        (["FROM a AS one", "ENV TOOL_HOME=/x", "RUN echo ${TOL_HOME:-}"], "3:10", "TOL_HOME", "TOOL_HOME"),
        (["ARG BASE_IMAGE=a", "FROM ${BASE_IMAGES} AS one", "FROM $BASE_IMAGE"], "2:6", "BASE_IMAGES", "BASE_IMAGE"),
    ],
)
def test_a_name_that_is_nearly_another(image: Image, lines: list[str], place: str, name: str, meant: str) -> None:
    broken = image(dockerfile(*lines))
    who = "FROM" if "FROM $" in lines[1] else "the stage 'one'"
    assert broken.messages(GUARD) == [f"{FILE}:{place}: {who} reads {name}, which nothing sets"]
    assert [finding.fix for finding in broken.findings(GUARD)] == [(f"did you mean '{meant}'?",)]
    mended = "\n".join(lines).replace(name, meant)
    assert image(dockerfile(*mended.split("\n"))).messages(GUARD) == []


def test_an_env_that_is_nearly_what_the_projects_code_reads(image: Image) -> None:
    code = {
        "sample/reading.py": "import os\n\nFOLDER = os.environ['SAMPLE_VENV_DIR']\n",
        "sample/notes.txt": "'OTHERS_VENV_DIR'",
    }
    for name in ("SAMPLE_VENVDIR", "SAMPEL_VENV_DIR", "SMP_VENV_DIR"):
        broken = image({**dockerfile("FROM a", f"ENV {name}=/x"), **code})
        assert broken.messages(GUARD) == [f"{FILE}:2:5: sets {name}, which nothing reads"]
        assert broken.findings(GUARD)[0].fix == ("did you mean 'SAMPLE_VENV_DIR'?",)
    for line in ("ENV SAMPLE_VENV_DIR=/x", "ENV SAMPLE_VENVDIR=/x\nRUN echo $SAMPLE_VENVDIR", "ENV OTHER_VENV_DIR=/x"):
        assert image({**dockerfile("FROM a", line), **code}).messages(GUARD) == []


def test_an_env_that_the_projects_code_reads_or_a_later_stage(image: Image) -> None:
    code = {"sample/reading.py": "import os\n\nBOTH = os.environ['SAMPLE_VENV_DIR'], os.environ['SAMPLE_VENV_DIRS']\n"}
    assert image({**dockerfile("FROM a", "ENV SAMPLE_VENV_DIR=/x"), **code}).messages(GUARD) == []
    both = dockerfile("FROM a", "ENV SAMPLE_VENV_DIR=/x", "ENV SAMPLE_VENVDIRS=/y")
    assert image({**both, **code}).messages(GUARD) == [f"{FILE}:3:5: sets SAMPLE_VENVDIRS, which nothing reads"]
    later = dockerfile("FROM a AS one", "ENV SAMPLE_VENVDIRS=/x", "FROM one", "RUN echo $SAMPLE_VENVDIRS")
    assert image({**later, **code}).messages(GUARD) == []


def test_scripts_of_the_project_read_arguments_of_the_run_that_executes_them(image: Image) -> None:
    head = ["FROM a", "WORKDIR /p", "ARG FLAVOUR", "COPY . ."]
    for name, text in (
        ("go.sh", "#!/bin/sh\necho ${FLAVOUR:-}\n"),
        ("go.py", "import os\nos.environ['FLAVOUR']\n"),
    ):
        run = "RUN python3 tools/go.py" if name == "go.py" else "RUN tools/go.sh"
        assert image({**dockerfile(*head, run), f"tools/{name}": text}).messages(GUARD) == []
        unread = image({**dockerfile(*head, run), f"tools/{name}": text.replace("FLAVOUR", "COLOUR")})
        assert len(unread.findings(GUARD)) == 1


def test_what_a_program_reads_by_configuration(image: Image, sample: Image) -> None:
    lines = dockerfile("FROM a AS one", "ARG NVTE_FRAMEWORK=x", "RUN make")
    (finding,) = image(lines).findings(GUARD)
    assert finding.fix == (
        'remove it; or, where a program reads it: build-arguments = [..., "NVTE_FRAMEWORK"] in [tool.pytest-actor-envs]',
    )
    configured = {"pyproject.toml": ("docs = []", 'docs = []\nbuild-arguments = ["NVTE_*"]')}
    assert sample({**lines, **configured}).messages(GUARD) == []


def test_an_argument_above_the_stages_that_nobody_reads(image: Image) -> None:
    (finding,) = image(dockerfile("ARG X=a", "FROM b")).findings(GUARD)
    assert finding.fix == ("remove it, or declare it in the stage that reads it",)


def test_the_line_to_write_mends_it(image: Image) -> None:
    lines = ["FROM a AS one", "ARG X", "RUN echo $X", "FROM b AS two", "RUN echo ${X}"]
    (finding,) = image(dockerfile(*lines)).findings(GUARD)
    assert finding.fix == ("write in the stage, above this line:", "    ARG X")
    assert image(dockerfile(*lines[:4], finding.fix[1].strip(), lines[4])).messages(GUARD) == []
    (finding,) = image(dockerfile(*lines[:3], "FROM $X")).findings(GUARD)
    assert finding.fix == ("write above the first FROM:", "    ARG X")
    assert image(dockerfile("ARG X", *lines[:3], "FROM $X")).messages(GUARD) == []


def test_a_file_that_cannot_be_read_blocks_it(image: Image) -> None:
    (outcome,) = image(dockerfile("FROM a", "NOSUCH x")).outcomes(GUARD).values()
    assert (outcome.verdict.value, outcome.reason) == ("blocked", "image-copies-before-run")


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("ABCDEF", ["ABCDFE"], "ABCDFE"),
        ("ABCDEF", ["ABCDE"], "ABCDE"),
        ("ABCDEF", ["ABXDEF"], "ABXDEF"),
        ("ABCDEF", ["ABCDEFG"], "ABCDEFG"),
        ("ABCDEF", ["ABDEF"], "ABDEF"),
        ("ABCDEF", ["ABCFED"], None),
        ("ABCDEF", ["ABDCXX"], None),
        ("ABCDEF", ["ABXYEF"], None),
        ("ABCDEF", ["ABCDEFGH"], None),
        ("ABCDEFGH", ["ABEFGH"], None),
        ("ABCDEF", ["ABCDEF"], None),
        ("ABCD", ["ABCE"], None),
        ("PART_1", ["PART_2"], None),
        ("CUDA_VERSION", ["UV_VERSION"], None),
        ("NRL_VENV_DIR", ["NEMO_RL_VENV_DIR"], "NEMO_RL_VENV_DIR"),
        ("NRL_BIG_VENV_DIR", ["NEMO_RL_BIG_VENV_DIR"], "NEMO_RL_BIG_VENV_DIR"),
        ("NRL_VENV_DIR", ["NEMO_RL_VENV_TOP"], None),
        ("N_VENV_DIR", ["NEMO_RL_VENV_DIR"], None),
        ("NEMO_RL_VENV_DIR", ["NRL_VENV_DIR"], "NRL_VENV_DIR"),
        ("RAY_VENV_DIR", ["NEMO_RL_VENV_DIR"], None),
        ("VENV_DIR", ["NEMO_RL_VENV_DIR"], None),
        ("SKIP_VLLM_BUILD", ["SKIP_SGLANG_BUILD"], None),
    ],
)
def test_names_that_are_near(name: str, known: list[str], expected: str | None) -> None:
    assert near(name, known) == expected


def test_its_mutants(image: Image) -> None:
    lines = [
        "ARG BASE=a",
        "FROM $BASE AS one",
        "ARG X=1 PATH",
        "RUN echo $X $PATH",
        "FROM one AS two",
        "ARG X",
        "RUN echo $X",
    ]
    name = "NO_SUCH_BUILD_ARGUMENT"
    use, declared = f'+RUN echo "${{{name}}}"', f"+ARG {name}=1"
    assert image(dockerfile(*lines)).mutants(GUARD) == [
        (f"{FILE}[one]", "unread", f"{FILE}:5: {declared}"),
        (f"{FILE}[one]", "declared-below", f"{FILE}:5: {use}\n{FILE}:6: {declared}\n{FILE}:7: {use}"),
        (f"{FILE}[one]", "undeclared", f"{FILE}:2: {declared}\n{FILE}:6: {use}"),
        (f"{FILE}[one]", "misspelt", f"{FILE}:3: -ARG X=1 PATH\n{FILE}:3: +ARG XX=1 PATH"),
        (f"{FILE}[two]", "unread", f"{FILE}:8: {declared}"),
        (f"{FILE}[two]", "declared-below", f"{FILE}:8: {use}\n{FILE}:9: {declared}\n{FILE}:10: {use}"),
        (f"{FILE}[two]", "undeclared", f"{FILE}:2: {declared}\n{FILE}:9: {use}"),
        (f"{FILE}[]", "unread-above", f"{FILE}:2: {declared}"),
    ]
