"""Failures that a shell program does not notice: which, of what command, and where."""

from __future__ import annotations

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.invocations import Options
from pytest_actor_envs.sources.shell_failures import shown, unnoticed_failures
from pytest_actor_envs.sources.shell_parser import read_shell
from pytest_actor_envs.sources.shell_steps import Program

START = Location("f", 1)
PLAIN, ERREXIT, PIPEFAIL, STRICT = Options(), Options(True, False), Options(False, True), Options(True, True)


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("make a || make b; make c", PLAIN, ["chain `make b` 11"]),
        ("make a || make b", PLAIN, []),
        ("make a || : ; make b", PLAIN, []),
        ("make a || { make b; make c; }", PLAIN, ["chain `make b` 13"]),
        ("[ a ] && cp b c && make d; make e", ERREXIT, ["chain `cp b c` 10"]),
        ("cp a b | grep x | cat && make c; make d", STRICT, ["chain a pipe 1"]),
        ("cp a b && echo c && make d; make e", ERREXIT, ["chain `echo c` 11"]),
        ("echo a && cp b c && make d; make e", ERREXIT, ["chain `cp b c` 11"]),
        ("echo a && echo b && make c; make d", ERREXIT, []),
        ("cp a b && make c; exit $?", ERREXIT, []),
        ("cp a b && make c; exit $X", ERREXIT, ["chain `cp a b` 1"]),
        ("cp a b && echo c; make d", PLAIN, ["chain `cp a b` 1"]),
        ("cp a b && make c; make d", PLAIN, ["chain `make c` 11"]),
        ("cat $(make a; make b) | cat", PIPEFAIL, ["chain `make a` 7"]),
        ("echo a | { make b; make c; }", PLAIN, ["chain `make b` 12"]),
        ("echo a | echo b | make c; make d", PLAIN, ["chain `make c` 19"]),
        ("echo a | make b | echo c; make d", PIPEFAIL, []),
        ("echo a | cat; exit $?", ERREXIT, ["status $? 20"]),
        ("make a | cat; exit ${PIPESTATUS[0]}", PLAIN, []),
        ("make a | cat", PLAIN, ["pipe `make a` 1"]),
        ("if make a; then make b; else make c; fi", PLAIN, []),
        ("if make a; then make b; else make c; fi; make d", PLAIN, ["chain `make b` 17", "chain `make c` 30"]),
        ("for x in a; do make b; done", ERREXIT, []),
        ("for x in a; do make b; done", PLAIN, ["chain `make b` 16"]),
        ("(set -e); make a; make b", PLAIN, ["chain `make a` 11"]),
        ("{ set -e; }; make a; make b", PLAIN, []),
        ("make a; if [ $? = 0 ]; then make b; fi", PLAIN, []),
        ("case $x in a) make a; make b;; esac", PLAIN, ["chain `make a` 15"]),
        ("make a & make b", PLAIN, []),
    ],
)
def test_what_goes_unnoticed(text: str, options: Options, expected: list[str]) -> None:
    found = unnoticed_failures(Program(read_shell(text, START), options, True, START))
    assert [f"{item.kind} {item.command} {item.location.column}" for item in found] == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("make a b c", "`make a b`"),
        ("A=1 B=2", "`A=... B=...`"),
        ("make " + "a" * 45, "`make " + "a" * 45 + "`"),
        ("make " + "a" * 46, "`make " + "a" * 42 + "...`"),
        ("a | b", "a pipe"),
        ("for x in a; do b; done", "a loop"),
        ("if a; then b; fi", "an if"),
        ("{ a; }", "a group"),
        ("case a in b) c;; esac", "a command"),
    ],
)
def test_how_a_command_is_named(text: str, name: str) -> None:
    [node] = read_shell(text, START)
    assert shown(node) == name
