from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Image = Callable[..., Any]
GUARD = "image-fails-fast"
FILE, SCRIPT = "docker/Dockerfile", "docker/install.sh"


def dockerfile(*lines: str) -> dict[str, str]:
    return {FILE: "\n".join(["FROM debian AS one", *lines, ""])}


def test_each_stage_is_a_subject(image: Image) -> None:
    assert sorted(image().outcomes(GUARD)) == [f"{FILE}[deps]", f"{FILE}[release]"]
    assert image().findings(GUARD) == []


@pytest.mark.parametrize(
    ("lines", "places"),
    [
        (["RUN make one; make two"], ["2:5"]),
        (["RUN make one && \\", "    make two; make three"], ["3:5"]),
        (["RUN <<EOF", "make one", "make two", "EOF"], ["3:1"]),
        (["RUN bash <<EOF", "make one", "make two", "EOF"], ["3:1"]),
        (['RUN <<"EOF" bash -u', "make one", "make two", "EOF"], ["3:1"]),
        (["RUN bash -c 'make one; make two'"], ["2:14"]),
        (['RUN ["bash", "-c", "make one; make two"]'], ["2:1"]),
        (["RUN bash -e <<EOF", "make one", "set +e", "make two", "set -e", "make three", "EOF"], ["5:1"]),
        (["RUN for x in a b; do make $x; done"], ["2:22"]),
        (["RUN bash -e <<EOF", "cp a b && make one", "make two", "EOF"], ["3:1"]),
        (["RUN bash -e <<EOF", "if [ -f x ]; then cp a b && make one; fi", "make two", "EOF"], []),
        (["RUN if make one; then make two; make three; fi"], ["2:23"]),
        (["RUN case $x in a) make one; make two;; esac"], ["2:19"]),
        (["RUN { make one; make two; } && (make three; make four)"], ["2:7", "2:33"]),
        (["RUN f() { make one; make two; } && f"], ["2:11"]),
        (["RUN x=$(make one) ; make two"], ["2:5"]),
        (["RUN cp $(make one; make two) /c"], ["2:10"]),
        (["RUN ! make one; make two"], []),
        (["RUN bash -e <<EOF", "(cp a b) && make one", "make two", "EOF"], ["3:1"]),
        (["RUN bash -e <<EOF", "for x in a; do cp $x b; done && make one", "make two", "EOF"], ["3:1"]),
        (["RUN bash -e <<EOF", "if [ a ]; then cp b c; fi && make one", "make two", "EOF"], ["3:1"]),
        (["RUN bash -e <<EOF", "cp a b && cp b c && make one", "make two", "EOF"], ["3:11"]),
        (["RUN bash -eo pipefail <<EOF", "cp a b | cat && make one", "make two", "EOF"], ["3:1"]),
        (["RUN bash -e <<EOF", "cp a b && echo c && make one", "make two", "EOF"], ["3:1"]),
        (["RUN (set -e; make one; make two); make three"], ["2:5"]),
        (["RUN bash install.sh -e; make two"], ["2:5"]),
        (["RUN bash -e install.sh; make two"], ["2:5"]),
        (["RUN while make one; do make two; make three; done"], ["2:24", "2:34"]),
        (["ONBUILD RUN make one; make two"], ["2:13"]),
    ],
)
def test_a_failure_in_a_chain(image: Image, lines: list[str], places: list[str]) -> None:
    messages = image(dockerfile(*lines)).messages(GUARD)
    assert [message.split(": ")[0] for message in messages] == [f"{FILE}:{place}" for place in places]
    assert all("fails, what follows runs all the same" in message for message in messages)


@pytest.mark.parametrize(
    "lines",
    [
        ["RUN make one && make two"],
        ["RUN (set -e; make one; make two) && make three"],
        ["RUN set -e; make one; make two"],
        ['SHELL ["/bin/bash", "-e", "-c"]', "RUN make one; make two"],
        ["RUN make one || true; make two"],
        ["RUN make one || exit 3"],
        ["RUN echo one; export X=2; X=3; make two"],
        ["RUN <<EOF", "#!/bin/bash -e", "make one", "make two", "EOF"],
        ["RUN python3 <<EOF", "print(1)", "print(2)", "EOF"],
        ["RUN <<EOF", "#!/usr/bin/env python3", "print(1)", "print(2)", "EOF"],
        ["RUN bash -eu <<EOF", "if ! make one; then make two; fi", "[ -n $X ] && make three", "make four", "EOF"],
        ["RUN bash <<EOF", "make one", "status=$?", "exit $status", "EOF"],
        ["RUN make one & wait"],
        ["RUN bash -e <<EOF", "grep -q x f && make one", "! cp a b && make two", "EOF"],
        ["RUN bash -eo pipefail <<EOF", "make a | grep -q x && make one", "[ a ] && [ b ] && make c", "make d", "EOF"],
        ["RUN bash <<EOF", "make one", "if [ $? = 0 ]; then exit 3; fi", "EOF"],
        ["RUN bash <<EOF", "make one", "[ $? = 0 ] || exit 3", "EOF"],
        ["RUN bash <<EOF", "make one", "echo $? | tee log", "EOF"],
        ["RUN bash <<EOF", "make one", "! [ $? = 0 ]", "EOF"],
        ['RUN ["make", "one"]'],
        ["RUN make one # ; make two"],
        ["RUN make one && \\", "    # a comment; here", "    make two"],
    ],
)
def test_what_stops_or_is_meant_to_go_on(image: Image, lines: list[str]) -> None:
    assert image(dockerfile(*lines)).messages(GUARD) == []


@pytest.mark.parametrize(
    ("lines", "places"),
    [
        (["RUN make one | tee log"], ["2:5"]),
        (["RUN bash -e <<EOF", "make one | make two | tee log", "EOF"], ["3:1", "3:12"]),
        (["RUN if make one | grep -q x; then make two; fi"], ["2:8"]),
        (["RUN (make one; make two) | cat"], ["2:6"]),
        (["RUN bash -e <<EOF", "{ make one; make two; } | cat", "EOF"], ["3:1"]),
        (["RUN x=$(make one | cut -f 1) && make $x"], ["2:9"]),
    ],
)
def test_a_failure_in_a_pipe(image: Image, lines: list[str], places: list[str]) -> None:
    messages = image(dockerfile(*lines)).messages(GUARD)
    assert [message.split(": ")[0] for message in messages] == [f"{FILE}:{place}" for place in places]


@pytest.mark.parametrize(
    "lines",
    [
        ["RUN bash -o pipefail -c 'make one | tee log'"],
        ["RUN bash -euo pipefail <<EOF", "make one | tee log", "EOF"],
        ['SHELL ["/bin/bash", "-o", "pipefail", "-c"]', "RUN make one | tee log"],
        ["RUN set -o pipefail && make one | tee log"],
        ["RUN echo one | tee log"],
        ["RUN make one | grep -q x || true"],
        ["RUN bash <<EOF", "make one | tee log", "exit ${PIPESTATUS[0]}", "EOF"],
    ],
)
def test_a_pipe_that_fails_with_its_parts(image: Image, lines: list[str]) -> None:
    assert image(dockerfile(*lines)).messages(GUARD) == []


def test_the_status_behind_a_pipe_is_its_last_commands(image: Image) -> None:
    lines = ["RUN bash -u <<EOF", "set +e", "make one 2>&1 | tee log | awk 1", "STATUS=$?", 'exit "$STATUS"', "EOF"]
    findings = image(dockerfile(*lines)).findings(GUARD)
    assert [str(finding.location) for finding in findings] == [f"{FILE}:4:1", f"{FILE}:4:17", f"{FILE}:5:8"]
    assert findings[2].message.startswith("$? is the status of the last command of the pipe")
    assert findings[2].fix == ("put before it: set -o pipefail", "or read ${PIPESTATUS[0]}")
    mended = [line.replace("set +e", "set +e -o pipefail") for line in lines]
    assert image(dockerfile(*mended)).findings(GUARD) == []


def test_a_script_that_was_copied_is_looked_into(image: Image) -> None:
    broken = image({SCRIPT: ("set -euo pipefail\n", "cp a b\ncp b c\n")})
    assert broken.messages(GUARD) == [
        f"{SCRIPT}:2:1: when `cp a b` fails, what follows runs all the same",
        f"{SCRIPT}:3:1: when `cp b c` fails, what follows runs all the same",
        f"{SCRIPT}:5:3: when `read -ra extras` fails, what follows runs all the same",
        f"{SCRIPT}:6:3: when `uv sync --locked` fails, what follows runs all the same",
    ]
    assert broken.not_green() == {GUARD: "broken"}


def test_the_advice_mends(image: Image) -> None:
    [finding] = image(dockerfile("RUN make one; make two")).findings(GUARD)
    assert finding.fix[0].endswith("start the shell with -e: set -e")
    assert image(dockerfile("RUN set -e; make one; make two")).findings(GUARD) == []
    [finding] = image(dockerfile("RUN make one | tee log")).findings(GUARD)
    instruction = finding.fix[0].partition(": ")[2]
    assert image(dockerfile(instruction, "RUN make one | tee log")).findings(GUARD) == []
    [finding] = image(dockerfile("RUN bash -c 'make one | tee log'")).findings(GUARD)
    code = finding.fix[0].partition(": ")[2]
    assert image(dockerfile(f"RUN bash -c '{code}; make one | tee log'")).findings(GUARD) == []


def test_shell_that_cannot_be_parsed_is_undecided(image: Image) -> None:
    [outcome] = image(dockerfile("RUN if make one; then")).outcomes(GUARD).values()
    assert outcome.verdict.value == "undecided"
    assert outcome.reason.startswith(f"{FILE}:2:")


def test_a_stage_without_runs_holds(image: Image) -> None:
    assert image(dockerfile()).messages(GUARD) == []


def test_a_run_that_waits_for_another_stage_is_told_where_it_stands(image: Image) -> None:
    lines = ["ONBUILD RUN make one; make two", "FROM one AS two", "RUN make one"]
    outcomes = image(dockerfile(*lines)).outcomes(GUARD)
    assert {name: len(outcome.findings) for name, outcome in outcomes.items()} == {f"{FILE}[one]": 1, f"{FILE}[two]": 0}


def test_what_cannot_be_parsed_hides_no_finding(image: Image) -> None:
    assert len(image(dockerfile("RUN if make one; then", "RUN make one; make two")).findings(GUARD)) == 1


@pytest.mark.parametrize(
    ("lines", "reports"),
    [
        (
            ["RUN make one; make two"],
            [
                (
                    "2:5",
                    "when `make one` fails, what follows runs all the same",
                    (
                        "join it to what follows by &&, or start the shell with -e: set -e",
                        "where the failure does not matter, say so: || true",
                    ),
                )
            ],
        ),
        (
            ["RUN make one | tee log"],
            [
                (
                    "2:5",
                    "when `make one` fails, the pipe behind it succeeds all the same",
                    ('run it in bash, with pipefail: SHELL ["/bin/bash", "-o", "pipefail", "-c"]',),
                )
            ],
        ),
        (
            ["RUN bash -c 'make one | tee log'"],
            [
                (
                    "2:14",
                    "when `make one` fails, the pipe behind it succeeds all the same",
                    ("put before it: set -o pipefail",),
                )
            ],
        ),
        (
            ["RUN bash <<EOF", "echo | tee log", "exit $?", "EOF"],
            [
                (
                    "4:6",
                    "$? is the status of the last command of the pipe above, whatever the others did",
                    ("put before it: set -o pipefail", "or read ${PIPESTATUS[0]}"),
                )
            ],
        ),
    ],
)
def test_what_is_said_and_what_to_do(
    image: Image, lines: list[str], reports: list[tuple[str, str, tuple[str, ...]]]
) -> None:
    expected = [(f"{FILE}:{place}", message, fix) for place, message, fix in reports]
    assert image(dockerfile(*lines)).reports(GUARD) == expected


def test_shell_that_cannot_be_parsed_is_told_with_the_way_out(image: Image) -> None:
    assert image(dockerfile("RUN if make one; then")).reasons(GUARD) == {
        f"{FILE}[one]": f"undecided: {FILE}:2:22: this shell text cannot be parsed, so nobody can tell what it does; "
        "write it so that `bash -n` accepts it, or exempt this place with a reason"
    }
