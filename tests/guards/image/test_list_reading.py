"""What comes from the list of environments is followed through variables, loops, here-strings and substitutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.guards.image.test_image_list_checked import GUARD, MADE, TEST, made

Image = Callable[..., Any]
ROWS = "while read -r actor stage flags; do {}; done < /list"


@pytest.mark.parametrize(
    ("code", "command"),
    [
        (ROWS.format("case $actor in *vllm*) echo; echo; continue;; esac"), "case $actor"),
        ("f() { grep -v x /list > /rest; }; f; f", "grep -v x"),
        ("readarray rows < /list; for row in ${rows[@]}; do [[ $row == x ]] && continue; done", "[[ $row =="),
        ("while read row; do [[ $row == x ]] && continue; done < /list", "[[ $row =="),
        ("for row in $(cat /list); do [[ $row == x ]] && continue; done", "[[ $row =="),
        ("for row in $(echo $(cat /list)); do [[ $row == x ]] && continue; done", "[[ $row =="),
        ("rows=$(cat /list); [[ $rows == *x* ]] && echo", "[[ $rows =="),
        ('read -r name <<<"$(cat /list)"; [[ $name == x ]] && echo', "[[ $name =="),
        (ROWS.format('read -r name <<<"$actor"; [[ $name == x ]] && continue'), "[[ $name =="),
        (ROWS.format("x=$actor; x+=/done; [[ $x == *x* ]] && continue"), "[[ $x =="),
        ("mapfile -t a b < /list; [[ $b == x ]] && echo", "[[ $b =="),
        ("grep -v alpha /other /list", "grep -v alpha"),
        ("grep a/b < /list", "grep a/b"),
        ("if true; then grep -v alpha; fi < /list", "grep -v alpha"),
        ("grep alpha --exclude=/x < /list", "grep alpha --exclude=/x"),
        (ROWS.format("if true; then [[ $actor == x ]] && continue; exit 1; fi"), "[[ $actor =="),
        ("read -r a b c < /list; test $c = x && echo", "test $c ="),
        ("while read row; do for x in 1 2; do case $row in x) echo; esac; done; done < /list", "case $row"),
        ("f() { case $row in x) echo; esac; }; while read row; do f; f; done < /list", "case $row"),
        ("for row in $(awk '{print $2, $1}' /list); do [[ $row == x ]] && continue; done", "[[ $row =="),
        ("for row in $(awk '{print $1}' /list); do [[ $row == x ]] && continue; done", "[[ $row =="),
        ("for row in $(perl '{print $2}' /list); do [[ $row == x ]] && continue; done", "[[ $row =="),
        ("for row in $(cut -f 2,3 /list); do [[ $row == x ]] && continue; done", "[[ $row =="),
        ("x=$(echo <<<$(cat /list)); [[ $x == x ]] && echo", "[[ $x =="),
        ("gawk '$1 != \"x\"' /list", "gawk '$1 != \"x\"' /list"),
        ("mawk '$2 ~ /x/' /list", "mawk '$2 ~ /x/' /list"),
        ("awk '/x/ {print $2}' /list", "awk '/x/ {print $2}' /list"),
        ("sed /deps/d /list", "sed /deps/d /list"),
        ("grep -v sometrtllm /list", "grep -v sometrtllm"),
        ("cat /list | cat | grep -v alpha | sort", "grep -v alpha"),
        ("read -r a b c < /list; echo $c | grep -q alpha", "grep -q alpha"),
        ('read -r a b c < /list; grep -q alpha <<<"$c"', "grep -q alpha"),
    ],
)
def test_a_filter_is_told_once(image: Image, code: str, command: str) -> None:
    messages = image(made(MADE, TEST, code)).messages(GUARD)
    assert [message.split(": ", 1)[1] for message in messages] == [
        f"`{command}` leaves rows of /list out; other passes do not"
    ]


@pytest.mark.parametrize(
    "code",
    [
        ROWS.format("x=$actor; x=$stage; [[ $x == gpu ]] && continue"),
        ROWS.format("x=$(date); [[ $x == gpu ]] && continue"),
        "for stage in $(cut -f 2 /list); do [[ $stage == gpu ]] && continue; done",
        "IFS=x read -r name < /other; [[ $name == x ]] && echo",
        "for stage in $(awk '{print $2}' /list); do [[ $stage == gpu ]] && continue; done",
        "for stage in $(gawk -F '\\t' '{print $2}' /list); do [[ $stage == gpu ]] && continue; done",
        "awk -F '\\t' '$2 == \"trtllm\"' /list",
        "gawk '$2 == \"trtllm\" {print $1}' /list",
        "mawk '{print $1}' /list",
        'grep "$UNKNOWN" /list',
        "egrep '^deps$' /list",
        "grep -P '\\ttrtllm\\t' /list",
        "grep trtllm > /alpha < /list",
        "grep -v alpha /other | cat /list",
        "echo /list | cat; ! grep -v alpha /other",
        "cut -f 2 /list | cat | grep -q gpu",
        'cut -f "2" /list | grep -q gpu',
        ROWS.format('grep -q alpha > "$actor" <<<plain'),
        ROWS.format('if grep -q alpha < "/envs/$actor"; then echo; fi'),
        ROWS.format("if grep -q alpha <<<plain; then echo; fi"),
        ROWS.format('if grep alpha "/envs/$actor/lock"; then echo; fi'),
        ROWS.format("read -r name <<<plain; [[ $name == x ]] && continue"),
        ROWS.format('while read -r name; do [[ $name == x ]] && break; done < "/envs/$actor"'),
    ],
)
def test_what_holds_no_row_is_no_filter(image: Image, code: str) -> None:
    assert image(made(MADE, TEST, code)).messages(GUARD) == []
