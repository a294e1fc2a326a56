"""What a stage carries out: commands in order, scripts that were copied, and what is known where each runs."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.dockerfile_parser import read_dockerfile
from pytest_actor_envs.sources.image import CarriedOut, Image
from pytest_actor_envs.sources.image_files import copied
from pytest_actor_envs.sources.shell_steps import Step
from pytest_actor_envs.sources.tree import Tree

SCRIPT = '#!/usr/bin/env bash\nset -euo pipefail\nlist=$1\ncat "$list" $FROM_IMAGE\n'


def image(*lines: str, files: dict[str, str] | None = None) -> Image:
    text = "\n".join(["FROM debian AS one", *lines, ""])
    tree = Tree(None, {"Dockerfile": text, "tools/run.sh": SCRIPT, "tools/x.py": "", **(files or {})})
    return Image(read_dockerfile("Dockerfile", text), tree)


def last_run(built: Image) -> CarriedOut:
    return built.own_runs(built.dockerfile.stages[-1])[-1]


def shown(done: CarriedOut) -> list[str]:
    """Each command with its known words."""
    return [
        " ".join(step.value(word) or "?" for word in step.command.words) for step in done.steps if step.command.words
    ]


def named(done: CarriedOut, name: str) -> Step:
    [found] = [step for step in done.steps if step.command.name == name]
    return found


def test_a_script_is_followed_with_its_arguments_and_the_images_variables() -> None:
    done = last_run(image("ENV FROM_IMAGE=here", "COPY tools /t", "RUN true && /t/run.sh /list"))
    assert shown(done) == ["true", "/t/run.sh /list", "set -euo pipefail", "cat /list here"]
    cat = named(done, "cat")
    assert (str(cat.command.location), str(cat.origin)) == ("tools/run.sh:4:1", "Dockerfile:4:13")
    assert cat.options.errexit and cat.options.pipefail
    assert [context.kind for context in cat.contexts] == ["branch", "program"]
    assert [program.location.path for program in done.programs] == ["Dockerfile", "tools/run.sh"]


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (["ENV X=1", "RUN show $X"], "1"),
        (["ARG X=1", "RUN show ${X}"], "1"),
        (["ARG X", "RUN show $X"], None),
        (["ARG X", "RUN show ${X:-d}"], None),
        (["RUN show ${X:-d}"], "d"),
        (["RUN if a; then X=1; else X=1; fi; show $X"], "1"),
        (["RUN if a; then X=1; else X=2; fi; show $X"], None),
        (["RUN if a; then X=1; fi; show $X"], None),
        (["RUN X=1; if a; then X=2; exit; fi; show $X"], "1"),
        (["RUN X=1; case a in b) X=1;; c) X=1;; esac; show $X"], "1"),
        (["RUN X=1; read -r X; show $X"], None),
        (["RUN X=1; read -r Y; show $X"], "1"),
        (["RUN X=1; unset Y X; show ${X:-d}"], "d"),
        (["RUN X=1; unset Y; show ${X:-d}"], "1"),
        (["RUN export X=1; show $X"], "1"),
        (["RUN X=a; X+=b; show $X"], "ab"),
        (["RUN X+=b; show $X"], None),
        (["RUN X=(a b); show $X"], None),
        (["RUN (X=1); show $X"], None),
        (["RUN export X=1; bash -c 'show $X'"], "1"),
        (["RUN X=1; bash -c 'show $X'"], None),
        (["RUN X=1 bash -c 'show $X'"], "1"),
        (["RUN X=1; f() { X=2; }; show $X"], "1"),
        (["RUN f() { X=$1; }; f 2; show $X"], "2"),
        (["RUN X=1; while a; do X=2; done; show $X"], None),
        (["RUN show $X"], None),
        (["ENV X=", "RUN show ${X:-d}"], "d"),
        (["ENV X=a", "ENV Y=$X/b", "RUN show $Y"], "a/b"),
        (["ENV X=a", "ARG X=b", "RUN show $X"], "a"),
        (["ARG X=a", "ENV X=${X}b", "RUN show $X"], "ab"),
        (["RUN X=1 && show $X"], "1"),
        (["RUN X=1; X+=2; show $X"], "12"),
        (["RUN if x; then X=1; else X=2; fi; show $X"], None),
        (["RUN X=1; if x; then X=2; exit 1; fi; show $X"], "1"),
        (["RUN X=1; x && X=2; show $X"], None),
        (["RUN X=1; (X=2); show $X"], "1"),
        (["RUN X=1; X=2 | cat; show $X"], "1"),
        (["RUN X=$(x); show $X"], None),
        (["RUN for X in a b; do show $X; done"], None),
        (["RUN X=1; while x; do show $X; X=2; done"], None),
        (["RUN X=1; read X; show $X"], None),
        (["RUN X=1; unset X; show ${X:-d}"], "d"),
        (["RUN f() { show $1; }; f a"], "a"),
        (["RUN export X=1; bash -c 'show $X'"], "1"),
        (["RUN X=1; bash -c 'show $X'"], None),
        (["RUN X=1 bash -c 'show $X'"], "1"),
        (["RUN bash <<EOF", "X=1", "show $X", "EOF"], "1"),
    ],
)
def test_values(lines: list[str], value: str | None) -> None:
    step = named(last_run(image(*lines)), "show")
    assert step.value(step.command.words[-1]) == value


def test_arguments_above_the_first_stage_are_defaults() -> None:
    text = "ARG X=up\nFROM debian\nARG X\nRUN show $X\n"
    built = Image(read_dockerfile("Dockerfile", text), Tree(None, {"Dockerfile": text}))
    step = named(last_run(built), "show")
    assert step.value(step.command.words[1]) == "up"


@pytest.mark.parametrize(
    ("lines", "path"),
    [
        (["RUN show x"], "/x"),
        (["WORKDIR /a", "WORKDIR b", "RUN show ./x"], "/a/b/x"),
        (["WORKDIR /a", "RUN cd b && show x"], "/a/b/x"),
        (["WORKDIR /a", "RUN (cd b); show x"], "/a/x"),
        (["WORKDIR /a", "RUN cd $B && show x"], None),
        (["WORKDIR /a", "RUN cd $B && show /x"], "/x"),
        (["ENV D=/d", "WORKDIR $D/e", "RUN show ../x"], "/d/x"),
    ],
)
def test_paths(lines: list[str], path: str | None) -> None:
    step = named(last_run(image(*lines)), "show")
    assert step.path(step.command.words[1]) == path


@pytest.mark.parametrize(
    ("lines", "place", "path"),
    [
        (["COPY tools/x.py /a.py"], "/a.py", "tools/x.py"),
        (["COPY tools/x.py /a/"], "/a/x.py", "tools/x.py"),
        (["WORKDIR /w", "COPY tools/*.py ./"], "/w/x.py", "tools/x.py"),
        (["WORKDIR /w", "COPY . ."], "/w/tools/x.py", "tools/x.py"),
        (["COPY tools/x.py tools/run.sh /a"], "/a/run.sh", "tools/run.sh"),
        (["COPY *.py /a/"], "/a/tools/x.py", None),
        (["COPY other /a/"], "/a/x.py", None),
        (["COPY tools /t", "FROM debian", "COPY --from=one /t /u"], "/u/x.py", "tools/x.py"),
        (["COPY tools/x.py /t/", "FROM debian", "COPY --from=0 /t/x.py /u.py"], "/u.py", "tools/x.py"),
        (["COPY --from=some-context tools /t"], "/t/x.py", "tools/x.py"),
        (["ADD https://example.org/tools/x.py /t/"], "/t/x.py", None),
        (["COPY --exclude=tools/*.py tools /t"], "/t/x.py", "tools/x.py"),
        (["COPY --exclude=*.py tools /t"], "/t/x.py", None),
        (["COPY --parents tools/x.py /t"], "/t/tools/x.py", "tools/x.py"),
        (["COPY --parents tools/x.py /t"], "/t/x.py", None),
        (["COPY --exclude=*.py tools /t", "FROM debian", "COPY --from=one /t /u"], "/u/x.py", None),
        (["COPY --parents tools/x.py /t", "FROM debian", "COPY --from=one /t /u"], "/u/tools/x.py", "tools/x.py"),
        (["COPY --from=example.org/image:1 tools /t"], "/t/x.py", None),
        (["COPY --exclude=tools . /t"], "/t/tools/x.py", None),
        (["COPY --parents tools /t"], "/t/tools/x.py", "tools/x.py"),
        (["COPY --parents tools/*.py /t"], "/t/tools/x.py", "tools/x.py"),
        (["COPY --parents . /t"], "/t/tools/x.py", "tools/x.py"),
        (["COPY --parents tools/run.sh /t"], "/t/tools/x.py", None),
        (["COPY --exclude=x.py tools . /t"], "/t/tools/x.py", "tools/x.py"),
        (["COPY --exclude=Dockerfile --exclude=x.py . tools /t"], "/t/x.py", None),
        (["ENV S=tools D=/t", "COPY $S $D"], "/t/x.py", "tools/x.py"),
        (["ARG D=a", "ARG E=/$D", "COPY tools $E"], "/a/x.py", "tools/x.py"),
        (["WORKDIR /my work", "COPY tools t"], "/my work/t/x.py", "tools/x.py"),
        (["ENV A=1", "ARG A=2", "ARG A=3", "COPY tools /t$A"], "/t1/x.py", "tools/x.py"),
        (["ARG A=1", "ENV A=2", "ARG A=3", "COPY tools /t$A"], "/t2/x.py", "tools/x.py"),
        (["COPY tools /t/u", "FROM debian", "COPY --from=one /t /v/"], "/v/u/x.py", "tools/x.py"),
        (["COPY tools /t/u", "FROM debian", "COPY --from=one / /v"], "/v/t/u/x.py", "tools/x.py"),
        (["COPY tools /tt", "FROM debian", "COPY --from=one /t /v"], "/v/t/x.py", None),
        (["COPY tools /t", "FROM debian", "ARG FROM=one", "COPY --from=$FROM /t /u"], "/u/x.py", "tools/x.py"),
        (["FROM debian AS tools", "COPY --from=tools tools /t"], "/t/x.py", "tools/x.py"),
        (
            ["FROM scratch AS src", "ADD https://a/b.git /", "FROM b", "COPY --from=src tools /t"],
            "/t/x.py",
            "tools/x.py",
        ),
        (["FROM debian AS src", "ADD https://a/b.git /", "FROM b", "COPY --from=src tools /t"], "/t/x.py", None),
        (["FROM scratch AS src", "FROM b", "COPY --from=src tools /t"], "/t/x.py", None),
        (["FROM scratch AS src", "COPY tools /q", "FROM b", "COPY --from=src tools /t"], "/t/x.py", None),
    ],
)
def test_where_the_projects_files_stand(lines: list[str], place: str, path: str | None) -> None:
    built = image(*lines)
    assert built.holds(built.end(built.dockerfile.stages[-1]).copies, place) == path


def test_what_a_command_stands_in() -> None:
    code = "if a; then b | c; fi; d && e || f; ! g; for x in $(h); do i; done; j < <(k); l & m"
    steps = last_run(image(f"RUN {code}")).steps
    kinds = {step.command.name: [context.kind for context in step.contexts] for step in steps}
    assert kinds == {
        "a": ["condition"], "b": ["branch", "pipe"], "c": ["branch", "pipe-last"], "d": ["or", "and"],
        "e": ["or", "branch"], "f": ["branch"], "g": ["not"], "h": ["$("], "i": ["loop"], "k": ["<("], "j": [],
        "l": ["background"], "m": [],
    }  # fmt: skip


def test_a_script_that_calls_itself_ends() -> None:
    files = {"loop.sh": "#!/bin/sh\n/loop.sh\n"}
    assert len(last_run(image("COPY loop.sh /", "RUN /loop.sh", files=files)).steps) < 50
    assert len(last_run(image("RUN f() { f; }; f")).steps) < 50


def test_heredocs_go_to_the_command_that_they_are_marked_at() -> None:
    done = last_run(image("RUN cat && bash -e <<X | tee log", "show", "X"))
    assert shown(done) == ["cat", "bash -e", "show", "tee log"]
    done = last_run(image("RUN <<X", "#!/bin/bash -e", "show", "X"))
    assert shown(done) == ["show"] and done.programs[0].options.errexit
    done = last_run(image("RUN <<X", "#!/usr/bin/python3", "show()", "X"))
    assert done.steps == () and done.unreadable == ()


def test_shell_of_the_stage_and_exec_form() -> None:
    done = last_run(image('SHELL ["/bin/bash", "-eo", "pipefail", "-c"]', "RUN show"))
    assert done.programs[0].options.errexit and done.programs[0].options.pipefail and done.programs[0].can_pipefail
    assert shown(last_run(image('RUN ["bash", "-c", "show a"]')))[1] == "show a"


def test_a_script_that_a_copy_made_of_a_heredoc_is_followed() -> None:
    for lines in (["COPY <<X /a/s.sh", "show $1", "X"], ["COPY <<s.sh /a/", "show $1", "s.sh"]):
        assert shown(last_run(image(*lines, "RUN bash /a/s.sh b"))) == ["bash /a/s.sh b", "show b"]


def test_a_mount_brings_what_another_stage_has() -> None:
    done = last_run(image("COPY tools /t", "FROM debian", "RUN --mount=from=one,source=/t,target=/u /u/run.sh /list"))
    assert shown(done)[-1].startswith("cat /list")


@pytest.mark.parametrize(
    ("mount", "is_there"),
    [
        ("type=bind,source=tools,target=/u", True),
        ("type=bind,src=tools,dst=/u", True),
        ("source=tools,destination=/u,ro", True),
        ("target=/u", False),
        ("type=bind,target=/u/..", False),
        ("type=cache,source=tools,target=/u", False),
        ("type=bind,source=tools", False),
        ("type=bind,source=tools,target=/u,x=a=b", True),
    ],
)
def test_a_mount_brings_what_it_binds(mount: str, is_there: bool) -> None:
    done = last_run(image(f"RUN --mount={mount} /u/run.sh /list"))
    assert [line for line in shown(done) if line.startswith("cat")] == ["cat /list ?"] * is_there


def test_a_mount_without_a_source_is_the_whole_project() -> None:
    assert shown(last_run(image("RUN --mount=target=/u /u/tools/run.sh /list")))[-1] == "cat /list ?"


def test_a_run_that_no_stage_carries_out_runs_behind_it() -> None:
    built = image("WORKDIR /w", "COPY tools /t", "ENV FROM_IMAGE=x", "ONBUILD RUN /t/run.sh y")
    stage = built.dockerfile.stages[0]
    [run] = stage.runs()
    assert built.own_runs(stage) == ()
    alone = built.alone(run, stage)
    assert alone.run is run and shown(alone)[-1] == "cat y x" and alone.state.directory == "/w"


def test_comments_of_dockerignore_keep_nothing_out() -> None:
    built = image("COPY tools /t", files={".dockerignore": "#tools/x.py\n\n tools/run.sh \n"})
    copies = built.end(built.dockerfile.stages[0]).copies
    assert built.ignore_lines == ("tools/run.sh",)
    assert (built.holds(copies, "/t/x.py"), built.holds(copies, "/t/run.sh")) == ("tools/x.py", None)
    both = image(files={".dockerignore": "a", "Dockerfile.dockerignore": "b"})
    assert both.ignore_lines == ("b",)


@pytest.mark.parametrize(
    ("command", "owner"),
    [
        ("one <<X && two", "one"),
        ("one && two <<X", "two"),
        ("one <<X | two", "one"),
        ("one | two <<X | three", "two"),
        ("one && two \\\n | three <<X || four", "three"),
        ("one \\\n <<X | two", "one"),
        ("one; two <<X", "two"),
    ],
)
def test_the_command_that_gets_a_heredoc(command: str, owner: str) -> None:
    done = last_run(image(f"RUN {command}", "text", "X"))
    owners = [(step.command.name, redirect) for step in done.steps for redirect in step.command.redirects]
    assert [(name, redirect.operator, redirect.body) for name, redirect in owners] == [(owner, "<<", "text\n")]


def test_a_heredoc_of_a_continued_line_alone_is_a_program() -> None:
    done = last_run(image("RUN \\", "  <<X", "show", "X"))
    assert shown(done) == ["show"]
    assert str(done.programs[0].location) == "Dockerfile:4:1" and not done.programs[0].can_pipefail
    broken = last_run(image("RUN <<X", "if x; then", "X"))
    assert broken.steps == () and [place.line for place in broken.unreadable] == [3]
    options = last_run(image('SHELL ["/bin/bash", "-e", "-c"]', "RUN <<X", "show", "X")).programs[0]
    assert options.options.errexit and options.can_pipefail


def test_the_exec_form_is_no_shell() -> None:
    [program, *_] = last_run(image('RUN ["show", "a b"]')).programs
    assert not program.can_pipefail and not program.options.errexit


@pytest.mark.parametrize(
    ("lines", "places"),
    [
        (["COPY <<a <<b /d", "A", "a", "B", "b"], {"/d/a": "A\n", "/d/b": "B\n"}),
        (["COPY x <<a /d", "A", "a"], {"/d/a": "A\n"}),
        (["ENV D=/d", "WORKDIR /w", "COPY <<a e/", "A", "a", "COPY <<b $D", "B", "b"], {"/w/e/a": "A\n", "/d": "B\n"}),
        (["COPY <<a /", "A", "a"], {"/a": "A\n"}),
    ],
)
def test_where_heredocs_of_copies_stand(lines: list[str], places: dict[str, str]) -> None:
    built = image(*lines)
    written = built.end(built.dockerfile.stages[0]).written
    assert {place: text.text for place, text in written.items()} == places


def test_a_shell_that_is_none_of_unix_is_not_read() -> None:
    done = last_run(image('SHELL ["pwsh", "-Command"]', "RUN if (x) {"))
    assert done.steps == () and done.unreadable == ()
    done = last_run(image('SHELL ["conda", "run", "-n", "e", "/bin/bash", "-e", "-c"]', "RUN show"))
    assert done.programs[0].options.errexit and not done.programs[0].options.pipefail


def test_text_that_no_shell_reads_has_a_place() -> None:
    done = last_run(image("RUN if x; then"))
    assert done.steps == () and [place.line for place in done.unreadable] == [2]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("tools/run.sh", "cat", "dog"),
        ("Dockerfile", "RUN one", "RUN two"),
        ("Dockerfile", "ENV X=1", "ENV X=2"),
        ("Dockerfile", "WORKDIR /w", "WORKDIR /v"),
        ("Dockerfile", "COPY tools /t\n", ""),
        (".dockerignore", "other", "tools"),
        ("Dockerfile", "\nRUN one", "\n\nRUN one"),
    ],
)
def test_what_is_kept_of_another_state_is_what_would_be_found_anew(path: str, old: str, new: str) -> None:
    lines = [
        "FROM debian AS one",
        "WORKDIR /w",
        "ENV X=1",
        "COPY tools /t",
        "RUN one $X",
        "RUN /t/run.sh $X",
        "RUN cd a && b",
    ]
    files: dict[str, str] = {"Dockerfile": "\n".join(lines), "tools/run.sh": SCRIPT, ".dockerignore": "other"}
    base = Image(read_dockerfile("Dockerfile", files["Dockerfile"]), Tree(None, files))
    kept = base.own_runs(base.dockerfile.stages[0])
    known = {item: item for _, item in base.dockerfile.instructions()}
    changed = {**files, path: files[path].replace(old, new)}
    assert changed != files
    states = []
    for before in (base, None):
        file = read_dockerfile("Dockerfile", changed["Dockerfile"], known)
        built = Image(file, Tree(None, changed), before)
        runs = built.own_runs(file.stages[0])
        places = [str(step.command.location) for done in runs for step in done.steps]
        states.append(([shown(done) for done in runs], places, [done.state for done in runs]))
        if before is not None:
            same = [done for done in runs if any(done is other for other in kept)]
            assert len(same) == {"ENV X=1": 0, "WORKDIR /w": 0, "COPY tools /t\n": 0, "other": 0, "\nRUN one": 0}.get(
                old, 2
            )
    assert states[0] == states[1]


@pytest.mark.parametrize(
    ("sources", "destination", "names", "place", "into_folder"),
    [
        (["/"], "/app", ("",), "/app", False),
        (["."], "app/", ("",), "/image/app", True),
        (["./a/b.py"], "../app", ("a/b.py",), "/app", False),
        (["/a", "b"], ".", ("a", "b"), "/image", True),
        (["*.py"], "x/.", ("*.py",), "/image/x", True),
    ],
)
def test_what_a_copy_takes_and_where_it_goes(
    sources: list[str], destination: str, names: tuple[str, ...], place: str, into_folder: bool
) -> None:
    copy = copied(sources, destination, "/image")
    assert (copy.sources, copy.destination, copy.into_folder) == (names, place, into_folder)
