from __future__ import annotations

import shlex

import pytest

from pytest_actor_envs.guards.registry.command_lines import split_command


def test_extras_and_the_other_words_are_told_apart() -> None:
    command = "uv run --extra a --extra=b 'a b' --extra c.d --x"
    assert split_command(command) == (("a", "b", "c.d"), ["uv", "run", "a b", "--x"])


def test_an_extra_without_a_name_is_an_empty_one() -> None:
    assert split_command("uv --extra") == (("",), ["uv"])


def test_an_open_quotation_is_no_command_line() -> None:
    with pytest.raises(ValueError, match="No closing quotation"):
        split_command("uv 'run")


@pytest.mark.parametrize(
    "command",
    [
        "",
        "  uv   run ",
        "uv run --locked --directory /a-b/c_d.e:@+=",
        "uv run --directory '/a b'",
        'uv "run it" x',
        "uv a\\ b",
        "uv # no comment",
        "uv a\x0bb",
        "uv a\u00a0b",
        "uv\trun\n--x",
        "uv \u00e4 run",
        "uv $HOME ~ ; | & ( ) < > * ? %",
    ],
)
def test_words_are_split_as_a_shell_does(command: str) -> None:
    assert split_command(command) == ((), shlex.split(command))
