"""image-env-set-once: an ENV is set once, and above the RUNs that read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Image = Callable[..., Any]
GUARD = "image-env-set-once"
FILE = "docker/Dockerfile"


def dockerfile(*lines: str) -> dict[str, str]:
    return {FILE: "\n".join([*lines, ""])}


def test_each_stage_is_a_subject(image: Image) -> None:
    assert sorted(image().outcomes(GUARD)) == [f"{FILE}[deps]", f"{FILE}[release]"]
    assert image().not_green() == {}


@pytest.mark.parametrize(
    "lines",
    [
        ["FROM a"],
        ["FROM a", "ENV A=1 B=2", "RUN echo $A"],
        ["FROM a", "ENV PATH=/x:$PATH", "RUN echo $PATH", "ENV PATH=/y:${PATH}"],
        ["FROM a AS one", "ENV A=1", "FROM b AS two", "ENV A=2"],
        ["FROM a", "ARG A=1", "RUN echo $A", "ENV A=$A"],
        ["FROM a", "ARG A=1", "ENV A=${A}", "RUN echo $A"],
        ["FROM a", "RUN A=1; echo $A", "ENV A=1"],
        ["FROM a", "RUN export A=1 && make $A", "ENV A=1"],
        ["FROM a", "RUN bash <<'EOF'", "for A in 1 2; do echo $A; done", "EOF", "ENV A=1"],
        ["FROM a", "RUN echo '$A' # $A", "ENV A=1"],
        ["FROM a AS one", "RUN echo $A", "FROM b AS two", "ENV A=1"],
        ["FROM a", "ARG A=1", "ENV A=2"],
        ["FROM a", "ARG A=1 B=1", "RUN echo $B", "ENV B=$B"],
        ["FROM a", "ENV A 1"],
    ],
)
def test_files_that_hold(image: Image, lines: list[str]) -> None:
    assert image(dockerfile(*lines)).messages(GUARD) == []


@pytest.mark.parametrize(
    ("lines", "messages"),
    [
        (["FROM a", "ENV A=1", "ENV A=1"], ["3:5: A is set again; it is set at docker/Dockerfile:2:5"]),
        (["FROM a", "ENV A=1 B=2 A=3"], ["2:13: A is set again; it is set at docker/Dockerfile:2:5"]),
        (["FROM a", "ENV A=1", "ENV B=$A \\", "    A=/x"], ["4:5: A is set again; it is set at docker/Dockerfile:2:5"]),
        (
            ["FROM a AS one", "ENV A=1", "FROM one AS two", "ENV A=2", "FROM two", "ENV A=3"],
            [
                "6:5: A is set again; it is set at docker/Dockerfile:2:5",
                "4:5: A is set again; it is set at docker/Dockerfile:2:5",
            ],
        ),
        (["FROM a", "RUN echo $A", "ENV A=1"], ["3:5: A is set behind a RUN that reads it, at docker/Dockerfile:2:10"]),
        (
            ["FROM a AS one", "RUN bash <<EOF", "echo ok", "  echo ${A:-}", "EOF", "FROM one", "ENV A=1"],
            ["7:5: A is set behind a RUN that reads it, at docker/Dockerfile:4:8"],
        ),
        (
            ["FROM a", "ONBUILD ENV A=1", "ENV A=2"],
            ["3:5: A is set again; it is set at docker/Dockerfile:2:13"],
        ),
    ],
)
def test_an_env_that_is_set_again_or_late(image: Image, lines: list[str], messages: list[str]) -> None:
    broken = image(dockerfile(*lines))
    assert broken.messages(GUARD) == [f"{FILE}:{message}" for message in messages]
    assert all(finding.fix for finding in broken.findings(GUARD))


def test_a_script_of_the_project_reads_it(image: Image) -> None:
    lines = ["FROM a", "WORKDIR /p", "COPY tools/go.sh tools/", "RUN tools/go.sh", "ENV A=1"]
    script = {"tools/go.sh": "#!/bin/sh\nset -e\necho ${A:-}\n"}
    broken = image({**dockerfile(*lines), **script})
    assert broken.messages(GUARD) == [f"{FILE}:5:5: A is set behind a RUN that reads it, at tools/go.sh:3:6"]
    assert broken.findings(GUARD)[0].fix == ("set it above that RUN, or for one command alone:", "    RUN A=1 ...")
    above = [*lines[:3], lines[4], lines[3]]
    assert image({**dockerfile(*above), **script}).messages(GUARD) == []
    alone = [*lines[:3], "RUN A=1 tools/go.sh"]
    assert image({**dockerfile(*alone), **script}).messages(GUARD) == []


def test_a_file_that_cannot_be_read_blocks_it(image: Image) -> None:
    (outcome,) = image(dockerfile("FROM a", "NOSUCH x")).outcomes(GUARD).values()
    assert (outcome.verdict.value, outcome.reason) == ("blocked", "image-copies-before-run")


def test_its_mutants(image: Image) -> None:
    name = "NO_SUCH_VARIABLE"
    assert image(dockerfile("FROM a AS one", "ENV A=1", "FROM one AS two", "ARG B=1")).mutants(GUARD) == [
        (f"{FILE}[{stage}]", shape, "\n".join(f"{FILE}:{line + index}: +{text}" for index, text in enumerate(texts)))
        for stage, line in (("one", 3), ("two", 5))
        for shape, texts in (
            ("set-twice", [f"ENV {name}=1", f"ENV {name}=2"]),
            ("set-twice-at-once", [f"ENV {name}=1 {name}=1"]),
            ("set-behind", [f'RUN echo "${{{name}}}"', f"ENV {name}=1"]),
            ("set-again", ["ENV A=again"]),
        )
    ]


def test_what_to_do_about_each(image: Image) -> None:
    again = image(dockerfile("FROM a", "ENV A=1", "ENV A=2"))
    assert again.reports(GUARD) == [
        (
            f"{FILE}:3:5",
            f"A is set again; it is set at {FILE}:2:5",
            ("keep one of the two, in the stage that needs it first",),
        )
    ]
    late = image(dockerfile("FROM a", "RUN echo $A", "RUN echo -n $A", "ENV A=1"))
    assert late.reports(GUARD) == [
        (
            f"{FILE}:4:5",
            f"A is set behind a RUN that reads it, at {FILE}:2:10",
            ("set it above that RUN, or for one command alone:", "    RUN A=1 ..."),
        )
    ]


def test_a_setting_behind_an_argument_is_looked_at_too(image: Image) -> None:
    lines = ["FROM a", "RUN echo $B", "ARG A=1", "ENV C=1", "ENV B=1 C=2"]
    assert image(dockerfile(*lines)).messages(GUARD) == [
        f"{FILE}:5:5: B is set behind a RUN that reads it, at {FILE}:2:10",
        f"{FILE}:5:9: C is set again; it is set at {FILE}:4:5",
    ]
