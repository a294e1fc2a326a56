"""Dockerfiles as data: what Docker reads, and where it stands."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.dockerfile import Copy, Dockerfile, DockerfileError, Run, Settings, Trigger
from pytest_actor_envs.sources.dockerfile_parser import read_dockerfile, substituted


def read(text: str) -> Dockerfile:
    return read_dockerfile("Dockerfile", text)


def settings(file: Dockerfile) -> list[tuple[str, str | None, int, int]]:
    return [
        (setting.name, setting.value, setting.location.line, setting.location.column)
        for _, item in file.instructions()
        if isinstance(item, Settings)
        for setting in item.settings
    ]


def test_stages_have_names_bases_and_parents() -> None:
    file = read("ARG TAG=Base\nFROM debian AS base\nFROM ${TAG} AS second\nFROM scratch\nCOPY --from=1 /a /b\n")
    assert [(stage.name, stage.base) for stage in file.stages] == [
        ("base", "debian"), ("second", "${TAG}"), ("2", "scratch"),
    ]  # fmt: skip
    assert file.stages[1].parent is file.stages[0]
    assert file.stages[2].parent is None
    assert file.descendants(file.stages[0]) == [file.stages[1]]
    assert file.stage("SECOND") is file.stages[1]
    assert file.stage("1", before=2) is file.stages[1]
    assert file.stage("second", before=1) is None
    [(_, copied)] = file.instructions()
    assert isinstance(copied, Copy)
    assert (copied.origin, copied.sources, copied.destination) == ("1", ("/a",), "/b")
    assert file.arguments[0].value == "Base"


def test_settings_stand_where_they_are_written() -> None:
    file = read("FROM a\nENV A=1 \\\n # A=2\n\n  B='x y' C=$A\nENV OLD some text\nARG D\nARG E=1 F\n")
    assert settings(file) == [
        ("A", "1", 2, 5), ("B", "'x y'", 5, 3), ("C", "$A", 5, 11), ("OLD", "some text", 6, 5),
        ("D", None, 7, 5), ("E", "1", 8, 5), ("F", None, 8, 9),
    ]  # fmt: skip


def test_run_keeps_the_place_of_every_character_that_the_shell_reads() -> None:
    file = read("FROM a\nRUN --mount=type=cache,target=/x one \\\n  # no\n\n && two\n")
    [run] = file.stages[0].runs()
    lines = run.script.split("\n")
    assert lines[0].index("one") == 33
    assert lines[0].endswith("\\") and lines[1].endswith("\\") and lines[2] == "\\"
    assert "#" not in run.script and lines[3] == " && two"
    assert run.flag("mount") == "type=cache,target=/x"
    assert (run.location.line, run.end_line) == (2, 5)


def test_heredocs_have_a_place_and_a_mark() -> None:
    file = read('FROM a\nRUN <<"A" bash <<-B -e\n\none\nA\n\ttwo $X\n\tB\nCOPY <<F /f\nhi\nF\n')
    run, copied = file.stages[0].instructions
    assert isinstance(run, Run) and isinstance(copied, Copy)
    assert [(item.text, item.location.line, item.expands) for item in run.heredocs] == [
        ("\none\n", 3, False), ("\ttwo $X\n", 6, True),
    ]  # fmt: skip
    assert run.script.split() == ["bash", "-e"]
    assert run.heredoc_columns == ((0, 4), (0, 15))
    assert copied.sources == () and copied.destination == "/f"
    assert copied.heredocs[0].text == "hi\n"


def test_exec_form_has_no_script() -> None:
    [run] = read('FROM a\nRUN ["echo", "a b"]\n').stages[0].runs()
    assert run.is_json and run.script == "" and run.words == ("echo", "a b")


def test_other_escape_character() -> None:
    file = read("# escape=`\nFROM a\nONBUILD RUN one `\n  two\nRUN a\\b\n")
    assert file.escape == "`"
    trigger, _ = file.stages[0].instructions
    assert isinstance(trigger, Trigger) and isinstance(trigger.triggered, Run)
    assert trigger.triggered.script.split() == ["one", "\\", "two"]
    assert trigger.triggered.location.line == 3


def test_onbuild_runs_in_the_next_stage_only() -> None:
    file = read("FROM a AS one\nONBUILD RUN x\nFROM one AS two\nRUN y\nFROM two AS three\nRUN z\n")
    ran = [item.words[0] for item in file.stages[2].history if isinstance(item, Run)]
    assert ran == ["x", "y", "z"]


def test_carriage_returns_and_mark_of_byte_order() -> None:
    file = read("\ufeffFROM a\r\nRUN one \\\r\n  two\r\n")
    assert file.stages[0].runs()[0].script.split() == ["one", "\\", "two"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("FROM a\nRUNN b\n", 2, "unknown instruction: RUNN"),
        ("RUN a\nFROM b\n", 1, "above the first FROM"),
        ("", 1, "there is no FROM"),
        ("FROM a b\n", 1, "FROM takes an image"),
        ("FROM a\nRUN <<X\nb\n", 2, "unterminated heredoc"),
        ("FROM a\n\nONBUILD FROM b\n", 3, "ONBUILD takes one instruction"),
    ],
)
def test_what_docker_would_not_read(text: str, line: int, words: str) -> None:
    with pytest.raises(DockerfileError, match=words) as raised:
        read(text)
    assert raised.value.location.line == line


def test_substitution() -> None:
    values = {"X": "1", "EMPTY": ""}
    assert substituted("a-$X-${Y:-d}-${EMPTY:-e}-$NO'$X'", values) == "a-1-d-e-$X"
