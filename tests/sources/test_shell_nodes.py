"""What a shell program's nodes hold: their words, what is inside them, and in which order."""

from __future__ import annotations

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.shell import (
    AndOr,
    Background,
    Command,
    Function,
    Node,
    Not,
    Pipeline,
    all_nodes,
    children,
    with_redirects,
    words_of,
)
from pytest_actor_envs.sources.shell_parser import read_shell

START = Location("f", 5, 3)


def one(text: str) -> Node:
    [node] = read_shell(text, START)
    return node


def named(node: Node) -> str:
    return " ".join(word.text for word in node.words) if isinstance(node, Command) else type(node).__name__


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("a b", []),
        ("a $(b)", []),
        ("a | b | c", ["a", "b", "c"]),
        ("a && b", ["a", "b"]),
        ("a || b", ["a", "b"]),
        ("! a", ["a"]),
        ("a &", ["a"]),
        ("if a; b; then c; d; elif e; then f; else g; h; fi", ["a", "b", "c", "d", "e", "f", "g", "h"]),
        ("while a; b; do c; d; done", ["a", "b", "c", "d"]),
        ("for x in $(a); do b; done", ["b"]),
        ("case $(a) in b) c; d;; e) f;; esac", ["c", "d", "f"]),
        ("{ a; b; }", ["a", "b"]),
        ("(a; b)", ["a", "b"]),
        ("f() { a; b; }", ["Group"]),
    ],
)
def test_what_is_inside_a_node(text: str, inside: list[str]) -> None:
    assert [named(node) for node in children(one(text))] == inside


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A=1 B=(2 3) a b > c 2>&1 <<X\nX", ["a", "b", "1", "2", "3", "c", "1", "X"]),
        ("a 2>&-", ["a"]),
        ("a | b", []),
        ("if a; then b; fi > c", ["c"]),
        ("for x in a b; do c; done < d", ["a", "b", "d"]),
        ("while a; do b; done < c", ["c"]),
        ("case a in b|c) d;; e) f;; esac > g", ["a", "b", "c", "e", "g"]),
        ("{ a; } > b", ["b"]),
        ("f() { a; }", []),
        ("! a", []),
    ],
)
def test_the_words_of_a_node(text: str, words: list[str]) -> None:
    assert [word.text for word in words_of(one(text))] == words


def test_every_node_stands_before_what_is_inside_it() -> None:
    text = 'a "$(b $(c))" > $(d) | e; f() { g <(h); }; if $(i); then j; fi'
    assert [named(node) for node in all_nodes(read_shell(text, START))] == [
        "Pipeline", 'a "$(b $(c))"', "b $(c)", "c", "d", "e", "Function", "Group", "g <(h)", "h", "If", "$(i)", "i", "j",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("a > e", "a y z"),
        ("a | b | c | d > e", "d y z"),
        ("a && b > e", "b y z"),
        ("a || b | c > e", "c y z"),
        ("! a > e", "a y z"),
        ("a > e &", "a y z"),
        ("if a; then b; fi > e", "If"),
        ("(a) > e", "Group"),
        ("while a; do b; done > e", "Loop"),
        ("case a in b) c;; esac > e", "Case"),
    ],
)
def test_redirects_are_added_where_the_shell_has_them(text: str, owner: str) -> None:
    given = one("x > f 2> g y z")
    assert isinstance(given, Command)
    added = with_redirects(one(text), given.redirects, given.words[1:])
    [(name, targets)] = [
        (named(node), [item.target and item.target.text for item in node.redirects])
        for node in all_nodes((added,))
        if not isinstance(node, Pipeline | AndOr | Not | Background | Function) and node.redirects
    ]
    assert (name, targets) == (owner, ["e", "f", "g"])


def test_redirects_of_a_function_are_not_kept() -> None:
    given, function = one("x > f"), one("f() { a; }")
    assert isinstance(given, Command)
    assert with_redirects(function, given.redirects) == function
