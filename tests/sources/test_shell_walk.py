"""The commands of a shell program in the order in which they run, each with all that is known where it runs."""

from __future__ import annotations

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.invocations import Options
from pytest_actor_envs.sources.shell import Node
from pytest_actor_envs.sources.shell_parser import read_shell
from pytest_actor_envs.sources.shell_steps import Program, Step
from pytest_actor_envs.sources.shell_walk import MAX_DEPTH, Walk

START = Location("f", 5, 3)
FILES = {
    "/w/x.sh": "x $X $Y",
    "/w/bash.sh": "#!/bin/bash -e\nx",
    "/w/env.sh": "#!/usr/bin/env bash\nx",
    "/w/sh.sh": "#!/bin/sh\nx\nbash y",
    "/w/python.sh": "#!/usr/bin/python3\nx",
    "/w/plain.py": "x",
    "/w/bash": "#!/bin/sh\nx",
    "/w/arguments.sh": "x $1 $2; x $@ $*",
    "/w/sets.sh": "X=2; set -e; cd /v; export Y=3",
    "/w/broken.sh": "if x",
    "/w/nested.sh": "./x.sh",
    "/w/sources.sh": "source nested.sh; x",
}


def walk_of() -> Walk:
    def read(text: str, location: Location) -> tuple[Node, ...] | None:
        return None if text == FILES["/w/broken.sh"] else read_shell(text, location)

    def text_of(path: str) -> tuple[str, Location] | None:
        return (FILES[path], Location(path, 1)) if path in FILES else None

    return Walk(text_of, read)


def walked(text: str, walk: Walk | None = None) -> list[Step]:
    program = Program(read_shell(text, START), Options(), True, START)
    return list((walk or walk_of()).steps(program, {"E": "e", "U": None}, "/w"))


def place(location: Location) -> str:
    return f"{location.line}:{location.column}" if location.path == START.path else str(location)


def written(step: Step) -> str:
    """What runs, with known values, and where: its directory, options, contexts, and what leads there."""
    words = " ".join(step.value(word) or "?" for word in step.command.words)
    flags = "-e" * step.options.errexit + "-p" * step.options.pipefail
    contexts = [f"{context.kind}@{place(context.node.location)}" for context in step.contexts]
    origin = [f"from {place(step.origin)}"] if step.origin != step.command.location else []
    return " ".join(filter(None, [words, flags, *contexts, *origin]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a; b", ["a", "b"]),
        ("a | b | c", ["a pipe@5:3", "b pipe@5:3", "c pipe-last@5:3"]),
        ("a && b", ["a and@5:3", "b branch@5:3"]),
        ("a || b", ["a or@5:3", "b branch@5:3"]),
        ("! a", ["a not@5:3"]),
        ("a & b", ["a background@5:3", "b"]),
        (
            "if a; then b; elif c; then d; else e; fi",
            ["a condition@5:3", "c condition@5:3", "b branch@5:3", "d branch@5:3", "e branch@5:3"],
        ),
        ("case a in b) c;; d) e;; esac", ["c branch@5:3", "e branch@5:3"]),
        ("while a; do b; done; c", ["a condition@5:3", "b loop@5:3", "c"]),
        ("for x in a; do b; done", ["b loop@5:3"]),
        ("(a); { b; }", ["a", "b"]),
        ("a $(b) <(c) >(d); e", ["b $(@5:3", "c <(@5:3", "d >(@5:3", "a ? ? ?", "e"]),
        ("for x in $(a); do b; done", ["a $(@5:3", "b loop@5:3"]),
        ("X=$(a) b", ["a $(@5:3", "b"]),
        ("a\nb > $(c)", ["a", "c $(@6:1", "b"]),
        ("f() { a $1 $2; }\nf x; a $1", ["f x", "a x ? program@6:1", "a ?"]),
        ("bash -c 'a; b'", ["bash -c a; b", "a program@5:3", "b program@5:3"]),
        ("if a; then bash -e <<X\nb\nX\nfi", ["a condition@5:3", "bash -e branch@5:3", "b -e branch@5:3 program@5:14"]),
        ("./x.sh", ["./x.sh", "x ? ? program@5:3 from 5:3"]),
        ("./bash.sh", ["./bash.sh", "x -e program@5:3 from 5:3"]),
        ("source bash.sh", ["source bash.sh", "x program@5:3 from 5:3"]),
        (
            "bash -c ./nested.sh",
            [
                "bash -c ./nested.sh",
                "./nested.sh program@5:3",
                "./x.sh program@5:3 program@5:11 from 5:11",
                "x ? ? program@5:3 program@5:11 program@/w/nested.sh:1:1 from 5:11",
            ],
        ),
        (
            "./sources.sh",
            [
                "./sources.sh",
                "source nested.sh program@5:3 from 5:3",
                "./x.sh program@5:3 program@/w/sources.sh:1:1 from 5:3",
                "x ? ? program@5:3 program@/w/sources.sh:1:1 program@/w/nested.sh:1:1 from 5:3",
                "x program@5:3 from 5:3",
            ],
        ),
        ("bash -o pipefail bash.sh", ["bash -o pipefail bash.sh", "x -p program@5:3 from 5:3"]),
        (
            "./python.sh; ./plain.py; ./broken.sh; ./none.sh; $U/x.sh; python x.sh",
            ["./python.sh", "./plain.py", "./broken.sh", "./none.sh", "?", "python x.sh"],
        ),
        (
            "bash python.sh; bash plain.py; source python.sh",
            [
                "bash python.sh",
                "x program@5:3 from 5:3",
                "bash plain.py",
                "source python.sh",
                "x program@5:34 from 5:34",
            ],
        ),
        (
            '"./bash"; ./sh.sh; $E/../x.sh; "$E/../python.sh"',
            [
                "./bash",
                "./sh.sh",
                "x program@5:13 from 5:13",
                "bash y program@5:13 from 5:13",
                "e/../x.sh",
                "x ? ? program@5:22 from 5:22",
                "e/../python.sh",
            ],
        ),
        ("./arguments.sh a $U", ["./arguments.sh a ?", "x a ? program@5:3 from 5:3", "x ? ? program@5:3 from 5:3"]),
        (
            "X=1; export Y=2; ./x.sh; X=3 ./x.sh; X=4 U=5 bash -c 'x $X $Y $U $E'",
            [
                "",
                "export",
                "./x.sh",
                "x ? 2 program@5:20 from 5:20",
                "./x.sh",
                "x 3 2 program@5:28 from 5:28",
                "bash -c x $X $Y $U $E",
                "x 4 2 5 e program@5:40",
            ],
        ),
        (
            "source sets.sh; x $X $Y; ./x.sh",
            [
                "source sets.sh",
                "program@5:3 from 5:3",
                "set -e program@5:3 from 5:3",
                "cd /v -e program@5:3 from 5:3",
                "export -e program@5:3 from 5:3",
                "x 2 3 -e",
                "./x.sh -e",
            ],
        ),
    ],
)
def test_what_runs_and_where(text: str, expected: list[str]) -> None:
    assert [written(step) for step in walked(text)] == expected


@pytest.mark.parametrize(
    ("text", "value", "flags", "directory"),
    [
        ("show $X", None, "", "/w"),
        ("show $E", "e", "", "/w"),
        ("show ${E:-d}", "e", "", "/w"),
        ("show ${X:-d}", "d", "", "/w"),
        ("show ${X:-'dX'}", "dX", "", "/w"),
        ('show "${X:- d }"', " d ", "", "/w"),
        ("show ${X:-$E}", None, "", "/w"),
        ("show a${E}b", "aeb", "", "/w"),
        ("show $E$X", None, "", "/w"),
        ("X=(a); show $X", None, "", "/w"),
        ("X=a; X+=b; show $X", "ab", "", "/w"),
        ("X=a; X+=$U; show $X", None, "", "/w"),
        ("declare X=a; show $X", "a", "", "/w"),
        ("X=a; declare X; show $X", "a", "", "/w"),
        ("X=a; declare X=(); show $X", None, "", "/w"),
        ("X=1 show $X", "1", "", "/w"),
        ("X=1 a; show $X", None, "", "/w"),
        ("X=a; export X; bash -c 'show $X'", "a", "", "/w"),
        ("declare X=a; bash -c 'show $X'", "a", "", "/w"),
        ("typeset X=a; bash -c 'show $X'", "a", "", "/w"),
        ("readonly X=a; bash -c 'show $X'", None, "", "/w"),
        ("if a; then export X=1; else X=1; fi; bash -c 'show $X'", "1", "", "/w"),
        ("if a; then X=1; else export X=1; fi; bash -c 'show $X'", "1", "", "/w"),
        ("export X=1; if a; then export Y=1; fi; bash -c 'show $X'", "1", "", "/w"),
        ("cd /v; bash -c 'show $X'", None, "", "/v"),
        ("cd v; show", None, "", "/w/v"),
        ("pushd v; show", None, "", "/w/v"),
        ("cd; show", None, "", None),
        ("cd $U; cd v; show", None, "", None),
        ("if a; then cd v; else cd v; fi; show", None, "", "/w/v"),
        ("if a; then cd v; fi; show", None, "", None),
        ("set -e; show", None, "e", "/w"),
        ("set -eo pipefail; show", None, "ep", "/w"),
        ("if a; then set -e; else set -e; fi; show", None, "e", "/w"),
        ("if a; then set -o pipefail; else set -o pipefail; fi; show", None, "p", "/w"),
        ("if a; then set -e; else set -o pipefail; fi; show", None, "", "/w"),
        ("if a; then set -eo pipefail; else set -e; fi; show", None, "e", "/w"),
        ("(set -e); show", None, "", "/w"),
        ("{ set -e; }; show", None, "e", "/w"),
        ("X=1; read X; show $X", None, "", "/w"),
        ("X=1; mapfile X; show $X", None, "", "/w"),
        ("X=1; readarray -t X; show $X", None, "", "/w"),
        ("X=1; read -r Y $Z X; show $X", None, "", "/w"),
        ("X=1; unset Y X; show ${X:-d}", "d", "", "/w"),
        ("X=1; unset $X; show $X", "1", "", "/w"),
        ("X=1; for X in a; do b; done; show $X", None, "", "/w"),
        ("X=1; for Y in a; do b; done; show $X", "1", "", "/w"),
        ("X=1; for X in a; do show $X; done", None, "", "/w"),
        ("X=1; while a; do if b; then X=2; fi; done; show $X", None, "", "/w"),
        ("X=1; while show $X; do a; done", "1", "", "/w"),
        ("X=1; if a; then X=2; { exit; }; fi; show $X", "1", "", "/w"),
        ("X=1; if a; then X=2; (exit); fi; show $X", None, "", "/w"),
        ("X=1; if a; then X=2; return; fi; show $X", "1", "", "/w"),
        ("X=1; for y in a; do X=2; continue; done; show $X", None, "", "/w"),
        ("X=1; for y in a; do X=2; break; done; show $X", None, "", "/w"),
        ("X=1; if a; then X=2; exec b; fi; show $X", "1", "", "/w"),
        ("if a; then exit; else exit; fi; show $E", "e", "", "/w"),
        ("f() { g b; show $1; }; g() { a; }; f x", "x", "", "/w"),
        ("f() { g b; show $1; }; g() { f; }; f x", "x", "", "/w"),
        ("f() { X=$1; }; f x; show ${1:-d}", None, "", "/w"),
        ("f() { show $@; }; f x", None, "", "/w"),
        ("f() { show ${@:-d}; }; f x", None, "", "/w"),
        ("f() { show ${*:-d}; }; f x", None, "", "/w"),
        ("f() { X=1; }; if a; then f() { X=2; }; fi; show $X", None, "", "/w"),
        ("if a; then b; else f() { X=2; }; fi; f; show $X", "2", "", "/w"),
    ],
)
def test_what_is_known(text: str, value: str | None, flags: str, directory: str | None) -> None:
    *_, step = [step for step in walked(text) if step.command.name == "show"]
    assert (step.value(step.command.words[-1]) if "$" in text.partition("show")[2] else None) == value
    assert "e" * step.options.errexit + "p" * step.options.pipefail == flags
    assert step.directory == directory


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", ["5:3 pipefail"]),
        ("./x.sh", ["5:3 pipefail", "/w/x.sh:1:1"]),
        ("bash x.sh", ["5:3 pipefail", "/w/x.sh:1:1 pipefail"]),
        ("sh x.sh", ["5:3 pipefail", "/w/x.sh:1:1"]),
        ("./bash.sh", ["5:3 pipefail", "/w/bash.sh:1:1 -e pipefail"]),
        ("sh bash.sh", ["5:3 pipefail", "/w/bash.sh:1:1 pipefail"]),
        ("./env.sh", ["5:3 pipefail", "/w/env.sh:1:1 pipefail"]),
        ("./sh.sh", ["5:3 pipefail", "/w/sh.sh:1:1"]),
        ("bash -e env.sh", ["5:3 pipefail", "/w/env.sh:1:1 -e pipefail"]),
        ("bash -ec a; sh -c a", ["5:3 pipefail", "5:12 -e pipefail", "5:21"]),
        ("bash python.sh", ["5:3 pipefail", "/w/python.sh:1:1 pipefail"]),
        ("source bash.sh", ["5:3 pipefail"]),
    ],
)
def test_programs_with_their_own_options(text: str, expected: list[str]) -> None:
    walk = walk_of()
    steps = walked(text, walk)
    found = [
        place(program.location) + " -e" * program.options.errexit + " pipefail" * program.can_pipefail
        for program in walk.programs
    ]
    assert found == expected
    assert {place(step.program.location) for step in steps} == {item.partition(" ")[0] for item in expected}


def test_what_calls_itself_ends_at_a_depth() -> None:
    assert len(walked("f() { f; }; f")) == MAX_DEPTH + 1
