"""Which variables instructions and RUNs read, each with its place."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.comments import comment_exemptions
from pytest_actor_envs.sources.dockerfile_parser import read_dockerfile
from pytest_actor_envs.sources.image import Image
from pytest_actor_envs.sources.image_variables import mentions_itself, ran, read_by, settings_of
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


def test_what_other_programs_may_read() -> None:
    built = image("RUN python3 -c 'x(A)' && env B=1 && cat C")
    found = ran(built.own_runs(built.dockerfile.stages[0])[0])
    assert [name for name in "ABC" if found.mentions(name)] == ["A"]


def test_settings_that_mention_themselves() -> None:
    stage = image("ENV A=$A:b B=${B} C=$AC D=", "ARG E").dockerfile.stages[0]
    assert [item.name for item in settings_of(stage, "ENV") if mentions_itself(item)] == ["A", "B"]
    assert [mentions_itself(item) for item in settings_of(stage, "ARG")] == [False]


@pytest.mark.parametrize(
    ("below", "lines"),
    [
        ("x", range(2, 3)),
        ("# one\n  # two\nx\ny", range(4, 5)),
        ("@a\n  @b(\n  1,\n)\nclass C:\n  x", range(2, 7)),
        ('@a("(")\ndef f():\n  x\n', range(2, 4)),
        ("# last", range(3, 4)),
        ("@a", range(2, 3)),
    ],
)
def test_what_a_comment_above_exempts(below: str, lines: range) -> None:
    [found] = comment_exemptions("a.py", f"# actor-envs: ignore[x] why\n{below}".encode())
    assert (found.guard, found.reason, found.lines) == ("x", "why", lines)
    [beside] = comment_exemptions("a.py", "ä\n\xff = 1  # actor-envs: ignore[x] why\ny".encode("latin-1"))
    assert (beside.lines, beside.comment_line, beside.column) == (range(2, 3), 2, 8)
