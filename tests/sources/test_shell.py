"""Shell programs as data, with a real grammar."""

from __future__ import annotations

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.shell import (
    AndOr,
    Background,
    Case,
    Command,
    Function,
    Group,
    If,
    Loop,
    Node,
    Not,
    Pipeline,
    ShellError,
    Substitution,
    all_nodes,
)
from pytest_actor_envs.sources.shell_parser import read_shell

START = Location("f", 5, 3)


def read(text: str) -> tuple[Node, ...]:
    return read_shell(text, START)


def one(text: str) -> Command:
    [node] = read(text)
    assert isinstance(node, Command)
    return node


def names(node: Node) -> list[str]:
    return [inner.name for inner in all_nodes((node,)) if isinstance(inner, Command)]


def test_words_are_what_the_command_gets() -> None:
    command = one(r"""cmd 'a b' "c d" e\ f $'g\th' "q\"r" x"y"z 7""")
    assert [word.value for word in command.words] == ["cmd", "a b", "c d", "e f", "g\th", 'q"r', "xyz", "7"]


def test_variables_keep_their_default_and_whether_they_are_changed() -> None:
    command = one('cmd $a "${b:-d} ${c}" ${e%%f*} ${#g} ${h[@]} ${!i} $? $((j + 1)) "${k:=$l}"')
    found = [(item.name, item.default, item.is_plain) for word in command.words for item in word.variables]
    assert found == [
        ("a", None, True), ("b", "d", True), ("c", None, True), ("e", None, False), ("g", None, False),
        ("h", None, True), ("i", None, False), ("?", None, True), ("j", None, False), ("k", "$l", True),
    ]  # fmt: skip
    assert command.words[2].parts[1] == " "
    assert command.words[2].value is None


def test_places_count_characters_from_the_start_of_the_text() -> None:
    first, second = read('é "ü" $x\nñ y')
    assert isinstance(first, Command) and isinstance(second, Command)
    assert [str(word.location) for word in first.words] == ["f:5:3", "f:5:5", "f:5:9"]
    assert [str(word.location) for word in second.words] == ["f:6:1", "f:6:3"]


def test_words_behind_a_redirect_are_the_commands() -> None:
    for text in ("x > /f a $b > /g c 2>&1 d", "y && x > /f a $b > /g c 2>&1 d", "! y | x > /f a $b > /g c 2>&1 d"):
        *_, last = (node for node in all_nodes(read(text)) if isinstance(node, Command))
        assert [word.text for word in last.words] == ["x", "a", "$b", "c", "d"]
        assert [(item.operator, item.target and item.target.text, item.descriptor) for item in last.redirects] == [
            (">", "/f", None), (">", "/g", None), (">&", "1", 2),
        ]  # fmt: skip
    command = one("> /f x a")
    assert [word.text for word in command.words] == ["x", "a"] and len(command.redirects) == 1


def test_redirects_of_a_pipeline_and_of_a_list_are_the_last_commands() -> None:
    for text in ("a | b > f", "a && b > f"):
        [node] = read(text)
        last = node.parts[-1] if isinstance(node, Pipeline) else node.right if isinstance(node, AndOr) else node
        assert isinstance(last, Command)
        assert [(item.operator, item.target and item.target.value) for item in last.redirects] == [(">", "f")]
    [merged] = one("a 2>&1").redirects
    assert (merged.operator, merged.descriptor, merged.target and merged.target.value) == (">&", 2, "1")


def test_what_follows_the_mark_of_a_heredoc() -> None:
    [node] = read('bash -e <<"X" | cat && three\n  one\nX\nfour\n')[:1]
    assert isinstance(node, AndOr) and isinstance(node.left, Pipeline)
    bash = node.left.parts[0]
    assert isinstance(bash, Command)
    assert bash.redirects[0].body == "  one\n"
    assert str(bash.redirects[0].body_location) == "f:6:1"
    assert names(node) == ["bash", "cat", "three"]


def test_compound_commands() -> None:
    text = "if a; then b; elif ! c; then d; else e; fi; while read x; do f; done < g; for y in h $(i); do j; done"
    when, loop, each = read(text)
    assert isinstance(when, If) and isinstance(loop, Loop) and isinstance(each, Loop)
    assert names(when) == ["a", "b", "c", "d", "e"]
    assert isinstance(when.branches[1][0][0], Not)
    assert names(loop) == ["read", "f"] and loop.redirects[0].target is not None
    assert (each.kind, each.variable, names(each)) == ("for", "y", ["i", "j"])
    case, group, function, background = read(
        "case $x in a|b) c;; *) d;; esac; (e; { f; }) 2>/dev/null; g() { h; }; i &"
    )
    assert isinstance(case, Case) and isinstance(group, Group)
    assert [[word.value for word in patterns] for patterns, _ in case.items] == [["a", "b"], ["*"]]
    assert group.is_subshell and group.redirects and names(group) == ["e", "f"]
    assert isinstance(function, Function) and (function.name, names(function)) == ("g", ["h"])
    assert isinstance(background, Background)


def test_tests_have_the_same_words_in_every_form() -> None:
    for text in ("[[ ! -s F ]]", "[ ! -s F ]", "test ! -s F"):
        assert [word.value for word in one(text).words][1:4] == ["!", "-s", "F"]


def test_assignments() -> None:
    command = one('A=1 B+=(x "$y") C= cmd')
    assert [(item.name, [word.value for word in item.values], item.appends, item.is_array) for item in command.assignments] == [
        ("A", ["1"], False, False), ("B", ["x", None], True, True), ("C", [""], False, False),
    ]  # fmt: skip
    (listed,) = one("A=(x # the first\n  y)").assignments
    assert [word.value for word in listed.values] == ["x", "y"]
    exported = one("export A=1 B")
    assert exported.name == "export"
    assert [(item.name, len(item.values)) for item in exported.assignments] == [("A", 1), ("B", 0)]


def test_assignments_on_a_line_of_their_own_are_none_of_the_next_command() -> None:
    for text in ("A=1 B=2\n\nC=3 cmd x", "A=1 B=2\nC=3 cmd x > f", "A=1 B=2\nC=3 cmd x | y", "A=1 B=2\nC=3 cmd x && y"):
        first, second = read(text)
        assert isinstance(first, Command)
        assert [item.name for item in first.assignments] == ["A", "B"] and not first.words
        [command] = [node for node in all_nodes((second,)) if isinstance(node, Command) and node.name == "cmd"]
        assert [item.name for item in command.assignments] == ["C"]
        assert command.location.line == 6 + text.count("\n\n")
    assert [item.name for item in one("A=1 B=2 \\\n  cmd").assignments] == ["A", "B"]


def test_substitutions_hold_programs() -> None:
    command = one("cmd $(a | b) `c` <(d)")
    inner = [part for word in command.words for part in word.parts if isinstance(part, Substitution)]
    assert [(part.operator, [name for node in part.body for name in names(node)]) for part in inner] == [
        ("$(", ["a", "b"]), ("$(", ["c"]), ("<(", ["d"]),
    ]  # fmt: skip


def test_negation_covers_the_whole_pipeline() -> None:
    [node] = read("! a | b")
    assert isinstance(node, Not) and isinstance(node.body, Pipeline)


def test_text_that_is_no_shell() -> None:
    with pytest.raises(ShellError) as raised:
        read("a\nif b; then\n")
    assert raised.value.location.line >= 5


def outline(node: Node) -> str:
    """Lists and pipelines of a node in brackets, commands by their words."""
    if isinstance(node, AndOr):
        return f"({outline(node.left)} {node.operator} {outline(node.right)})"
    if isinstance(node, Pipeline):
        return f"[{' | '.join(outline(part) for part in node.parts)}]"
    if isinstance(node, Not):
        return f"!{outline(node.body)}"
    if isinstance(node, Command):
        return " ".join(word.text for word in node.words)
    return type(node).__name__


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b && c", "([a | b] && c)"),
        ("a | b | c && d", "([a | b | c] && d)"),
        ("a | b | c | d && e || f", "(([a | b | c | d] && e) || f)"),
        ("! a | b | c && d", "(![a | b | c] && d)"),
        ("a && b | c | d || e", "((a && [b | c | d]) || e)"),
        ("a | (b && c)", "[a | Group]"),
        ("a | b # d", "[a | b]"),
        ("a << X | b && c | d\nX", "([a | b] && [c | d])"),
        ("a << X | b | c | d || e\nX", "([a | b | c | d] || e)"),
        ("a << X && b\nX", "(a && b)"),
        ("a << X || b c\nX", "(a || b c)"),
        ("a << X b\nX", "a b"),
    ],
)
def test_lists_and_pipelines_bind_as_in_the_shell(text: str, expected: str) -> None:
    [node] = read(text)
    assert outline(node) == expected
    assert node.location == START
    assert not isinstance(node, AndOr) or node.left.location == START


@pytest.mark.parametrize(
    ("text", "place"),
    [("a\nb )\nc", "f:6:3"), ("a\nif b; then\n", "f:6:11"), ("a; b 'c\n", "f:5:7"), ("a && ;", "f:5:5")],
)
def test_where_text_stops_being_shell(text: str, place: str) -> None:
    with pytest.raises(ShellError) as raised:
        read(text)
    assert str(raised.value.location) == place
    assert str(raised.value) == "not valid shell"


def test_nodes_stand_where_their_text_begins() -> None:
    for text in (
        "a; b &",
        "a; if b; then c; fi",
        "a; b << X c\nX",
        "a; ! b",
        "a; f() { c; }",
        "a; { c; }",
        "a; case b in esac",
    ):
        assert [str(node.location) for node in read(text)] == ["f:5:3", "f:5:6"]


def test_an_assignment_above_a_command_is_a_command_of_its_own() -> None:
    above, below = read("A=1 B=2\nC=3 D=4 cmd x > f")
    assert isinstance(above, Command) and isinstance(below, Command)
    assert (above.words, above.redirects, above.location) == ((), (), START)
    assert (str(below.location), len(below.redirects), below.name) == ("f:6:1", 1, "cmd")
    above, below = read("A=1\ncmd")
    assert isinstance(above, Command) and isinstance(below, Command)
    assert [item.name for item in above.assignments] == ["A"] and not below.assignments


def test_a_command_keeps_what_stands_before_the_mark_of_a_heredoc() -> None:
    command = one("A=1 b c << X d\ne\nX")
    assert [word.value for word in command.words] == ["b", "c", "d"]
    assert [item.name for item in command.assignments] == ["A"]
    assert [(item.operator, item.body) for item in command.redirects] == [("<<", "e\n")]
    alone = one("> f")
    assert (alone.words, alone.assignments, str(alone.location)) == ((), (), "f:5:3")


def test_an_if_has_its_branches_apart() -> None:
    [node] = read("if a; b; then c; d; elif e; then f; else g; h; fi")
    assert isinstance(node, If)
    found = [tuple([name for inner in part for name in names(inner)] for part in branch) for branch in node.branches]
    assert found == [(["a", "b"], ["c", "d"]), (["e"], ["f"])]
    assert [name for inner in node.otherwise for name in names(inner)] == ["g", "h"]
    assert node.redirects == ()
