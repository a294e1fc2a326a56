"""How each uv command of an image links, from which cache, and what removes one."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.dockerfile_parser import read_dockerfile
from pytest_actor_envs.sources.image import Image
from pytest_actor_envs.sources.tree import Tree
from pytest_actor_envs.sources.uv_installs import Install, Removal, events

CACHE = "/root/.cache/uv"


def found(*lines: str) -> list[tuple[str, bool, str | None, str | None, bool] | tuple[str, str | None, bool]]:
    """Of the last RUN: (place, says mode, mode, cache, keeps cache) of installs, (place, folder, asks) of removals."""
    text = "\n".join(["FROM debian", *lines, ""])
    image = Image(read_dockerfile("Dockerfile", text), Tree(None, {"Dockerfile": text}))
    [*_, run] = image.own_runs(image.dockerfile.stages[0])
    return [
        (str(event.location), event.says_mode, event.mode, event.cache, event.keeps_cache)
        if isinstance(event, Install)
        else (str(event.location), event.folder, event.asks_for_symlinks)
        for event in events(run)
    ]


@pytest.mark.parametrize(
    ("lines", "says_mode", "mode", "cache", "keeps_cache"),
    [
        (["RUN uv sync"], False, None, CACHE, True),
        (["RUN uv run x"], False, None, CACHE, True),
        (["RUN uv pip install x"], False, None, CACHE, True),
        (["RUN uv pip sync x"], False, None, CACHE, True),
        (["RUN /bin/uv --color never -q pip --quiet install x"], False, None, CACHE, True),
        (["RUN uv --color never sync"], False, None, CACHE, True),
        (["RUN uv sync --extra lock --link-mode copy"], True, "copy", CACHE, True),
        (["RUN uv sync --link-mode=copy --extra=x"], True, "copy", CACHE, True),
        (["RUN uv sync --link-mode $MODE"], True, None, CACHE, True),
        (["RUN A=1; uv sync $A sync"], False, None, CACHE, True),
        (["RUN uv sync --link-mode"], False, None, CACHE, True),
        (["ARG UV_LINK_MODE", "RUN uv sync"], True, None, CACHE, True),
        (["ENV UV_LINK_MODE=", "RUN uv sync"], True, "", CACHE, True),
        (["ENV UV_LINK_MODE=copy", "RUN uv sync"], True, "copy", CACHE, True),
        (["ENV UV_LINK_MODE=copy", "RUN uv sync --link-mode symlink"], True, "symlink", CACHE, True),
        (["RUN uv sync --cache-dir /c"], False, None, "/c", True),
        (["RUN uv sync --cache-dir=/c/../d"], False, None, "/d", True),
        (["WORKDIR /w", "RUN uv sync --cache-dir c"], False, None, "/w/c", True),
        (["RUN cd $A && uv sync --cache-dir c"], False, None, None, True),
        (["RUN cd $A && uv sync --cache-dir /c"], False, None, "/c", True),
        (["RUN uv sync --cache-dir $C"], False, None, None, True),
        (["ENV UV_CACHE_DIR=/e", "RUN uv sync"], False, None, "/e", True),
        (["ENV UV_CACHE_DIR=/e", "RUN uv sync --cache-dir /c"], False, None, "/c", True),
        (["ARG UV_CACHE_DIR", "RUN uv sync"], False, None, None, True),
        (["WORKDIR /w", "ENV UV_CACHE_DIR=e", "RUN uv sync"], False, None, "/w/e", True),
        (["ENV XDG_CACHE_HOME=/x", "RUN uv sync"], False, None, "/x/uv", True),
        (["ARG XDG_CACHE_HOME", "RUN uv sync"], False, None, None, True),
        (["RUN uv sync --no-cache"], False, None, CACHE, False),
        (["RUN uv sync -n"], False, None, CACHE, False),
        (["RUN uv sync --no-cache-dir"], False, None, CACHE, False),
        (["ENV UV_NO_CACHE=1", "RUN uv sync"], False, None, CACHE, False),
    ],
)
def test_an_install(lines: list[str], says_mode: bool, mode: str | None, cache: str | None, keeps_cache: bool) -> None:
    [event] = found(*lines)
    assert event[1:] == (says_mode, mode, cache, keeps_cache)
    assert event[0].startswith(f"Dockerfile:{len(lines) + 1}:")


@pytest.mark.parametrize(
    "command",
    [
        "uv",
        "uv lock",
        "uv pip list",
        "uv pip",
        "uv tool run sync",
        "uv run --no-sync x",
        "uv run --no-project x",
        "uv $A sync",
        "uv cache prune",
        "uv cache",
        "uv cache clean x",
        "rm -f /a",
        "rm /a/r",
        "A=1",
        "echo -r /a",
        "rm -r $A -f",
    ],
)
def test_what_is_no_event(command: str) -> None:
    assert found(f"RUN {command}") == []


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["RUN uv cache clean"], [("Dockerfile:2:5", None, False)]),
        (["RUN uv --quiet cache clean --force"], [("Dockerfile:2:5", None, False)]),
        (["RUN rm -rf /a b"], [("Dockerfile:2:5", "/a", False), ("Dockerfile:2:5", "/b", False)]),
        (["WORKDIR /w", "RUN sudo rm -v -R a"], [("Dockerfile:3:5", "/w/a", False)]),
        (["RUN rm /a -r"], [("Dockerfile:2:5", "/a", False)]),
        (["RUN rm --recursive $B /a"], [("Dockerfile:2:5", "/a", False)]),
        (["RUN if [ $a = symlink ]; then rm -r /a; fi"], [("Dockerfile:2:31", "/a", True)]),
        (["RUN if [ $a = hard ]; then rm -r /a; fi"], [("Dockerfile:2:28", "/a", False)]),
        (["RUN if a; then b; elif x | grep symlinks; then rm -r /a; fi"], [("Dockerfile:2:48", "/a", True)]),
        (["RUN if a; then if b --symlink; then uv cache clean; fi; fi"], [("Dockerfile:2:37", None, True)]),
        (["RUN if b --symlink; then if a; then uv cache clean; fi; fi"], [("Dockerfile:2:37", None, True)]),
        (["RUN test symlink && rm -r /a"], [("Dockerfile:2:21", "/a", False)]),
        (["RUN case symlink in a) rm -r /a;; esac"], [("Dockerfile:2:24", "/a", False)]),
    ],
)
def test_a_removal(lines: list[str], expected: list[tuple[str, str | None, bool]]) -> None:
    assert found(*lines) == expected


def test_events_are_in_the_order_in_which_they_run() -> None:
    assert found("RUN uv sync; rm -r /a; uv cache clean; uv run x") == [
        ("Dockerfile:2:5", False, None, CACHE, True),
        ("Dockerfile:2:14", "/a", False),
        ("Dockerfile:2:24", None, False),
        ("Dockerfile:2:40", False, None, CACHE, True),
    ]


@pytest.mark.parametrize(
    ("folder", "cache", "is_gone"),
    [
        (None, None, True),
        (None, "/c", True),
        ("/c", None, False),
        ("/c", "/c", True),
        ("/c/", "/c/d", True),
        ("/c", "/cd", False),
        ("/cX", "/c", False),
        ("/c/d", "/c", False),
        ("/", "/c", True),
    ],
)
def test_what_a_removal_takes_away(folder: str | None, cache: str | None, is_gone: bool) -> None:
    [event] = events_of_a_removal(folder)
    assert event.removes(cache) == is_gone


def events_of_a_removal(folder: str | None) -> list[Removal]:
    text = f"FROM debian\nRUN {'uv cache clean' if folder is None else f'rm -r {folder}'}\n"
    image = Image(read_dockerfile("Dockerfile", text), Tree(None, {"Dockerfile": text}))
    [run] = image.own_runs(image.dockerfile.stages[0])
    return [event for event in events(run) if isinstance(event, Removal)]
