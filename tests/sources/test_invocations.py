"""What a command executes, and under which options of the shell."""

from __future__ import annotations

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.invocations import (
    Module,
    Options,
    ScriptFile,
    ShellText,
    executed,
    invoked,
    program_name,
    shell_of_shebang,
)
from pytest_actor_envs.sources.shell import Command
from pytest_actor_envs.sources.shell_parser import read_shell

PLAIN, STRICT = Options(), Options(True, True)


def command(text: str) -> Command:
    [node] = read_shell(text, Location("f", 1))
    assert isinstance(node, Command)
    return node


@pytest.mark.parametrize(
    ("text", "script", "arguments", "options", "is_sourced"),
    [
        ("./x a b", "./x", ["a", "b"], PLAIN, False),
        ("$A/x.sh a b", "$A/x.sh", ["a", "b"], PLAIN, False),
        ('"$A/x.sh" a', '"$A/x.sh"', ["a"], PLAIN, False),
        ("$A/x.py", "$A/x.py", [], PLAIN, False),
        ('"$A/x.py"', '"$A/x.py"', [], PLAIN, False),
        ("source x.sh a b", "x.sh", ["a", "b"], PLAIN, True),
        (". x", "x", [], PLAIN, True),
        ("bash x.sh a", "x.sh", ["a"], PLAIN, False),
        ("/bin/sh -e +x x.sh", "x.sh", [], Options(True, False), False),
        ("bash --noprofile --norc x.sh -e", "x.sh", ["-e"], PLAIN, False),
        ("bash -eo pipefail x.sh a", "x.sh", ["a"], STRICT, False),
        ("bash $FLAGS -e x.sh", "$FLAGS", ["-e", "x.sh"], PLAIN, False),
        ("bash -$FLAGS -e x.sh", "x.sh", [], Options(True, False), False),
        ("python3 x.py a b", "x.py", ["a", "b"], PLAIN, False),
        ("/opt/python3.12 x.py", "x.py", [], PLAIN, False),
        ("$PYTHON x.py", "x.py", [], PLAIN, False),
        ('"${my_python}" x.py', "x.py", [], PLAIN, False),
        ('"$ENV/bin/python" x.py', "x.py", [], PLAIN, False),
        ("python -u -X dev -W error x.py a", "x.py", ["a"], PLAIN, False),
        ("python $SCRIPT a", "$SCRIPT", ["a"], PLAIN, False),
        ("uv run --locked x.py a b", "x.py", ["a", "b"], PLAIN, False),
        ("uv --quiet run --extra e --locked -p 3 x.sh", "x.sh", [], PLAIN, False),
        ("uv run --locked bin/x a", "bin/x", ["a"], PLAIN, False),
        ("uv run python -u x.py a", "x.py", ["a"], PLAIN, False),
        ("env A=1 time bash -e x.sh", "x.sh", [], Options(True, False), False),
    ],
)
def test_a_script_that_is_executed(
    text: str, script: str, arguments: list[str], options: Options, is_sourced: bool
) -> None:
    found = executed(command(text))
    assert isinstance(found, ScriptFile)
    assert found.word.text == script
    assert [word.text for word in found.arguments] == arguments
    assert (found.options, found.is_sourced) == (options, is_sourced)


@pytest.mark.parametrize(
    ("text", "word", "name"),
    [
        ("python -m a.b c", "a.b", "a.b"),
        ("python -u -m a", "a", "a"),
        ("python -m $A", "$A", ""),
        ("uv run -m a.b c", "a.b", "a.b"),
        ("uv run --locked --module a", "a", "a"),
        ("uv run -m $A", "$A", ""),
        ("uv run --extra e python -m a", "a", "a"),
    ],
)
def test_a_module_that_is_executed(text: str, word: str, name: str) -> None:
    found = executed(command(text))
    assert isinstance(found, Module)
    assert (found.word.text, found.name) == (word, name)


@pytest.mark.parametrize(
    ("text", "inner", "place", "options", "can_pipefail"),
    [
        ("bash -c 'a b' c", "a b", "f:1:10", PLAIN, True),
        ("sh -c a", "a", "f:1:7", PLAIN, False),
        ('dash -ec "a; b"', "a; b", "f:1:11", Options(True, False), False),
        ("/bin/bash -ceo pipefail 'a' b", "a", "f:1:26", STRICT, True),
        ("bash -eo pipefail -c a", "a", "f:1:22", STRICT, True),
        ("bash --norc -c a", "a", "f:1:16", PLAIN, True),
        ("bash --noprofile --norc -c X1", "X1", "f:1:28", PLAIN, True),
        ("bash -$FLAGS -c a", "a", "f:1:17", PLAIN, True),
        ("bash <<X\na\nX", "a\n", "f:2:1", PLAIN, True),
        ("bash -e > o <<X\na\nX", "a\n", "f:2:1", Options(True, False), True),
        ("sh - <<X\na\nX", "a\n", "f:2:1", PLAIN, False),
    ],
)
def test_shell_text_that_is_executed(text: str, inner: str, place: str, options: Options, can_pipefail: bool) -> None:
    found = executed(command(text))
    assert isinstance(found, ShellText)
    assert (found.text, str(found.location)) == (inner, place)
    assert (found.options, found.can_pipefail) == (options, can_pipefail)


@pytest.mark.parametrize(
    "text",
    [
        "A=1",
        "env A=1",
        "make a",
        "x.sh a",
        "$A b",
        "source",
        "bash",
        "bash -c",
        "bash -ceo pipefail",
        "bash -c $A",
        "bash < f",
        "bash <<< a",
        "python",
        "python -u",
        "python -m",
        "python -c a b",
        "python - a",
        "uv",
        "uv sync a/b",
        "uv run",
        "uv run --locked",
        "uv run -m",
        "uv run ray start",
        "uv run $A",
    ],
)
def test_what_is_no_script(text: str) -> None:
    assert executed(command(text)) is None


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("make a", "make a"),
        ("time make a", "make a"),
        ("exec nice make a", "make a"),
        ("sudo -E env A=1 B=2 make a", "make a"),
        ("timeout --signal=9 5 make a", "make a"),
        ("timeout 5 6 7", "6 7"),
        ("env", ""),
    ],
)
def test_what_stands_before_a_command_is_left_out(text: str, left: str) -> None:
    assert " ".join(word.text for word in invoked(command(text))) == left


@pytest.mark.parametrize(("text", "name"), [("make", "make"), ("/usr/bin/make", "make"), ("$A", ""), ("$A/make", "")])
def test_the_name_of_a_program(text: str, name: str) -> None:
    assert program_name(command(text).words[0]) == name


@pytest.mark.parametrize(
    ("words", "before", "after"),
    [
        ([], STRICT, STRICT),
        (["-e"], PLAIN, Options(True, False)),
        (["+e"], STRICT, Options(False, True)),
        (["-Eeuo", "pipefail"], PLAIN, STRICT),
        (["+o", "pipefail"], STRICT, Options(True, False)),
        (["-o", "errexit"], PLAIN, Options(True, False)),
        (["+o", "errexit"], STRICT, Options(False, True)),
        (["-x", "-o", "errexit"], PLAIN, Options(True, False)),
        (["-o", "nounset"], PLAIN, PLAIN),
        (["+o", "nounset"], STRICT, STRICT),
        (["-e", "pipefail"], PLAIN, Options(True, False)),
        (["-u", "errexit"], PLAIN, PLAIN),
        (["-o"], STRICT, STRICT),
        ([None, "-e"], PLAIN, Options(True, False)),
        (["x", "--", "-e"], PLAIN, Options(True, False)),
    ],
)
def test_what_set_changes(words: list[str | None], before: Options, after: Options) -> None:
    assert before.changed(words) == after


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a\nb", PLAIN),
        ("#!/bin/sh\nx -e\ny", PLAIN),
        ("#!/bin/bash -e\nx\ny", Options(True, False)),
        ("#!sh -e", Options(True, False)),
        ("#!/usr/bin/env bash\n", PLAIN),
        ("#!/usr/bin/env -S bash -eo pipefail\n", STRICT),
        ("#!/usr/bin/env python3\n", None),
        ("#!/usr/bin/python3 sh\n", None),
        ("#!/usr/bin/env\n", None),
        ("#!\n", None),
    ],
)
def test_the_first_line_says_which_shell(text: str, options: Options | None) -> None:
    assert shell_of_shebang(text) == options
