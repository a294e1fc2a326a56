"""image-skip-known: extras that an image names are declared, and copies of one list are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Image = Callable[..., Any]
GUARD = "image-skip-known"
FILE, LEAF = "docker/Dockerfile", "sample/actor_environments.py"
DECLARED = "declared: alpha, beta, idle, trtllm"


def dockerfile(*lines: str) -> dict[str, str]:
    return {FILE: "\n".join(["FROM debian AS one", "WORKDIR /p", "COPY . .", *lines, ""])}


def test_each_stage_is_a_subject(image: Image) -> None:
    assert sorted(image().outcomes(GUARD)) == [f"{FILE}[deps]", f"{FILE}[release]"]
    assert image().not_green() == {}


@pytest.mark.parametrize(
    "lines",
    [
        ["RUN uv sync --extra alpha --extra=beta --extra $X --no-extra idle"],
        ["RUN uv sync --directory /other --extra gamma"],
        ["RUN cd /other && uv sync --extra gamma && pip install '.[delta]'"],
        ["RUN pip install -e '.[alpha,beta]' 'other[gamma]' 'sample[trtllm]>=1'"],
        [f"RUN python3 {LEAF} all alpha > /list"],
        [f"RUN skipped=(alpha); skipped+=(beta); python3 {LEAF} all \"${{skipped[@]}}\""],
        ["ARG SKIP=alpha", f"RUN python3 {LEAF} all $SKIP"],
        ["ARG OTHER=gamma", f"RUN echo $OTHER; python3 {LEAF} all alpha"],
        ["RUN for x in alpha beta; do uv sync --extra $x; done", "RUN for x in beta alpha; do uv sync --extra $x; done"],
        ["RUN for x in alpha; do uv sync --extra $x; done", "RUN for x in beta; do uv sync --extra $x; done"],
        ["RUN uv sync --extra alpha --extra beta", "RUN uv sync --extra alpha --extra trtllm"],
        ["RUN uv sync --extra ALPHA"],
    ],
)  # fmt: skip
def test_files_that_hold(image: Image, lines: list[str]) -> None:
    assert image(dockerfile(*lines)).messages(GUARD) == []


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (["RUN uv sync --locked --extra alpa"], "4:30"),
        (["RUN uv run --extra=alpa x"], "4:12"),
        (["RUN bash -e <<EOF", "uv sync \\", "  --extra alpa", "EOF"], "6:11"),
        (["RUN pip install '.[beta,alpa]'"], "4:17"),
        (["RUN pip install 'Sample[alpa]'"], "4:17"),
        ([f"RUN python3 {LEAF} all beta alpa > /list"], "4:51"),
        ([f'RUN skipped=(beta alpa) && python3 {LEAF} all "${{skipped[@]}}"'], "4:19"),
        ([f"RUN skipped=(); skipped+=(alpa); python3 {LEAF} all ${{skipped[@]}}"], "4:27"),
        (["RUN for x in beta alpa; do uv sync --extra $x; done"], "4:19"),
        (["ARG SKIP='beta alpa'", f"RUN python3 {LEAF} all $SKIP"], "4:5"),
        (["ENV SKIP=alpa", f"RUN python3 {LEAF} all ${{SKIP:-beta}}"], "4:5"),
        ([f"RUN python3 {LEAF} all ${{SKIP:-alpa}}"], "4:46"),
        (["ARG SKIP=alpa", f'RUN read -ra gone <<<"$SKIP"; python3 {LEAF} all ${{gone[@]}}'], "4:5"),
        (["ARG SKIP=alpa", f"RUN gone=$SKIP; python3 {LEAF} all $gone"], "4:5"),
        (["ARG SKIP=alpa", f"RUN for x in $SKIP; do python3 {LEAF} all $x; done"], "4:5"),
    ],
)
def test_an_extra_that_is_not_declared(image: Image, lines: list[str], place: str) -> None:
    broken = image(dockerfile(*lines))
    message = "names the extra 'alpa', which pyproject.toml does not declare"
    assert broken.messages(GUARD) == [f"{FILE}:{place}: {message}"]
    assert broken.findings(GUARD)[0].fix == (f"did you mean 'alpha'?   {DECLARED}",)
    assert image(dockerfile(*[line.replace("alpa", "alpha") for line in lines])).messages(GUARD) == []


def test_an_extra_that_is_like_none(image: Image) -> None:
    assert image(dockerfile("RUN uv sync --extra zz")).findings(GUARD)[0].fix == (DECLARED,)


def test_an_extra_of_a_project_without_extras(image: Image) -> None:
    pyproject = f'[project]\nname = "sample"\nversion = "1"\n\n[tool.pytest-actor-envs]\nleaf = "{LEAF}"\ndocs = []\n'
    files = {**dockerfile("RUN uv sync --extra zz"), "pyproject.toml": pyproject}
    assert image(files).findings(GUARD)[0].fix == ("declared: none",)


def test_a_script_of_the_project_names_extras(image: Image) -> None:
    broken = image({"docker/install.sh": ("--locked", "--locked --extra alpa")})
    assert broken.messages(GUARD) == [
        "docker/install.sh:5:64: names the extra 'alpa', which pyproject.toml does not declare"
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ["RUN for x in alpha beta; do uv sync --extra $x; done", "FROM one", "RUN for x in alpha; do uv sync --extra $x; done"],
            "6:5: this list of extras is a copy of the one at docker/Dockerfile:4:5, and lacks beta",
        ),
        (
            ["RUN uv sync --extra alpha --extra beta", "FROM one", "RUN uv run --extra beta --extra alpha --extra idle x"],
            "6:5: this list of extras is a copy of the one at docker/Dockerfile:4:5, and has idle besides",
        ),
        (
            ["ARG SKIP='alpha beta'", f"RUN python3 {LEAF} all $SKIP", "FROM one", "ARG SKIP='alpha idle trtllm'",
             f"RUN python3 {LEAF} all $SKIP"],
            "7:5: this list of extras is a copy of the one at docker/Dockerfile:4:5, and lacks beta and has idle, trtllm besides",
        ),
        (
            ["RUN pip install '.[alpha,beta,idle,trtllm]'", "RUN uv sync --extra alpha --extra beta"],
            "5:5: this list of extras is a copy of the one at docker/Dockerfile:4:5, and lacks idle, trtllm",
        ),
    ],
)  # fmt: skip
def test_copies_of_one_list_that_differ(image: Image, lines: list[str], message: str) -> None:
    broken = image(dockerfile(*lines))
    assert broken.messages(GUARD) == [f"{FILE}:{message}"]
    assert broken.findings(GUARD)[0].fix == (
        "keep one list, in a build argument or a file, and read it in both places",
    )


def test_a_script_that_two_stages_execute_holds_one_list(image: Image) -> None:
    both = {
        **dockerfile("RUN tools/go.sh", "FROM one", "RUN tools/go.sh"),
        "tools/go.sh": "#!/bin/sh\nset -e\nuv sync --extra alpha --extra beta\n",
    }
    assert image(both).messages(GUARD) == []


def test_extras_that_only_building_the_project_tells_are_not_judged(image: Image) -> None:
    pyproject = '[project]\nname = "sample"\nversion = "1"\ndynamic = ["optional-dependencies"]\n'
    pyproject += f'\n[tool.pytest-actor-envs]\nleaf = "{LEAF}"\ndocs = []\n'
    files = {**dockerfile("RUN uv sync --extra zz"), "pyproject.toml": pyproject}
    assert image(files).messages(GUARD) == []


def test_a_file_that_cannot_be_read_blocks_it(image: Image) -> None:
    (outcome,) = image(dockerfile("NOSUCH x")).outcomes(GUARD).values()
    assert (outcome.verdict.value, outcome.reason) == ("blocked", "image-copies-before-run")


@pytest.mark.parametrize(("extras", "shapes"), [("a = []", []), ("a = []\nb = []", ["copies-differ"])])
def test_copies_of_a_list_take_two_extras(image: Image, extras: str, shapes: list[str]) -> None:
    pyproject = f'[project]\nname = "sample"\nversion = "1"\n\n[project.optional-dependencies]\n{extras}\n'
    pyproject += f'\n[tool.pytest-actor-envs]\nleaf = "{LEAF}"\ndocs = []\n'
    mutants = image({FILE: "FROM debian\n", "pyproject.toml": pyproject}).mutants(GUARD)
    assert [shape for _, shape, _ in mutants][4:] == shapes


def test_its_mutants(image: Image) -> None:
    sync = "RUN {}uv sync --link-mode copy --extra {}"
    shapes = {
        "unknown-in-flag": [sync.format("", "no_such_extra")],
        "unknown-in-loop": [sync.format("for one in no_such_extra; do ", '"$one"; done')],
        "unknown-in-argument": ["ARG MORE=no_such_extra", sync.format("", '"$MORE"')],
        "unknown-in-brackets": ["RUN uv pip install --link-mode copy -e '.[no_such_extra]'"],
        "copies-differ": [
            sync.format(f"for one in {listed}; do ", '"$one"; done') for listed in ("alpha beta", "alpha")
        ],
    }
    assert image({FILE: "FROM debian\n"}).mutants(GUARD) == [
        (
            f"{FILE}[0]",
            shape,
            "\n".join(
                f"{FILE}:{number}: +{line}"
                for number, line in enumerate(["WORKDIR /no/such/folder", "COPY pyproject.toml ./", *lines], start=2)
            ),
        )
        for shape, lines in shapes.items()
    ]


def with_extras(*extras: str) -> dict[str, str]:
    declared = "".join(f"{extra} = []\n" for extra in extras)
    pyproject = f'[project]\nname = "sample"\nversion = "1"\n\n[project.optional-dependencies]\n{declared}'
    return {"pyproject.toml": f'{pyproject}\n[tool.pytest-actor-envs]\nleaf = "{LEAF}"\ndocs = []\n'}


def test_a_project_without_extras(image: Image) -> None:
    broken = image({**dockerfile("RUN uv sync --extra zz"), **with_extras()})
    assert broken.findings(GUARD)[0].fix == ("declared: none",)


def test_a_list_that_lacks_more_than_one(image: Image) -> None:
    run = f"RUN python3 {LEAF} all $SKIP"
    lines = ["ARG SKIP='alpha beta idle'", run, "FROM one AS two", "ARG SKIP=beta", run]
    assert image(dockerfile(*lines)).messages(GUARD) == [
        f"{FILE}:7:5: this list of extras is a copy of the one at {FILE}:4:5, and lacks alpha, idle"
    ]


@pytest.mark.parametrize(("extras", "has_copies"), [(["alpha"], False), (["alpha", "beta"], True)])
def test_lists_that_differ_need_two_extras(image: Image, extras: list[str], has_copies: bool) -> None:
    changes = image(with_extras(*extras)).changes(GUARD)
    assert (f"{FILE}[deps], copies-differ" in changes) is has_copies
