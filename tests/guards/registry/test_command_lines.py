from __future__ import annotations

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
