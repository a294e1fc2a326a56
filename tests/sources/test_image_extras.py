"""The extras that an image names, and the variables that bring them: whole lists, each with its places."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.dockerfile_parser import read_dockerfile
from pytest_actor_envs.sources.image import Image
from pytest_actor_envs.sources.image_extras import ImageExtras
from pytest_actor_envs.sources.tree import Tree

LEAF = "pkg/leaf.py"
SCRIPT = "#!/bin/sh\nuv sync --extra $1 --extra d\n"


def image_extras(lines: list[str]) -> ImageExtras:
    text = "\n".join(["FROM debian AS one", "WORKDIR /p", "COPY . .", *lines, ""])
    files = {"Dockerfile": text, "pyproject.toml": "", LEAF: "", "go.sh": SCRIPT, "sub/pyproject.toml": ""}
    return ImageExtras(Image(read_dockerfile("Dockerfile", text), Tree(None, files)), LEAF, "own-name")


def shown(extras: ImageExtras, stage: int = 0) -> list[str]:
    """Each list as `holder place: extra place, extra place`."""
    return [
        f"{one.holder} {place(one.location)}: "
        + ", ".join(f"{item.name} {place(item.location)}" for item in one.extras)
        for one in extras.lists(extras.image.dockerfile.stages[stage])
    ]


def place(location: object) -> str:
    return str(location).removeprefix("Dockerfile:")


@pytest.mark.parametrize(
    ("lines", "variables", "lists"),
    [
        (
            ["RUN uv sync --extra a --no-extra b --extra=c --no-extra='d' --locked x"],
            "",
            [["None 4:5: a 4:21, b 4:34, c 4:36, d 4:46"]],
        ),
        (["RUN uv sync --extra $a --extra=$b --no-extra ${c:-x} --no-extra=${d} --extra"], "a b c d", [[]]),
        (["RUN uv sync --extra a$b --extra '' --extra \"c\""], "b", [["None 4:5: c 4:44"]]),
        (
            [
                "RUN uv run --directory /p --extra a x",
                "RUN uv run --project /q --extra b x",
                "RUN uv run --directory=/q --extra c x",
            ],
            "",
            [["None 4:5: a 4:35"]],
        ),
        (
            [
                "RUN cd / && uv run --extra a --project /p/ x",
                "RUN cd /q && uv run --extra $b --extra c x",
                "RUN cd $D && uv sync --extra d --extra $e",
            ],
            "e",
            [["None 4:13: a 4:28", "None 6:14: d 6:30"]],
        ),
        (["RUN cd /p/sub && uv sync --extra a && cd .. && uv sync --extra b"], "", [["None 4:48: b 4:64"]]),
        (["RUN cd / && uv sync --extra $a --extra=$b"], "", [[]]),
        (["RUN uv sync --extra=a=b --extra $c $d; cd / && uv sync --extra e --project"], "c", [["None 4:5: a=b 4:13"]]),
        (["COPY . /", "RUN cd / && uv sync --extra a"], "", [["None 5:13: a 5:29"]]),
        ([f"RUN cd $D && python3 {LEAF} all a $X"], "", [[]]),
        (["RUN uv run --extra a --project"], "", [["None 4:5: a 4:20"]]),
        (
            ["RUN pip install '.[a, b]' ./x[c] .. 'own_Name[d,e]' 'Own.name[f]>=1' other[g] /p[h]"],
            "",
            [["None 4:5: a 4:17, b 4:17, d 4:37, e 4:37, f 4:53"]],
        ),
        (
            ["RUN uv pip install -e .[a]; pip download .[b]; uv add own-name[c]; pip install git+x own-name"],
            "",
            [["None 4:5: a 4:23"]],
        ),
        (["RUN cd / && pip install .[a] own-name[b]"], "", [["None 4:13: b 4:30"]]),
        (["RUN pip install sub/own-name[a] $X[b] .[$Y]"], "", [[]]),
        (
            [f"RUN python3 {LEAF} all a b $X ${{Y:-c d}} > /list; python3 other.py all e; python3 -c 1 f"],
            "X Y",
            [["None 4:5: a 4:29, b 4:31, c 4:36, d 4:36"]],
        ),
        ([f"RUN python3 {LEAF} $S $X ${{Y:-$Z}} w${{V:-u}}"], "V X Y", [["None 4:5: w 4:40, u 4:41"]]),
        ([f"RUN python3 {LEAF}", f"RUN python3 {LEAF} all"], "", [[]]),
        (["RUN ./go.sh a; cd /q; /p/go.sh b"], "", [["None go.sh:2:1: d go.sh:2:28"]]),
        (
            [
                "ARG X='a b'",
                "ARG Y",
                "ARG Z=$X",
                "ENV W=c",
                "ARG E=",
                "ARG O=o",
                f"RUN python3 {LEAF} all $X $Y $Z $W $E",
            ],
            "E W X Y Z",
            [["X 4:5: a 4:5, b 4:5", "W 7:5: c 7:5"]],
        ),
        (
            ["ARG X=a", "ENV X=b", "RUN uv sync --extra $X", "ONBUILD ARG X=c"],
            "X",
            [["X 4:5: a 4:5", "X 7:13: c 7:13", "X 5:5: b 5:5"]],
        ),
        (
            ["RUN for X in a b$Y ${Z:-c}; do uv sync --extra $X; done; for V in d; do uv sync; done"],
            "X Y Z",
            [["X 4:5: a 4:14, b 4:16, c 4:20"]],
        ),
        (
            ["RUN X=(a b) Y=c; X+=(d); Z=e; uv sync --extra $X --extra=$Y"],
            "X Y",
            [["X 4:5: a 4:8, b 4:10", "Y 4:13: c 4:15", "None 4:18: d 4:22"]],
        ),
        (["RUN X=$Y; Y=$Z; Z=a; V=b; uv sync --extra=$X"], "X Y Z", [["Z 4:17: a 4:19"]]),
        (
            [
                'RUN read -ra X V <<<"$Y"; mapfile -t W <<<$U; readarray T <<<$S; echo X <<<$R; read Q <<<$P',
                f"RUN python3 {LEAF} all $X $W $T",
            ],
            "S T U W X Y",
            [[]],
        ),
        (["RUN read X < /f; uv sync --extra $X"], "X", [[]]),
        (["RUN X=$Y; Y=$X; uv sync --extra $X"], "X Y", [[]]),
        (
            [
                "RUN for X in $Y; do uv sync --extra $X; done",
                "FROM one",
                "ARG Y=a",
                "RUN Y=b; for Y in c; do uv sync --extra d; done",
            ],
            "X Y",
            [[], ["Y 6:5: a 6:5", "Y 7:5: b 7:7", "Y 7:10: c 7:19", "None 7:25: d 7:41"]],
        ),
        (["RUN uv sync --extra $1 --extra $@ --extra ${X[@]}"], "X", [[]]),
        (["RUN uv sync --extra a", "RUN uv sync --extra a"], "", [["None 4:5: a 4:21", "None 5:5: a 5:21"]]),
        (["RUN bash -c 'uv sync --extra a --extra $X'"], "X", [["None 4:14: a 4:30"]]),
        (["RUN f() { uv sync --extra a; }; f; f"], "", [["None 4:11: a 4:27"]]),
        (["RUN --mount=type=cache,target=/c UV=1 env X=1 nice uv sync --extra a"], "", [["None 4:34: a 4:68"]]),
        (["RUN sync --extra; --extra"], "", [[]]),
    ],
)
def test_extras_stand_in_lists(lines: list[str], variables: str, lists: list[list[str]]) -> None:
    extras = image_extras(lines)
    assert sorted(extras.variables) == variables.split()
    assert [shown(extras, number) for number in range(len(lists))] == lists
