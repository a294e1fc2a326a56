"""Which variables instructions and RUNs read, each with its place."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.dockerfile_parser import read_dockerfile
from pytest_actor_envs.sources.image import Image
from pytest_actor_envs.sources.image_variables import (
    Ran,
    instructions_of,
    mentions_itself,
    ran,
    read_by,
    settings_in,
    settings_of,
)
from pytest_actor_envs.sources.tree import Tree


def image(*lines: str) -> Image:
    text = "\n".join(["FROM a", *lines, ""])
    return Image(read_dockerfile("Dockerfile", text), Tree(None, {"Dockerfile": text}))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["ENV A=$B \\", "  # $C", "  D=${E:-f}"], [("B", "2:7"), ("E", "4:5")]),
        (["CMD $A"], []),
        (["COPY <<a <<'b' /$D", "$E", "x ${F}", "a", "$G", "b"], [("D", "2:17"), ("E", "3:1"), ("F", "4:3")]),
        ([r"ENV A=\$B"], []),
        (["ENV A=$B \\", "", "# $C", " D=$E$E"], [("B", "2:7"), ("E", "5:4"), ("E", "5:6")]),
        (["ADD <<a /$D", "# $E", "  $F", "a"], [("D", "2:10"), ("E", "3:3"), ("F", "4:3")]),
        (["COPY $A \\", " <<X /$B", "$C", "X"], [("A", "2:6"), ("B", "3:7"), ("C", "4:1")]),
        (["COPY --from=$A $B <<'a' /c", "$E", "a"], [("A", "2:13"), ("B", "2:16")]),
        (["WORKDIR $A/${B}"], [("A", "2:9"), ("B", "2:12")]),
        (["LABEL a=$B"], [("B", "2:9")]),
        (["USER ${A}"], [("A", "2:6")]),
        (["ONBUILD ENV A=$B"], []),
        (["RUN $A"], []),
        (["ENTRYPOINT $A"], []),
        (["HEALTHCHECK CMD $A"], []),
    ],
)
def test_what_docker_substitutes(lines: list[str], expected: list[tuple[str, str]]) -> None:
    [instruction] = image(*lines).dockerfile.stages[0].instructions
    assert [(item.name, str(item.location)) for item in read_by(instruction)] == [
        (name, f"Dockerfile:{place}") for name, place in expected
    ]


@pytest.mark.parametrize(
    ("lines", "expected", "assigned"),
    [
        (["RUN --mount=target=$A \\", "  --mount=target=${B} x $C"], [("A", "2:20"), ("B", "3:18"), ("C", "3:25")], ""),
        (["RUN cat <<X", "$A", "b ${C}", "X"], [("A", "3:1"), ("C", "4:3")], ""),
        (["RUN bash <<X", "show $A", "X"], [("A", "3:6")], ""),
        (["RUN python3 <<'X' && show $B", "$A", "X"], [("B", "2:27")], ""),
        (["RUN x ${A:-$B}"], [("A", "2:7"), ("B", "2:7")], ""),
        (["RUN x ${A:-${B}}"], [("A", "2:7"), ("B", "2:7")], ""),
        (["RUN : ${A:=b} ${C:-d} && read E -r f.g"], [("A", "2:7"), ("C", "2:15")], "A E"),
        (["RUN A=1; for B in x; do :; done; C=(1); echo D"], [], "A B C"),
        (["RUN for A in b; do x; done; while y; do z; done"], [], "A"),
        (["RUN export A B=1; C=() D= E+=f; local H=; local I=j x"], [], "B C D E H I"),
        (
            ["RUN read -r A $B -x '' c.d E; mapfile -t F; readarray G; getopts ab H; printf -v I x; unset J; echo K"],
            [("B", "2:15")],
            "A E F G H I J ab x",
        ),
        (['RUN x ${A:=b} ${C:-d} "${E:=$F}"'], [("A", "2:7"), ("C", "2:15"), ("E", "2:24"), ("F", "2:24")], "A E"),
        (
            ["RUN [[ $A ]] && x > $B $1 $@ $? ${H[0]} $(u $J)"],
            [("A", "2:8"), ("B", "2:21"), ("H", "2:33"), ("J", "2:45")],
            "",
        ),
        (
            ["RUN case $A in $B) x $C;; esac; z=$F w=($G)"],
            [("A", "2:10"), ("B", "2:16"), ("C", "2:22"), ("F", "2:35"), ("G", "2:41")],
            "w z",
        ),
        (
            ["RUN --mount=source=$A,target=${B}x-$A --network=$D y $E"],
            [("A", "2:20"), ("A", "2:36"), ("B", "2:30"), ("D", "2:49"), ("E", "2:54")],
            "",
        ),
        (["RUN --mount=source=$A,\\", "target=$B x"], [("A", "2:20"), ("B", "3:8")], ""),
        (["RUN x --mount=target=$A \\", " --mount=target=$B"], [("A", "2:22"), ("B", "3:17")], ""),
        (["RUN --network= --mount=target=/x y $A"], [("A", "2:36")], ""),
        (["RUN cat <<X", "", "  ${A}$B", "X"], [("A", "4:3"), ("B", "4:7")], ""),
        (["RUN >/x <<X", "$A", "X"], [("A", "3:1")], ""),
        (["RUN x <<<$A > $B"], [("A", "2:10"), ("B", "2:15")], ""),
        (["RUN x ${A:-$B-${C}} ${D:+\\$E}"], [("A", "2:7"), ("B", "2:7"), ("C", "2:7"), ("D", "2:21")], ""),
        (
            ["RUN bash -e <<'A'", "cat <<B", "$X", "  # $Y ${Z}\\$W", "B", "A"],
            [("X", "4:1"), ("Y", "5:5"), ("Z", "5:8")],
            "",
        ),
        (["RUN bash -e <<'A'", "cat <<'C'", "$X", "C", 'cat <<"D"', "$X", "D", "cat <<\\E", "$X", "E", "A"], [], ""),
        (["RUN bash -e <<'A'", "bash -c 'a $X' <<F", "x $Y", "F", "A"], [("X", "3:12")], ""),
        (["RUN bash -e <<'A'", "nice /bin/sh <<F", "x $Y", "F", "A"], [("Y", "4:3")], ""),
        (['RUN ["x", "$A"]'], [], ""),
        *[([f"RUN {shell} <<X", "x '$A' $B", "X"], [("B", "3:8")], "") for shell in ("sh", "dash", "ksh", "zsh")],
    ],
)
def test_what_a_run_reads_and_sets(lines: list[str], expected: list[tuple[str, str]], assigned: str) -> None:
    built = image(*lines)
    [run] = built.own_runs(built.dockerfile.stages[0])
    found = ran(run)
    assert sorted((item.name, str(item.location)) for item in found.readings) == [
        (name, f"Dockerfile:{place}") for name, place in expected
    ]
    assert found.assigned == frozenset(assigned.split())


@pytest.mark.parametrize(
    ("lines", "texts"),
    [
        (["RUN python3 -c 'x(A)' && env B=1 && cat C"], ("-c", "x(A)")),
        (
            ["RUN python3 - $A 'x y'$B <<X && perl -e z < /f", "w $C", "X"],
            ("-", "x y", "w $C\n", "-e", "z"),
        ),
        (["RUN python3.11; make c; printenv D; echo e; nice awk f; xpython g; cmake2 h"], ("c", "D", "f")),
        (["RUN if x; then /usr/bin/ruby a; fi"], ("a",)),
    ],
)  # fmt: skip
def test_what_other_programs_may_read(lines: list[str], texts: tuple[str, ...]) -> None:
    built = image(*lines)
    [run] = built.own_runs(built.dockerfile.stages[0])
    assert ran(run).foreign == texts


def test_a_name_is_mentioned_as_a_word() -> None:
    found = Ran((), frozenset(), ("x(A, B_C)", "DD.E"))
    assert [name for name in ("A", "B", "C", "B_C", "D", "DD", "E", "x.A", "D.E") if found.mentions(name)] == [
        "A", "B_C", "DD", "E",
    ]  # fmt: skip


def test_what_a_run_reads_from_outside_no_shell_of_it_sets() -> None:
    built = image("RUN A=$B; x $A $C; C=1")
    [run] = built.own_runs(built.dockerfile.stages[0])
    found = ran(run)
    assert [item.name for item in found.readings] == ["B", "A", "C"]
    assert [item.name for item in found.from_outside] == ["B"]


def test_settings_of_a_stage_are_also_those_of_onbuild() -> None:
    stage = image("ENV A=1", "ONBUILD ENV B=2", "ARG C", "ONBUILD ARG D", "ONBUILD RUN x").dockerfile.stages[0]
    assert [item.name for item in settings_of(stage, "ENV")] == ["A", "B"]
    assert [item.name for item in settings_of(stage, "ARG")] == ["C", "D"]
    assert [item.keyword for item in instructions_of(stage)] == ["ENV", "ENV", "ARG", "ARG", "RUN"]
    assert [[one.name for one in settings_in(item)] for item in instructions_of(stage)] == [
        ["A"],
        ["B"],
        ["C"],
        ["D"],
        [],
    ]


def test_settings_that_mention_themselves() -> None:
    stage = image("ENV A=$A:b B=${B} C=$AC D=", "ARG E").dockerfile.stages[0]
    assert [item.name for item in settings_of(stage, "ENV") if mentions_itself(item)] == ["A", "B"]
    assert [mentions_itself(item) for item in settings_of(stage, "ARG")] == [False]
