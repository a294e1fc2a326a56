"""What holds at one point of a stage, as a whole: variables, directory, shell, and the project's files."""

from __future__ import annotations

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.dockerfile_parser import read_dockerfile
from pytest_actor_envs.sources.image import CarriedOut, Image
from pytest_actor_envs.sources.image_files import Copied, absolute, copied, places
from pytest_actor_envs.sources.image_state import State
from pytest_actor_envs.sources.invocations import Options
from pytest_actor_envs.sources.shell import Command, Redirect, Word
from pytest_actor_envs.sources.shell_steps import Program
from pytest_actor_envs.sources.tree import Tree

SCRIPT = "#!/bin/sh\nshow $1\n"


def image(text: str, base: Image | None = None, **files: str) -> Image:
    tree = Tree(
        None,
        {"Dockerfile": text, "t/run.sh": SCRIPT, "t/x.py": "", **{k.replace("_", "/"): v for k, v in files.items()}},
    )
    return Image(read_dockerfile("Dockerfile", text), tree, base)


def end(text: str) -> State:
    built = image(text)
    return built.end(built.dockerfile.stages[-1])


def shown(done: CarriedOut) -> str:
    return "; ".join(" ".join(step.value(word) or "?" for word in step.command.words) for step in done.steps)


def test_all_that_holds_behind_the_last_instruction() -> None:
    assert end(
        "# escape=`\nARG TOP=t\nFROM debian\nARG TOP\nARG NONE\nARG A=a`b\nARG C=d`e$A\nENV B=$A`c D=\nENV A=x\n"
        'WORKDIR /w`x$D\nSHELL ["/bin/bash", "-c"]\nCOPY t s`u$B\nLABEL a=b\n'
    ) == State(
        {"TOP": "t", "NONE": None, "A": "x", "C": "deab", "B": "abc", "D": ""},
        frozenset({"TOP", "NONE", "C"}),
        "/wx",
        ("/bin/bash", "-c"),
        (Copied(("t",), "/wx/suabc", False),),
    )


@pytest.mark.parametrize(
    ("lines", "copies"),
    [
        ("ADD https://host/t /t", ()),
        ("ADD https://host/t t/x.py /t", (Copied(("t/x.py",), "/t", False),)),
        ("COPY t /a/b\nFROM c\nCOPY --from=0 a /u", (Copied(("t",), "/u/b", False),)),
        ("COPY t /a/b\nFROM c\nCOPY --from=0 /a/b u/", (Copied(("t",), "/u", False),)),
        ("COPY t /a/b\nFROM c\nCOPY --from=0 /a/b/x.py u/", (Copied(("t/x.py",), "/u", True),)),
        ("COPY --exclude=a --parents t /u", (Copied(("t",), "/u", False, ("a",), True),)),
        (
            "COPY --exclude=a --parents t /u\nFROM c\nCOPY --from=0 --exclude=b /u /v",
            (Copied(("t",), "/v", False, ("a", "b"), True),),
        ),
    ],
)
def test_what_a_stage_has_of_the_project(lines: str, copies: tuple[Copied, ...]) -> None:
    assert end(f"FROM debian\n{lines}\n").copies == copies


def test_heredocs_of_a_copy_stand_in_its_folder() -> None:
    written = end("FROM debian\nWORKDIR /w\nCOPY <<a <<b /d\nA\na\nB\nb\nCOPY <<c e/\nC\nc\n").written
    assert {place: text.text for place, text in written.items()} == {"/d/a": "A\n", "/d/b": "B\n", "/w/e/c": "C\n"}


@pytest.mark.parametrize(
    ("mount", "copies"),
    [
        ("source=t,target=/u=v,ro", (Copied(("t",), "/u=v", False),)),
        ("type=cache,target=/u", ()),
        ("from=one,source=/a,target=/u", (Copied(("t",), "/u", False),)),
        ("from=debian:12,source=/a,target=/u", ()),
    ],
)
def test_what_a_mount_adds(mount: str, copies: tuple[Copied, ...]) -> None:
    text = f"FROM debian AS one\nCOPY t /a\nFROM debian\nONBUILD RUN --mount={mount} x\nRUN --mount={mount} x\n"
    built = image(text)
    stage = built.dockerfile.stages[1]
    waiting, run = stage.runs()
    assert [done.copies for done in built.own_runs(stage)] == [copies]
    assert built.alone(waiting, stage).copies == copies and run.flag("mount") == mount


def test_onbuild_comes_first_where_a_stage_is_built_on() -> None:
    built = image("FROM debian AS one\nRUN a\nONBUILD ENV X=1\nONBUILD RUN b $X\nFROM one\nRUN c $X\n")
    first, second = built.dockerfile.stages
    assert [shown(done) for done in built.own_runs(second)] == ["b 1", "c 1"]
    assert [shown(done) for done in built.runs(second)] == ["a", "b 1", "c 1"]
    assert [shown(done) for done in built.runs(first)] == ["a"]


def test_the_exec_form_is_one_command() -> None:
    built = image('FROM debian\nRUN ["show", "a b"]\n')
    [done] = built.own_runs(built.dockerfile.stages[0])
    place = Location("Dockerfile", 2, 1)
    words = (Word("show", ("show",), place), Word("a b", ("a b",), place))
    assert done.programs == (Program((Command(words, (), (), place),), Options(), False, place),)


@pytest.mark.parametrize(
    ("command", "owner", "mark"),
    [
        ("one && t <<X", "t", "X"),
        ("<<X one && two", "one", "X"),
        ("one | two <<'X'", "two", "'X'"),
    ],
)
def test_a_heredoc_of_dockers_is_a_redirect_like_any(command: str, owner: str, mark: str) -> None:
    built = image(f"FROM debian\nRUN {command}\ntext\nX\n")
    [done] = built.own_runs(built.dockerfile.stages[0])
    place, redirects = Location("Dockerfile", 2, 1), {step.command.name: step.command.redirects for step in done.steps}
    redirect = Redirect("<<", Word(mark, ("X",), place), None, place, "text\n", Location("Dockerfile", 3, 1))
    assert {name: found for name, found in redirects.items() if found} == {owner: (redirect,)}


def test_which_paths_the_answers_depend_on() -> None:
    built = image("FROM debian\nCOPY t /t\nRUN /t/run.sh a && /t/gone.sh\n")
    [done] = built.own_runs(built.dockerfile.stages[0])
    assert shown(done) == "/t/run.sh a; show a; /t/gone.sh"
    assert built.read == {
        "Dockerfile", "Dockerfile.dockerignore", ".dockerignore", "t", "t/run.sh", "t/gone.sh",
    }  # fmt: skip


KEPT = "FROM debian\nCOPY t /t\nRUN /t/run.sh a\nRUN python3 /t/x.py\nRUN --mount=target=/u b\nRUN /t/late.sh\n"


def test_a_run_over_the_same_files_is_not_looked_at_again() -> None:
    base = image(KEPT)
    before = base.own_runs(base.dockerfile.stages[0])
    again = Image(base.dockerfile, base.tree, base)
    assert all(one is other for one, other in zip(again.own_runs(base.dockerfile.stages[0]), before, strict=True))
    assert again.read == base.read


def test_a_file_that_comes_or_goes_is_looked_at_again() -> None:
    without, there = image(KEPT), image(KEPT, t_late_sh="")
    file = without.dockerfile
    there = Image(file, Tree(None, {"t/run.sh": SCRIPT, "t/x.py": "", "t/late.sh": SCRIPT}))
    commands = {}
    for name, base, tree in (("gone", there, without.tree), ("new", without, there.tree)):
        base.own_runs(file.stages[0])
        commands[name] = shown(Image(file, tree, base).own_runs(file.stages[0])[-1])
    assert commands == {"gone": "/t/late.sh", "new": "/t/late.sh; show ?"}


def test_what_a_mount_from_another_stage_brings_is_looked_at_again() -> None:
    text = "FROM debian AS one\nCOPY t /t\nFROM debian\nRUN --mount=from=one,source=/t,target=/u /u/run.sh a\n"
    base = image(text)
    [done] = base.own_runs(base.dockerfile.stages[1])
    changed = image(text.replace("COPY t /t", "COPY s /t"), base)
    [other] = changed.own_runs(changed.dockerfile.stages[1])
    assert (shown(done), shown(other)) == ("/u/run.sh a; show a", "/u/run.sh a")


@pytest.mark.parametrize(
    ("sources", "destination", "path", "expected"),
    [
        (["a/b/c.py"], "/t/", "a/b/c.py", ["/t/c.py"]),
        (["a/b/c.py"], "/t", "a/b/c.py", ["/t"]),
        (["a/b/c.py"], "/t", "a/b/d.py", []),
        (["a/*/c.py"], "/t", "a/b/c.py", ["/t/c.py"]),
        (["a/*.py"], "/t", "a/b/c.py", []),
        (["a"], "/t", "ab/c", []),
        (["."], "/t", "a/b", ["/t/a/b"]),
        (["a", "a/b"], "/t", "a/b/c", ["/t/b/c", "/t/c"]),
    ],
)
def test_where_a_copy_puts_a_file(sources: list[str], destination: str, path: str, expected: list[str]) -> None:
    assert list(places(copied(sources, destination, "/"), path)) == expected


@pytest.mark.parametrize(
    ("sources", "destination", "expected"),
    [
        (["X/a"], "/Xb", Copied(("X/a",), "/Xb", False)),
        (["a/./b/../c"], "x/.", Copied(("a/c",), "/w/x", True)),
        (["//a/"], ".", Copied(("a",), "/w", True)),
        (["./"], "..", Copied(("",), "/", False)),
        (["a", "b"], "c", Copied(("a", "b"), "/w/c", True)),
        (["[ab]"], "c", Copied(("[ab]",), "/w/c", True)),
    ],
)
def test_the_words_of_a_copy(sources: list[str], destination: str, expected: Copied) -> None:
    assert copied(sources, destination, "/w") == expected


def test_a_path_has_one_slash_at_its_start() -> None:
    assert [absolute(path, "/w") for path in ("X", "/X", "//X", "../..", "")] == ["/w/X", "/X", "/X", "/", "/w"]
