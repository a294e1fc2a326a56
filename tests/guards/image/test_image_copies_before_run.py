from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Image = Callable[..., Any]
GUARD = "image-copies-before-run"
FILE, SCRIPT, LEAF, PRINT = (
    "docker/Dockerfile",
    "docker/install.sh",
    "sample/actor_environments.py",
    "tools/generate_fingerprint.py",
)
COPY_LEAF = "COPY sample/actor_environments.py sample/\n"


def dockerfile(*lines: str) -> dict[str, str]:
    return {FILE: "\n".join(["FROM debian AS one", "WORKDIR /project", *lines, ""])}


def test_each_stage_is_a_subject(image: Image) -> None:
    assert sorted(image().outcomes(GUARD)) == [f"{FILE}[deps]", f"{FILE}[release]"]
    assert image().not_green() == {}


def test_a_script_that_no_copy_brought(image: Image) -> None:
    [finding] = image({FILE: (COPY_LEAF, "")}).findings(GUARD)
    assert str(finding.location) == f"{FILE}:5:1"
    assert finding.message == f"runs {LEAF}, which no COPY put at /project/{LEAF} before"
    assert finding.fix == ("put above this RUN:", f"    COPY {LEAF} /project/{LEAF}")
    assert image({FILE: (COPY_LEAF, f"{finding.fix[1].strip()}\n")}).not_green() == {}


def test_a_script_that_another_script_runs(image: Image) -> None:
    line = "python3 sample/stamp.py write\n"
    files = {SCRIPT: ("set -euo pipefail\n", f"set -euo pipefail\n{line}"), "sample/stamp.py": ""}
    [finding] = image(files).findings(GUARD)
    assert str(finding.location) == f"{FILE}:11:5"
    assert finding.message == f"{SCRIPT}:3 runs sample/stamp.py, which no COPY put at /project/sample/stamp.py before"
    copy = finding.fix[1].strip()
    assert (
        image({**files, FILE: ("COPY pyproject.toml ./\n", f"COPY pyproject.toml ./\n{copy}\n")}).findings(GUARD) == []
    )


def test_what_a_standalone_script_reads(image: Image) -> None:
    lines = [f"COPY {PRINT} tools/", "COPY pyproject.toml uv.lock* ./", f"RUN python3 {PRINT}"]
    broken = image(dockerfile(*lines))
    [finding] = broken.findings(GUARD)
    assert str(finding.location) == f"{FILE}:5:5"
    assert finding.message == f"runs {PRINT}, which reads {LEAF}; no COPY put it at /project/{LEAF} before"
    assert image(dockerfile(finding.fix[1].strip(), *lines)).findings(GUARD) == []
    [finding] = image(dockerfile(*[f"COPY {LEAF} sample/", lines[0], "COPY pyproject.toml ./", lines[2]])).findings(
        GUARD
    )
    assert "which reads uv.lock" in finding.message


def test_every_file_that_a_script_names_is_read_by_it(image: Image) -> None:
    names = 'LONG = "%s"\nLINES = "a\\nb"\nNAMES = ["notes/page.txt", "NOTICE", "no/such.txt"]\n' % ("x" * 5000)
    files = {"notes/page.txt": "", "NOTICE": "", LEAF: ("import sys\n", f"import sys\n\n{names}")}
    findings = image({**files, **dockerfile(f"COPY {LEAF} sample/", f"RUN python3 {LEAF}")}).findings(GUARD)
    assert [finding.message.partition(";")[0] for finding in findings] == [
        f"runs {LEAF}, which reads NOTICE", f"runs {LEAF}, which reads notes/page.txt",
    ]  # fmt: skip
    copies = [finding.fix[1].strip() for finding in findings]
    assert copies == ["COPY NOTICE /project/NOTICE", "COPY notes/page.txt /project/notes/page.txt"]
    mended = dockerfile(f"COPY {LEAF} sample/", *copies, f"RUN python3 {LEAF}")
    assert image({**files, **mended}).findings(GUARD) == []
    ignored = {**files, **mended, ".dockerignore": "NOTICE"}
    assert ["reads NOTICE" in finding.message for finding in image(ignored).findings(GUARD)] == [True]


def test_a_module_that_no_copy_brought(image: Image) -> None:
    files = {**dockerfile("RUN python3 -m sample.tool && python3 -m sample.no_such"), "sample/tool/__main__.py": ""}
    [finding] = image(files).findings(GUARD)
    place = "sample/tool/__main__.py"
    assert finding.message == f"runs {place}, which no COPY put at /project/{place} before"


@pytest.mark.parametrize(
    "lines",
    [
        [f"RUN python3 {LEAF}"],
        [f"RUN python3 -B -W error {LEAF} all"],
        [f"RUN uv run --extra alpha {LEAF}"],
        [f"RUN uv run python {LEAF}"],
        [f"RUN true && ./{LEAF}"],
        ["RUN cd sample && python3 actor_environments.py"],
        [f"RUN /project/{LEAF}"],
        ["RUN python3 -m sample.actor_environments"],
        [f"RUN env X=1 timeout 5 python3 {LEAF}"],
        [f"RUN x=$(python3 {LEAF})"],
        [f"RUN while read -r x; do echo; done < <(python3 {LEAF})"],
        [f'RUN ["python3", "{LEAF}"]'],
        ["RUN bash -e <<EOF", f"if true; then python3 {LEAF}; fi", "EOF"],
        [f"ARG FILE={LEAF}", "RUN python3 $FILE"],
        ["ENV FOLDER=sample", "RUN f() { python3 $1; }; f ${FOLDER}/actor_environments.py"],
        [f"RUN python3 {LEAF}", "COPY . ./"],
        [f"COPY {LEAF} /elsewhere/", f"RUN python3 {LEAF}"],
        ["COPY sample /elsewhere", f"RUN python3 {LEAF}"],
        ["COPY *.toml ./", f"RUN python3 {LEAF}"],
        ["COPY --exclude=sample . .", f"RUN python3 {LEAF}"],
        ["RUN git clone https://example.org/some/other.git", f"RUN python3 {LEAF}"],
    ],
)
def test_forms_of_running_what_is_not_there(image: Image, lines: list[str]) -> None:
    broken = image(dockerfile(*lines))
    assert [f"runs {LEAF}" in finding.message for finding in broken.findings(GUARD)] == [True]


@pytest.mark.parametrize(
    "lines",
    [
        [f"COPY {LEAF} {LEAF}", f"RUN python3 {LEAF}"],
        ["COPY sample sample", "RUN cd sample && python3 actor_environments.py"],
        ["COPY sample/*.py /project/sample/", f"RUN python3 {LEAF}"],
        ["COPY . .", f"RUN python3 {LEAF}"],
        ["COPY . .", "RUN python3 -m sample.actor_environments"],
        [f"COPY ./{LEAF} /x.py", "RUN python3 /x.py"],
        [f"RUN --mount=type=bind,source={LEAF},target=/m.py python3 /m.py"],
        [f"RUN --mount=target=/src cd /src && python3 {LEAF}"],
        ["COPY --from=named-context sample sample", f"RUN python3 {LEAF}"],
        [f"ADD {LEAF} sample/", f"RUN python3 {LEAF}"],
        ["RUN python3 -c 'import sample'", "RUN python3 -m pip list", "RUN no/such/script.sh"],
        ["RUN git clone https://example.org/x . && python3 setup.py"],
        [
            "WORKDIR /w",
            "RUN git clone https://example.org/some/sample.git",
            "WORKDIR sample",
            "RUN python3 tools/generate_fingerprint.py",
        ],
        ["RUN tar xf /tmp/sample-1.tar.gz", "WORKDIR sample-1", f"RUN python3 {LEAF}"],
        [f"RUN curl -o {LEAF} https://example.org/x && python3 {LEAF}"],
        [f"RUN echo > {LEAF}", f"RUN python3 {LEAF}"],
        ["RUN cd /opt/other && python3 sample/actor_environments.py"],
        ["FROM one AS two", "COPY sample sample", "FROM two AS three", f"RUN python3 {LEAF}"],
        ["ONBUILD COPY sample sample", "FROM one AS two", f"RUN python3 {LEAF}"],
        [f"COPY {LEAF} /a/", "FROM debian", "COPY --from=one /a /b", "RUN python3 /b/actor_environments.py"],
    ],
)
def test_what_is_there_or_of_no_project(image: Image, lines: list[str]) -> None:
    assert image(dockerfile(*lines)).findings(GUARD) == []


def test_what_dockerignore_leaves_out_is_not_there(image: Image) -> None:
    files = {**dockerfile("COPY . .", f"RUN python3 {LEAF}"), ".dockerignore": "# comment\nsample\n"}
    [finding] = image(files).findings(GUARD)
    assert finding.fix == (".dockerignore keeps it out of the build context; add there:", f"    !{LEAF}")
    mended = f"# comment\nsample\n{finding.fix[1].strip()}\n"
    assert image({**files, ".dockerignore": mended}).findings(GUARD) == []


def test_a_file_that_depends_on_an_argument_is_undecided(image: Image) -> None:
    [outcome] = image(dockerfile("ARG SETUP", "RUN bash /opt/${SETUP}")).outcomes(GUARD).values()
    assert outcome.verdict.value == "undecided"
    assert outcome.reason == (
        f"{FILE}:4:10: which file runs depends on the build argument SETUP; give it a default: ARG SETUP=..."
    )
    assert image(dockerfile("ARG SETUP=x.sh", "RUN bash /opt/${SETUP}")).findings(GUARD) == []


def test_shell_that_cannot_be_parsed_is_undecided(image: Image) -> None:
    [outcome] = image(dockerfile("RUN if x; then")).outcomes(GUARD).values()
    assert outcome.verdict.value == "undecided"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("FROM a\nRUNS b\n", 2, "unknown instruction: RUNS"),
        ("\n", 1, "there is no FROM"),
        ("FROM a\nRUN <<X\n", 2, "unterminated heredoc"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_finding_and_blocks_the_others(
    image: Image, text: str, line: int, words: str
) -> None:
    broken = image({FILE: text})
    [finding] = broken.findings(GUARD)
    assert str(finding.location) == f"{FILE}:{line}:1"
    assert finding.message == f"Docker cannot read this: {words}"
    assert set(broken.not_green().values()) == {"broken", "blocked"}
    assert [outcome.reason for outcome in broken.outcomes("image-fails-fast").values()] == [GUARD]


def test_what_cannot_be_parsed_hides_no_finding(image: Image) -> None:
    assert len(image(dockerfile("RUN if x; then", f"RUN python3 {LEAF}")).findings(GUARD)) == 1


def test_a_file_that_docker_cannot_read_is_told_with_the_way_out(image: Image) -> None:
    [(place, message, fix)] = image(dockerfile("NOSUCH x")).reports(GUARD)
    assert place == f"{FILE}:3:1"
    assert message.startswith("Docker cannot read this: ")
    assert fix == ("mend the line",)


def test_where_to_put_what_a_standalone_script_reads(image: Image) -> None:
    lines = [f"COPY {PRINT} tools/", "COPY pyproject.toml uv.lock* ./", f"RUN python3 {PRINT}"]
    assert image(dockerfile(*lines)).findings(GUARD)[0].fix == (
        "put above this RUN:",
        f"    COPY {LEAF} /project/{LEAF}",
    )


def test_a_stage_stands_at_its_from(image: Image) -> None:
    evaluation = image().evaluation
    cases = evaluation.cases(evaluation.guards[GUARD])
    assert [str(case.subject.location) for case in cases] == [f"{FILE}:1:1", f"{FILE}:13:1"]


def test_a_file_that_depends_on_an_argument_hides_no_finding(image: Image) -> None:
    lines = ["ARG NAME", f"RUN python3 {LEAF}", "RUN python3 $NAME"]
    [outcome] = image(dockerfile(*lines)).outcomes(GUARD).values()
    assert (outcome.verdict.value, len(outcome.findings)) == ("broken", 1)


@pytest.mark.parametrize(
    "making",
    [
        f"touch {LEAF}",
        "mv /x sample",
        'install /x/actor_environments.py "$NO"',
        'install "/x/actor_environments.py" "$NO"',
        "git clone host/sample.git",
    ],
)
def test_a_file_that_a_command_made_needs_no_copy(image: Image, making: str) -> None:
    assert image(dockerfile(f"RUN {making} && python3 {LEAF}")).messages(GUARD) == []


def test_quotes_are_no_part_of_the_name_of_a_file_that_a_command_made(image: Image) -> None:
    lines = ['RUN install "/x/MIX" "$NO" && python3 sample/MIX']
    assert image({**dockerfile(*lines), "sample/MIX": ""}).messages(GUARD) == []


@pytest.mark.parametrize(
    "before", ["cp /etc/sample /elsewhere", "touch -r/x/actor_environments.py /y", 'python3 "$NO"', "mv /x samples"]
)
def test_a_file_that_no_command_made_needs_one(image: Image, before: str) -> None:
    [message] = image(dockerfile(f"RUN {before} && python3 {LEAF}")).messages(GUARD)
    assert message.endswith(f": runs {LEAF}, which no COPY put at /project/{LEAF} before")


def test_a_package_that_is_run_needs_its_main_module(image: Image) -> None:
    broken = image({**dockerfile("RUN python3 -m sample"), "sample/__main__.py": ""})
    [message] = broken.messages(GUARD)
    assert message == f"{FILE}:3:5: runs sample/__main__.py, which no COPY put at /project/sample/__main__.py before"


def test_a_file_that_runs_twice_is_told_once(image: Image) -> None:
    lines = [f"RUN python3 {LEAF} && python3 {LEAF}", f"RUN python3 {LEAF}"]
    [message] = image(dockerfile(*lines)).messages(GUARD)
    assert message.startswith(f"{FILE}:3:5: ")


def test_a_file_that_another_stage_has_is_meant_where_this_one_runs_it(image: Image) -> None:
    lines = ["COPY sample /tools", "FROM debian AS two", "COPY pyproject.toml /x/", "RUN python3 /tools/workers.py"]
    [finding] = image(dockerfile(*lines)).findings(GUARD)
    assert finding.fix == ("put above this RUN:", "    COPY sample/workers.py /tools/workers.py")


def test_a_file_beside_the_checkout_is_none_of_the_project(image: Image) -> None:
    assert image({**dockerfile("RUN python3 /beside.py"), "../beside.py": ""}).messages(GUARD) == []


@pytest.mark.parametrize(
    ("name", "is_read"), [("x" * 255, True), ("x" * 256, False), ("\u00e9" * 128, False), ("a\nb", False)]
)
def test_what_can_be_no_name_of_a_file_is_not_looked_for(image: Image, name: str, is_read: bool) -> None:
    files = {name: "", LEAF: ("import sys\n", f"import sys\n\nNAME = {name!r}\n")}
    messages = image({**files, **dockerfile(f"COPY {LEAF} sample/", f"RUN python3 {LEAF}")}).messages(GUARD)
    assert [f"which reads {name};" in message for message in messages] == [True] * is_read


@pytest.mark.parametrize(
    ("folder", "script", "root"),
    [
        ("/other/tools/", f"/other/{PRINT}", "/other"),
        ("/tools/", f"/{PRINT}", ""),
        ("/print.py", "/print.py", "/project"),
    ],
)
def test_what_a_script_reads_stands_in_the_folder_of_its_project(
    image: Image, folder: str, script: str, root: str
) -> None:
    lines = [f"COPY {PRINT} {folder}", f"COPY pyproject.toml uv.lock* {root}/", f"RUN python3 {script}"]
    [finding] = image(dockerfile(*lines)).findings(GUARD)
    assert finding.fix == ("put above this RUN:", f"    COPY {LEAF} {root}/{LEAF}")
    assert image(dockerfile(finding.fix[1].strip(), *lines)).findings(GUARD) == []


@pytest.mark.parametrize("lines", [['RUN bash "/opt/$NO"'], ["ARG SETUP=x", 'RUN bash "/opt/$SETUP/$NO"']])
def test_a_file_that_depends_on_no_argument_without_a_default_is_passed_over(image: Image, lines: list[str]) -> None:
    assert image(dockerfile(*lines)).reasons(GUARD) == {}


def test_a_copy_is_forgotten_for_a_module_beside_a_script_of_no_project(image: Image) -> None:
    lines = [f"COPY {LEAF} sample/", "RUN python3 no/such.py || python3 -m sample.actor_environments"]
    assert image(dockerfile(*lines)).changes(GUARD)[-2:] == [
        f"{FILE}[one], copy-forgotten",
        f"{FILE}:3: -COPY {LEAF} sample/",
    ]
