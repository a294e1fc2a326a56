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
    assert file.stage("2") is file.stages[2] and file.stage("none") is None
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
    assert file.stages[0].runs()[0].script == "    one \\\n  two"
    assert str(file.stages[0].location) == "Dockerfile:1:1" and file.path == "Dockerfile"
    assert str(read("\ufeffARG A=1\nFROM a\n").arguments[0].location) == "Dockerfile:1:5"


def test_an_instruction_says_what_its_lines_say_and_where() -> None:
    [run, added, copied, command] = (
        read(
            "FROM a\n\n  RUN --mount=a --network=none \\\n  # c\n  --mount=b one --mount=a\n"
            'ADD --link a 2<<F b /c\nhi\nF\nCOPY --from=one --from=two a b\nCMD ["a"]\n'
        )
        .stages[0]
        .instructions
    )
    assert isinstance(run, Run) and isinstance(added, Copy) and isinstance(copied, Copy)
    assert (str(run.location), run.end_line, run.keyword, run.is_json) == ("Dockerfile:3:3", 5, "RUN", False)
    assert run.source == "  RUN --mount=a --network=none \\\n  # c\n  --mount=b one --mount=a"
    assert run.flags == {"mount": ("a", "b"), "network": ("none",)}
    assert run.flag("mount") == "b" and run.flag("security") is None
    assert run.script == f"{' ' * 31}\\\n    \\\n{' ' * 12}one --mount=a"
    assert str(run.script_location) == "Dockerfile:3:1"
    assert (added.sources, added.destination, added.origin, added.flag("link")) == (("a", "b"), "/c", None, "")
    assert (str(added.location), added.end_line, added.source) == ("Dockerfile:6:1", 8, "ADD --link a 2<<F b /c\nhi\nF")
    assert [(text.name, str(text.location)) for text in added.heredocs] == [("F", "Dockerfile:7:1")]
    assert copied.origin == "two"
    assert command.is_json and command.words == ("a",)
    [empty] = read("FROM a\nCOPY\n").stages[0].instructions
    assert isinstance(empty, Copy) and (empty.end_line, empty.sources, empty.destination) == (2, (), "")


def test_a_stage_has_a_place_and_a_last_line() -> None:
    file = read("ARG A=x\nARG B=$A\n\nFROM one as X\nRUN a \\\n  b\nFROM $B AS y\n  FROM z\n")
    assert [(stage.name, str(stage.location), stage.end_line) for stage in file.stages] == [
        ("X", "Dockerfile:4:1", 6), ("y", "Dockerfile:7:1", 7), ("2", "Dockerfile:8:3", 8),
    ]  # fmt: skip
    assert file.stages[1].parent is file.stages[0] and file.stages[2].parent is None
    assert [stage.lineage for stage in file.stages[:2]] == [file.stages[:1], file.stages[:2]]
    assert [stage.index for stage in file.stages] == [0, 1, 2]
    for text in ("# escape=`\nARG A=a`b\nFROM c AS ab\nFROM $A\n", "# escape=`\nFROM c AS ab\nFROM a`b\n"):
        escaped = read(text).stages
        assert escaped[1].parent is escaped[0]
    named = read("ARG A\nFROM c AS b\nFROM b$A\n").stages
    assert named[1].parent is named[0]


def test_the_last_stage_of_a_name_is_meant() -> None:
    file = read("FROM a AS x\nFROM b AS X\nFROM x\nFROM c AS 0\n")
    assert file.stages[2].parent is file.stages[1] and file.stage("x") is file.stages[1]
    assert file.stage("x", before=1) is file.stages[0] and file.stage("x", before=0) is None
    assert file.stage("0") is file.stages[3] and file.stage("0", before=3) is file.stages[0]


def test_what_is_known_is_not_made_anew() -> None:
    text = "FROM a\nRUN one\nENV A=1\n"
    known = {item: item for _, item in read(text).instructions()}
    again = [item for _, item in read_dockerfile("Dockerfile", text.replace("A=1", "A=2"), known).instructions()]
    assert again[0] is next(iter(known)) and again[1] not in known


def test_a_triggered_instruction_stands_where_it_is_written() -> None:
    file = read("FROM a\nRUN x\n  onbuild ENV A=1 \\\n   B=2\nONBUILD RUN one \\\n  onbuild\nRUN y\n")
    assert settings(read("FROM a\nENV C=3\n")) == [("C", "3", 2, 5)]
    [_, first, second, _] = file.stages[0].instructions
    assert isinstance(first, Trigger) and isinstance(first.triggered, Settings)
    assert [(item.name, str(item.location)) for item in first.triggered.settings] == [
        ("A", "Dockerfile:3:15"), ("B", "Dockerfile:4:4"),
    ]  # fmt: skip
    assert isinstance(second, Trigger) and isinstance(second.triggered, Run)
    assert (str(first.triggered.location), first.triggered.end_line) == ("Dockerfile:3:11", 4)
    assert second.triggered.script.split() == ["one", "\\", "onbuild"]
    assert [run.words[0].split()[0] for run in file.stages[0].runs()] == ["x", "one", "y"]


def test_continuations_end_where_docker_ends_them() -> None:
    [first, second, last] = read("FROM a\nRUN a \\ \t\n\n   \n#\n b\\c\nRUN \\d\nRUN one \\\n").stages[0].runs()
    assert first.script == "    a \\\n\\\n  \\\n\\\n b\\c"
    assert second.script == "    \\d"
    assert last.script == "    one  "


def test_a_flag_may_go_on_in_the_next_line() -> None:
    [run] = read("FROM a\nRUN --mount=source=a,\\\ntarget=b x --mount=source=a\n").stages[0].runs()
    assert run.flags == {"mount": ("source=a,target=b",)}
    assert run.script == f"{' ' * 22}\n         x --mount=source=a"


def test_marks_of_heredocs_are_blanked_in_their_order() -> None:
    [run] = read("FROM a\nRUN cat <<'X' 3<<\"Y\" \\\n <<-Z <<X\na\nX\nb\nY\n\tc\n\tZ\nX\n").stages[0].runs()
    assert [(item.name, item.text, item.location.line) for item in run.heredocs] == [
        ("X", "a\n", 4), ("Y", "b\n", 6), ("Z", "\tc\n", 8), ("X", "", 10),
    ]  # fmt: skip
    assert run.heredoc_columns == ((0, 8), (0, 14), (1, 1), (1, 6))
    assert run.script == f"    cat{' ' * 14}\\\n{' ' * 9}"
    [third] = read("FROM a\nRUN x \\\n y \\\n  <<Z z <<A >/f\nZ\nA\n").stages[0].runs()
    assert third.heredoc_columns == ((2, 2), (2, 8)) and third.script == f"    x \\\n y \\\n{' ' * 6}z{' ' * 5}>/f"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ENV X=EN ENV=1", [("X", "EN", 2, 5), ("ENV", "1", 2, 10)]),
        ("env ENV=1", [("ENV", "1", 2, 5)]),
        ("ENV A=$B \\\n B=1 AB=2", [("A", "$B", 2, 5), ("B", "1", 3, 2), ("AB", "2", 3, 6)]),
        ("ARG A=B \\\n# B\n B", [("A", "B", 2, 5), ("B", None, 4, 2)]),
        ("ARG A=b=c", [("A", "b=c", 2, 5)]),
        (
            "ENV LONGNAME=1 A=1 \\\n # C=1\n  A=1 C=1",
            [("LONGNAME", "1", 2, 5), ("A", "1", 2, 16), ("A", "1", 4, 3), ("C", "1", 4, 7)],
        ),
        ("ENV A=A A=2", [("A", "A", 2, 5), ("A", "2", 2, 9)]),
        ("ENV EN=1 \\\nB=1", [("EN", "1", 2, 5), ("B", "1", 3, 1)]),
        ("ENV ENV=1", [("ENV", "1", 2, 5)]),
        ("ENV A=1 \\\n # C=1\n C=1", [("A", "1", 2, 5), ("C", "1", 4, 2)]),
        ("ENV A='b c' \\\n  D=1 E=2", [("A", "'b c'", 2, 5), ("D", "1", 3, 3), ("E", "2", 3, 7)]),
        ("ARG AB A", [("AB", None, 2, 5), ("A", None, 2, 8)]),
    ],
)
def test_settings_are_found_by_their_names(text: str, expected: list[tuple[str, str | None, int, int]]) -> None:
    assert settings(read(f"FROM a\n{text}\n")) == expected


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("FROM a\nRUNN b\n", 2, "^unknown instruction: RUNN$"),
        ("RUN a\nFROM b\n", 1, "above the first FROM"),
        ("", 1, "^there is no FROM$"),
        ("FROM a b\n", 1, "^FROM takes an image, and AS with a name$"),
        ("FROM\n", 1, "FROM takes an image"),
        ("FROM a\nFROM b IS c\n", 2, "FROM takes an image"),
        ("FROM a AS\n", 1, "FROM takes an image"),
        ("ENV A=1\nFROM a\n", 1, "^ENV stands above the first FROM$"),
        ("FROM a\nRUN <<X\nb\n", 2, "unterminated heredoc"),
        ("FROM a\nRUN " + "[" * 3000, 1, "^too deeply nested$"),
        ("FROM a\n\nONBUILD FROM b\n", 3, "^ONBUILD takes one instruction, and not FROM or ONBUILD$"),
        ("FROM a\nONBUILD ONBUILD RUN b\n", 2, "ONBUILD takes one instruction"),
    ],
)
def test_what_docker_would_not_read(text: str, line: int, words: str) -> None:
    with pytest.raises(DockerfileError, match=words) as raised:
        read(text)
    assert (raised.value.location.path, raised.value.location.line) == ("Dockerfile", line)


def test_substitution() -> None:
    values = {"X": "1", "EMPTY": ""}
    assert substituted("a-$X-${Y:-d}-${EMPTY:-e}-$NO'$X'", values) == "a-1-d-e-$X"
    assert substituted("`$X\\", values, "`") == "$X\\" and substituted("${X", values) == "${X"
