"""Shell programs, whole: every node with its words, assignments, redirects and places."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.shell import (
    AndOr,
    Assignment,
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
    Redirect,
    Word,
)
from pytest_actor_envs.sources.shell_parser import read_shell

START = Location("f", 5, 3)


def place(location: Location) -> str:
    assert location.path == START.path
    return f"@{location.column}" if location.line == START.line else f"@{location.line}:{location.column}"


def written_words(words: Iterable[Word]) -> str:
    return " ".join(f"{word.text}{place(word.location)}" for word in words)


def written_assignment(item: Assignment) -> str:
    assert {item.appends, item.is_array} <= {True, False}
    values = written_words(item.values)
    values = f"({values})" if item.is_array else values
    return f"{item.name}{place(item.location)}{'+=' if item.appends else '='}{values}"


def written_redirect(redirect: Redirect) -> str:
    descriptor = "" if redirect.descriptor is None else str(redirect.descriptor)
    target = "none" if redirect.target is None else written_words([redirect.target])
    body = "" if redirect.body_location is None else f" {redirect.body!r}{place(redirect.body_location)}"
    return f"<{descriptor}{redirect.operator}{place(redirect.location)} {target}{body}>"


def program(nodes: Iterable[Node]) -> str:
    return "; ".join(written(node) for node in nodes)


def written(node: Node) -> str:
    """A node with all that it holds, on one line."""
    if isinstance(node, Command):
        parts = [*map(written_assignment, node.assignments), written_words(node.words)]
    elif isinstance(node, Pipeline):
        parts = [" | ".join(map(written, node.parts))]
    elif isinstance(node, AndOr):
        parts = [f"{written(node.left)} {node.operator} {written(node.right)}"]
    elif isinstance(node, If):
        branches = [f"if {program(condition)} then {program(body)}" for condition, body in node.branches]
        parts = [*branches, *([f"else {program(node.otherwise)}"] if node.otherwise else [])]
    elif isinstance(node, Loop):
        variable = [] if node.variable is None else [f"{node.variable} in"]
        parts = [node.kind, *variable, written_words(node.words), program(node.condition), f"do {program(node.body)}"]
    elif isinstance(node, Case):
        items = [f"{written_words(patterns)}) {program(body)};;" for patterns, body in node.items]
        parts = [f"case {written_words([node.subject])}", *items]
    elif isinstance(node, Not | Background):
        parts = [written(node.body)]
    else:
        assert isinstance(node, Group | Function)
        parts = [node.name] if isinstance(node, Function) else ["sub" if node.is_subshell else "here"]
        parts.append(program(node.body))
    redirects = () if isinstance(node, Pipeline | AndOr | Not | Background | Function) else node.redirects
    inner = " ".join(filter(None, [*parts, *map(written_redirect, redirects)]))
    return f"{'' if isinstance(node, Command) else type(node).__name__}{place(node.location)}[{inner}]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if a; then b; fi > f", "If@3[if @6[a@6] then @14[b@14] <>@20 f@22>]"),
        (
            "if a & b\nthen c # d\nelse\ne; f; fi 2>&1 < g",
            "If@3[if Background@6[@6[a@6]]; @10[b@10] then @6:6[c@6:6] else @8:1[e@8:1]; @8:4[f@8:4] <2>&@8:10 1@8:13> <<@8:15 g@8:17>]",
        ),
        (
            "if a; then b; elif ! c; d; then e; f; elif g; then h; fi",
            "If@3[if @6[a@6] then @14[b@14] if Not@22[@24[c@24]]; @27[d@27] then @35[e@35]; @38[f@38] if @46[g@46] then @54[h@54]]",
        ),
        ("a & b &", "Background@3[@3[a@3]]; Background@7[@7[b@7]]"),
        ("A=1\nB=2 c", "@3[A@3=1@5]; @6:1[B@6:1=2@6:3 c@6:5]"),
        ("A=1 B+=2\n\n# c\nD= e > f", "@3[A@3=1@5 B@7+=2@10]; @7:1[D@8:1=@8:1 e@8:4 <>@8:6 f@8:8>]"),
        ("A=1\nb | c && d", "@3[A@3=1@5]; AndOr@6:1[Pipeline@6:1[@6:1[b@6:1] | @6:5[c@6:5]] && @6:10[d@6:10]]"),
        ("A=1 \\\nb", "@3[A@3=1@5 b@6:1]"),
        (
            "case $x in (a|b) c; d;; *) ;; esac 2> f",
            "Case@3[case $x@8 a@15 b@17) @20[c@20]; @23[d@23];; *@27) ;; <2>@38 f@41>]",
        ),
        ("case x in\n  a) b;;\nesac", "Case@3[case x@8 a@6:3) @6:6[b@6:6];;]"),
        ("f() { a; }", "Function@3[f Group@7[here @9[a@9]]]"),
        ("function f () ( a; b )", "Function@3[f Group@17[sub @19[a@19]; @22[b@22]]]"),
        ("until a; do b; done", "Loop@3[until @9[a@9] do @15[b@15]]"),
        ("while a; b; do c; d; done < f", "Loop@3[while @9[a@9]; @12[b@12] do @18[c@18]; @21[d@21] <<@29 f@31>]"),
        ("for x; do b; done", "Loop@3[for x in do @13[b@13]]"),
        ('for x in a "$b" $(c); do d; done > e', 'Loop@3[for x in a@12 "$b"@14 $(c)@19 do @28[d@28] <>@36 e@38>]'),
        ("for ((i=0; i<2; i++)); do b; done", "Loop@3[for do @29[b@29]]"),
        ("select x in a b; do c; done", "Loop@3[select x in a@15 b@17 do @23[c@23]]"),
        ("((a + 1))", "@3[((@3 a@5 +@7 1@9 ))@10]"),
        ("declare -a A B=1 # c", "@3[A@14= B@16=1@18 declare@3 -a@11]"),
        ("unset A B", "@3[unset@3 A@9 B@11]"),
        ("A[0]=1 b", "@3[A@3=1@8 b@10]"),
        ('A=(1 # b\n "$2")\nc', '@3[A@3=(1@6 "$2"@6:2)]; @7:1[c@7:1]'),
        ("A=1 B=2\nc", "@3[A@3=1@5 B@7=2@9]; @6:1[c@6:1]"),
        ("A+=() b", "@3[A@3+=() b@9]"),
        ("a <<-X\n\tt\n\tX", "@3[a@3 <<<-@5 X@8 '\\tt\\n\\t'@6:1>]"),
        ("a 2<<X\nX", "@3[a@3 <2<<@5 X@8 ''@6:1>]"),
        ("a <<X\nX", "@3[a@3 <<<@5 X@7 ''@6:1>]"),
        ("a <<X > f b 2> g\n t\nX", "@3[a@3 b@13 <<<@5 X@7 ' t\\n'@6:1> <>@9 f@11> <2>@15 g@18>]"),
        ("a <<X | b | c\nt\nX", "Pipeline@3[@3[a@3 <<<@5 X@7 't\\n'@6:1>] | @11[b@11] | @15[c@15]]"),
        (
            "a <<X && b || c && d\nt\nX",
            "AndOr@3[AndOr@3[AndOr@3[@3[a@3 <<<@5 X@7 't\\n'@6:1>] && @12[b@12]] || @17[c@17]] && @22[d@22]]",
        ),
        ("a <<X && b | c\nt\nX", "AndOr@3[@3[a@3 <<<@5 X@7 't\\n'@6:1>] && Pipeline@12[@12[b@12] | @16[c@16]]]"),
        ("a <<X | b && c\nt\nX", "AndOr@3[Pipeline@3[@3[a@3 <<<@5 X@7 't\\n'@6:1>] | @11[b@11]] && @16[c@16]]"),
        ("> g a <<'X' b\nt\nX", "@3[a@7 b@15 <>@3 g@5> <<<@9 'X'@11 't\\n'@6:1>]"),
        ("a | b <<X c\nX", "Pipeline@3[@3[a@3] | @7[b@7 c@13 <<<@9 X@11 ''@6:1>]]"),
        (
            "a <<X && b || c | d\nX",
            "AndOr@3[AndOr@3[@3[a@3 <<<@5 X@7 ''@6:1>] && @12[b@12]] || Pipeline@17[@17[c@17] | @21[d@21]]]",
        ),
        ("a <<X || b c\nt\nX", "AndOr@3[@3[a@3 <<<@5 X@7 't\\n'@6:1>] || @12[b@12 c@14]]"),
        ("a <<< 'x y' 3< f 4>> g &> h", "@3[a@3 <<<<@5 'x y'@9> <3<@15 f@18> <4>>@20 g@24> <&>@26 h@29>]"),
        ("a > f b 2> g c", "@3[a@3 b@9 c@16 <>@5 f@7> <2>@11 g@14>]"),
        ("a <<< b c", "@3[a@3 c@11 <<<<@5 b@9>]"),
        ("a | b > f c", "Pipeline@3[@3[a@3] | @7[b@7 c@13 <>@9 f@11>]]"),
        ("> f a b", "@3[a@7 b@9 <>@3 f@5>]"),
        ("a >&2 <&3 2>&-", "@3[a@3 <>&@5 2@7> <<&@9 3@11> <2>&-@13 none>]"),
        ("> f", "@3[<>@3 f@5>]"),
        ("{ a & }", "Group@3[here Background@5[@5[a@5]]]"),
        ("(a; { b; }) | c > f", "Pipeline@3[Group@3[sub @4[a@4]; Group@7[here @9[b@9]]] | @17[c@17 <>@19 f@21>]]"),
        ("! a | b", "Not@3[Pipeline@3[@5[a@5] | @9[b@9]]]"),
        ("a | ! b", "Pipeline@3[@3[a@3] | Not@7[@9[b@9]]]"),
        ("a |& b", "Pipeline@3[@3[a@3] | @8[b@8]]"),
        ("a | b &", "Background@3[Pipeline@3[@3[a@3] | @7[b@7]]]"),
        ("a && b & c", "Background@3[AndOr@3[@3[a@3] && @8[b@8]]]; @12[c@12]"),
        ("a # b", "@3[a@3]"),
        ("[[ a -nt b || ! -f c ]] && d", "AndOr@3[@3[[[@3 a@6 -nt@8 b@12 ||@14 !@17 -f@19 c@22 ]]@24] && @30[d@30]]"),
        ("[ -f a ] > b", "@3[[@3 -f@5 a@8 ]@10 <>@12 b@14>]"),
        ('a `b` "$(c; d)"', '@3[a@3 `b`@5 "$(c; d)"@9]'),
        ('"$A" b', '@3["$A"@3 b@8]'),
        ("a\n é b; ü $c", "@3[a@3]; @6:2[é@6:2 b@6:4]; @6:7[ü@6:7 $c@6:9]"),
        ("f() { a; } > b", "Function@3[f Group@7[here @9[a@9]]]"),
        ("a | b > c && d > e", "AndOr@3[Pipeline@3[@3[a@3] | @7[b@7 <>@9 c@11>]] && @16[d@16 <>@18 e@20>]]"),
        ("! a > f", "Not@3[@5[a@5 <>@7 f@9>]]"),
    ],
)
def test_programs(text: str, expected: str) -> None:
    assert program(read_shell(text, START)) == expected
