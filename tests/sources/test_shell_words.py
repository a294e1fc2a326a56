"""Words of shell text: their literal texts, and what they expand, where."""

from __future__ import annotations

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.shell import Command, Substitution, Variable
from pytest_actor_envs.sources.shell_parser import read_shell

Part = str | tuple[str, str | None, bool, str]


def parts(text: str) -> list[Part]:
    """Of all words behind the command's name: texts, joined; variables and substitutions with all that is known of them."""
    [command] = read_shell(text, Location("f", 5, 3))
    assert isinstance(command, Command)
    found: list[Part] = []
    for word in command.words[1:]:
        for part in word.parts:
            if isinstance(part, Variable):
                found.append((part.name, part.default, part.is_plain, str(part.location)))
            elif isinstance(part, Substitution):
                found.append((part.operator, None, False, str(part.location)))
            elif found and isinstance(found[-1], str):
                found[-1] += part
            else:
                found.append(part)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"c $'a\nb\tc\rd\0e\\f\'g\"h'", ["a\nb\tc\rd\0e\\f'g\"h"]),
        (r"c $'a\qb'", [r"a\qb"]),
        (r'c "a\$b\`c\"d\\e\f"', [r'a$b`c"d\e\f']),
        ('c "a\\\nb"', ["ab"]),
        ('c "a\\\\\nb"', ["a\\\nb"]),
        (r"c a\ b\\c\$d", [r"a b\c$d"]),
        ('c $"a b"', ["a b"]),
        ("c 'a\\b'", ["a\\b"]),
        (r'c \X "\X"', [r"X\X"]),
        ('c " "', [" "]),
        ('c "  "', ["  "]),
        ('c ""', []),
        ("c $a", [("a", None, True, "f:5:5")]),
        ('c "$a $b"', [("a", None, True, "f:5:6"), " ", ("b", None, True, "f:5:9")]),
        ('c "$a  ${b:-x}"', [("a", None, True, "f:5:6"), "  ", ("b", "x", True, "f:5:10")]),
        ('c "$a\n\n $b"', [("a", None, True, "f:5:6"), "\n\n ", ("b", None, True, "f:7:2")]),
        ('c "$a $(b)"', [("a", None, True, "f:5:6"), " ", ("$(", None, False, "f:5:9")]),
        ('c "x$a y"', ["x", ("a", None, True, "f:5:7"), " y"]),
        ("c $(a) `b`", [("$(", None, False, "f:5:5"), ("$(", None, False, "f:5:10")]),
        ("c <(a) >(b)", [("<(", None, False, "f:5:5"), (">(", None, False, "f:5:10")]),
        ("c ${a:-x\ny}", [("a", "x\ny", True, "f:5:5")]),
        ("c ${a-x} ${b:=y}", [("a", "x", True, "f:5:5"), ("b", "y", True, "f:5:12")]),
        ("c ${a:+x}", [("a", None, False, "f:5:5")]),
        ("c ${a[*]}", [("a", None, True, "f:5:5")]),
        ("c ${a[@]}", [("a", None, True, "f:5:5")]),
        ("c ${a[0]}", [("a", None, False, "f:5:5")]),
        ("c $((a + 1))", [("a", None, False, "f:5:8")]),
        ("c ${=a}", [("", None, False, "f:5:5")]),
        ('c "$a\t$b"', [("a", None, True, "f:5:6"), "\t", ("b", None, True, "f:5:9")]),
        ("((a++))", [("a", None, False, "f:5:5"), "))"]),
        ("c $((1 + 2))", [("", None, False, "f:5:5")]),
    ],
)
def test_parts_of_words(text: str, expected: list[Part]) -> None:
    assert parts(text) == expected


def test_a_heredoc_begins_with_the_indent_of_its_first_line() -> None:
    [command] = read_shell("\n\nc <<X\n  a\n  $b\nX\n", Location("f", 5, 3))
    assert isinstance(command, Command)
    [redirect] = command.redirects
    assert (redirect.body, str(redirect.body_location)) == ("  a\n  $b\n", "f:8:1")


def test_a_translated_string_is_what_it_holds() -> None:
    [command] = read_shell('A=$"b c"', Location("f", 5, 3))
    assert isinstance(command, Command)
    [word] = command.assignments[0].values
    assert (word.text, word.parts) == ('$"b c"', ("b c",))


def test_an_assignment_of_nothing_is_the_empty_word() -> None:
    [command] = read_shell("A=", Location("f", 5, 3))
    assert isinstance(command, Command)
    [word] = command.assignments[0].values
    assert (word.text, word.parts, word.location) == ("", (), Location("f", 5, 3))


def test_a_test_has_no_comment_among_its_words() -> None:
    [command] = read_shell("[[ a = b && # why\n c ]]", Location("f", 5, 3))
    assert isinstance(command, Command)
    assert [word.text for word in command.words] == ["[[", "a", "=", "b", "&&", "c", "]]"]
