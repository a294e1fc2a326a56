"""Failures that a shell program does not notice: which, of what command, and where."""

from __future__ import annotations

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.invocations import Options
from pytest_actor_envs.sources.shell_failures import asks, shown, unnoticed_failures
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
        ("cp a b && echo c && make d; make e", ERREXIT, ["chain `cp a b` 1"]),
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
        ("f() { make a; make b; }; f", PLAIN, ["chain `make a` 7"]),
        ("set -e; f() { make a; make b; }; f", PLAIN, []),
        ("{ make a; make b; } | cat", PLAIN, ["chain `make a` 3"]),
        ("{ make a; make b; } | cat; make c", PIPEFAIL, ["chain `make a` 3", "chain `make b` 11", "chain `cat` 23"]),
        ("{ make a; make b; } | cat", ERREXIT, ["pipe a group 1"]),
        ("{ make a; make b; } | cat", STRICT, []),
        ("{ make a; make b; } | cat; exit ${PIPESTATUS[0]}", ERREXIT, []),
        ("{ echo a; ! make b; make c & } | cat", ERREXIT, []),
        ("{ f() { make a; }; make b || true; make c || echo; } | cat", ERREXIT, []),
        ("{ make b || make c; } | cat", ERREXIT, ["pipe a group 1"]),
        ("while read x; do echo $x; done < f | cat", ERREXIT, []),
        ("while read x; do make $x; done < f | cat", ERREXIT, ["pipe a loop 1"]),
        ("if make a; then echo; fi | cat", ERREXIT, []),
        ("if echo; then make a; fi | cat", ERREXIT, ["pipe an if 1"]),
        ("if echo; then echo; else make a; fi | cat", ERREXIT, ["pipe an if 1"]),
        ("case $x in a) make b;; esac | cat", ERREXIT, ["pipe a command 1"]),
        ("case $x in a) echo;; esac | cat", ERREXIT, []),
        ("(set -e; make a; make b) | cat", PLAIN, ["pipe a subshell 1"]),
        ("(set -e; make a; make b); make c", PLAIN, ["chain a subshell 1"]),
        ("make c; (set -e; make a; make b)", PLAIN, ["chain `make c` 1"]),
        ("(set -e; make a; make b); exit $?", PLAIN, []),
        ("(set -e; make a; make b); make c", ERREXIT, []),
        ("(set -e; make a; make b) && make c; make d", ERREXIT, ["chain a subshell 1"]),
        ("(set -e; echo a; make b || true); make c", PLAIN, []),
        ("(make a; set -e; make b); make c", PLAIN, ["chain `make a` 2"]),
        ("(make a || true); make c", PLAIN, []),
        ("cat f | (set -e; make a); make c", PIPEFAIL, ["chain a subshell 9"]),
        ("[ a ] && echo b && make c; make d", ERREXIT, []),
        ("make a || [ b ] && make c; make d", ERREXIT, []),
        ("make a && make b || make c && make d; make e", ERREXIT, ["chain `make c` 21"]),
        ("for x in a; do echo; done && make b; make c", ERREXIT, []),
        ("make a && make b | { make c; make d; }", PIPEFAIL, ["chain `make c` 22"]),
        ("make a | make b | make c", PLAIN, ["pipe `make a` 1", "pipe `make b` 10"]),
        ("make a | make b", PLAIN, ["pipe `make a` 1"]),
        ("make a | cat; echo $?", PLAIN, ["pipe `make a` 1", "status $? 20"]),
        ("make a | cat; echo $? && make b", PLAIN, ["pipe `make a` 1", "status $? 20"]),
        ("make a | cat; ! [ $? = 0 ]", PLAIN, ["pipe `make a` 1", "status $? 19"]),
        ("make a | cat; echo $? | cat", PLAIN, ["pipe `make a` 1", "status $? 20"]),
        ("make a | cat; echo | echo $?", PLAIN, ["pipe `make a` 1", "chain `cat` 10"]),
        ("make a | cat; if [ $? = 0 ]; then echo; fi", PLAIN, ["pipe `make a` 1", "status $? 20"]),
        ("make a; cat $? | cat", PLAIN, ["pipe `cat $?` 9"]),
        ("make a; echo | cat $?", PLAIN, ["chain `make a` 1"]),
        ("make a; ! [ $? = 0 ]", PLAIN, []),
        ("make a; [ $? = 0 ] && echo", PLAIN, []),
        ("! make a; make b", PLAIN, []),
        ("while make a; do echo b; done", PLAIN, []),
        ("while make a; make b; do echo c; done", PLAIN, ["chain `make a` 7"]),
        ("while { make a; }; do make b; done", PLAIN, ["chain `make b` 23"]),
        ("while make a; do make b; done; make c", ERREXIT, []),
        ("A=$(make a; make b); make c", PLAIN, ["chain `make a` 5", "chain `A=...` 1"]),
        ("A=$(make a)", PLAIN, []),
        ("A=1; make c", PLAIN, []),
        ("A=$B; make c", PLAIN, []),
        ("$A; make b", PLAIN, ["chain `$A` 1"]),
        ("$(make a); make b", PLAIN, ["chain `$(make a)` 1"]),
        ("env; make b", PLAIN, []),
        ("make a || true; make b", ERREXIT, []),
        ("make a || true; make b", PLAIN, []),
        ("make a || :; make b", PLAIN, []),
        ("{ make a; make b; } || true", PLAIN, []),
        ("{ make a; make b; } || :", PLAIN, []),
        ("{ make a; make b; } || make c", PLAIN, ["chain `make a` 3"]),
        ("[ a ] && [ b ] && make c; make d", ERREXIT, []),
        ("grep a && make b; make c", ERREXIT, []),
        ("make x | grep a && make b; make c", ERREXIT, ["pipe `make x` 1"]),
        ("[ a ] && make x && make b; make c", ERREXIT, ["chain `make x` 10"]),
        ("make x && [ a ] && make b; make c", ERREXIT, ["chain `make x` 1"]),
        ("A=1 && make b; make c", ERREXIT, []),
        ("! make a && make b; make c", ERREXIT, []),
        ("(make a) && make b; make c", ERREXIT, ["chain a subshell 1"]),
        ("if a; then b; fi && make b; make c", ERREXIT, ["chain an if 1"]),
        ("{ make a | cat; }; make b", PLAIN, ["pipe `make a` 3", "chain `cat` 12"]),
        ("make a | cat && make b; make c", STRICT, ["chain a pipe 1"]),
        ("make a && make b &", PLAIN, []),
        ("{ make a; make b; } &", PLAIN, ["chain `make a` 3"]),
        ("(make a; make b) && make c", PLAIN, ["chain `make a` 2"]),
        ("f() { make a; }; make b", PLAIN, []),
        ("make a > $(make b; make c)", PLAIN, ["chain `make b` 12"]),
        ("for x in $(make a; make b); do echo; done", PLAIN, ["chain `make a` 12"]),
        ("case $(make a; make b) in x) echo;; esac", PLAIN, ["chain `make a` 8"]),
        ("if make a; make b; then echo; fi", PLAIN, ["chain `make a` 4"]),
        (
            "if echo; then make a; make b; elif make c; make d; then make e; else make f; make g; fi",
            PLAIN,
            ["chain `make a` 15", "chain `make c` 36", "chain `make f` 70"],
        ),
        ("make a; if echo $?; then echo; fi", PLAIN, []),
        ("make a; exit ${PIPESTATUS[0]}", PLAIN, []),
        ("set -o pipefail; make a | cat", PLAIN, []),
        ("set +e; make a | cat; exit $?", PLAIN, ["pipe `make a` 9", "status $? 28"]),
        (
            "set +eo pipefail; make a; make b | cat; exit $?",
            STRICT,
            ["chain `make a` 19", "pipe `make b` 27", "status $? 46"],
        ),
        ("make a; make b; make $?", PLAIN, ["chain `make a` 1"]),
        ("make a | cat; exit $?", PIPEFAIL, []),
        ("{ set -e; make a; make b; }; make c; make d", PLAIN, []),
        ("until make a; do make b; make c; done; make d", PLAIN, ["chain `make b` 18", "chain `make c` 26"]),
        ("until make a; do make b; make c; done; make d", ERREXIT, []),
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
        ("(a)", "a subshell"),
        ("case a in b) c;; esac", "a command"),
    ],
)
def test_how_a_command_is_named(text: str, name: str) -> None:
    [node] = read_shell(text, START)
    assert shown(node) == name


@pytest.mark.parametrize(
    ("text", "is_answer"),
    [
        ("grep a", True),
        ("/usr/bin/test a", True),
        ("[ a ]", True),
        ("make a", False),
        ("A=1", False),
        ("! make a", True),
        ("make a | grep b", True),
        ("grep a | make b", False),
        ("grep a && [ b ]", True),
        ("grep a && make b", False),
        ("make a || grep b", False),
        ("(grep a)", False),
    ],
)
def test_whether_a_failure_is_an_answer(text: str, is_answer: bool) -> None:
    [node] = read_shell(text, START)
    assert asks(node) is is_answer
