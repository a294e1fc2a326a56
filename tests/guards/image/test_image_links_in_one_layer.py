"""image-links-in-one-layer: a RUN links from a cache of its own, and says how it links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Image = Callable[..., Any]
GUARD = "image-links-in-one-layer"
FILE = "docker/Dockerfile"
HARD, SOFT, COPY = (f"uv sync --link-mode {mode}" for mode in ("hardlink", "symlink", "copy"))
MOUNT = "--mount=type=cache,target=/root/.cache/uv"


def dockerfile(*lines: str) -> dict[str, str]:
    return {FILE: "\n".join(["FROM debian AS one", *lines, ""])}


def test_each_stage_is_a_subject(image: Image) -> None:
    assert sorted(image().outcomes(GUARD)) == [f"{FILE}[deps]", f"{FILE}[release]"]
    assert image().not_green() == {}
    assert image(dockerfile()).messages(GUARD) == []


@pytest.mark.parametrize(
    "lines",
    [
        ["RUN echo uv sync; pip install x; uv lock; uv export; uv pip list; uv python install"],
        [f"RUN {HARD} && {HARD}"],
        ["RUN uv sync --link-mode=hardlink"],
        ["RUN /opt/uv/bin/uv --quiet pip install --link-mode copy x"],
        ["ENV UV_LINK_MODE=hardlink", "RUN uv sync"],
        ["ARG UV_LINK_MODE=hardlink", "RUN uv sync"],
        ["RUN UV_LINK_MODE=copy uv sync"],
        ["RUN export UV_LINK_MODE=copy; uv sync"],
        ["ARG MODE=hardlink", 'RUN uv sync --link-mode "$MODE"'],
        ["RUN uv run --no-sync x && uv run --no-project y"],
        [f"RUN {MOUNT} {COPY}"],
        [f"RUN --mount=type=cache,target=/other {HARD}"],
        [f"RUN --mount=type=bind,target=/root/.cache/uv {HARD}"],
        [f"RUN --mount=type=cache,target=/mi {HARD} --cache-dir /mine"],
        [f"RUN {MOUNT} {HARD} --cache-dir /mine"],
        [f"RUN {MOUNT} UV_CACHE_DIR=/mine {HARD}"],
        [f"RUN {HARD} && rm -rf /root/.cache/uv", f"RUN {HARD}"],
        [f"RUN {HARD} && uv cache clean", f"RUN {HARD}"],
        [f"RUN {HARD}", f"RUN rm -fr /root && {HARD}"],
        [f"RUN {HARD} --cache-dir /a", f"RUN {HARD} --cache-dir /b"],
        [f"RUN {HARD} --no-cache", f"RUN {HARD}"],
        [f"RUN {MOUNT} {COPY}", f"RUN {HARD}"],
        [f"RUN UV_CACHE_DIR=$(mktemp -d) {HARD}", f"RUN UV_CACHE_DIR=$(mktemp -d) {HARD}"],
        [f"RUN {SOFT}", f"RUN {SOFT}"],
        [f"RUN {SOFT} && rm -rf /tmp/x"],
        [f"RUN {SOFT}; if [ $mode != symlink ]; then rm -rf /root/.cache/uv; fi"],
        [f"RUN {HARD} && rm -rf /root/.cache/uv"],
    ],
)
def test_files_that_hold(image: Image, lines: list[str]) -> None:
    assert image(dockerfile(*lines)).messages(GUARD) == []


UNSAID = "nothing says how uv links here"
EARLIER = "links from {}, which an earlier layer filled (at docker/Dockerfile:{}): that copies each file"
COPIES = "links from a cache mount over /root/.cache/uv, another file system: uv copies instead"
BROKEN = "links from a cache mount over /root/.cache/uv, another file system: the links are broken in the image"
GONE = "links by symlinks to a cache that is gone when the command ends"
REMOVES = "removes {}, which symlinked environments need"


@pytest.mark.parametrize(
    ("lines", "messages"),
    [
        (["RUN uv sync"], [f"2:5: {UNSAID}"]),
        (["RUN uv --quiet sync --locked && uv pip install x"], [f"2:5: {UNSAID}", f"2:33: {UNSAID}"]),
        (["RUN uv run --extra link-mode x"], [f"2:5: {UNSAID}"]),
        (["RUN bash <<EOF", "set -e", "uv pip sync r.txt", "EOF"], [f"4:1: {UNSAID}"]),
        (["ENV UV_LINK_MODE=copy", "RUN unset UV_LINK_MODE; uv sync"], [f"3:25: {UNSAID}"]),
        ([f"RUN {HARD}", f"RUN {HARD}"], [f"3:5: {EARLIER.format('/root/.cache/uv', '2:5')}"]),
        (
            [f"RUN {HARD}", "FROM one", f"RUN {HARD} --no-cache; {HARD}"],
            [f"4:46: {EARLIER.format('/root/.cache/uv', '2:5')}"],
        ),
        (
            ["ENV UV_CACHE_DIR=/c UV_LINK_MODE=hardlink", "RUN uv sync", "RUN true; uv sync"],
            [f"4:11: {EARLIER.format('/c', '3:5')}"],
        ),
        (
            ["COPY --from=x /c /opt/./uv_cache/", f"RUN {HARD} --cache-dir /opt/uv_cache"],
            [f"3:5: {EARLIER.format('/opt/uv_cache', '2:1')}"],
        ),
        ([f"RUN {MOUNT} {HARD}"], [f"2:47: {COPIES}"]),
        ([f"RUN --mount=type=cache,dst=/root/.cache {HARD}"], [f"2:41: {COPIES}"]),
        ([f"RUN --mount=type=cache,destination=/root/.cache {HARD}"], [f"2:49: {COPIES}"]),
        ([f"RUN --mount=type=cache,target=/ {HARD}"], [f"2:33: {COPIES}"]),
        (
            [f"RUN --mount=type=cache,target=/c=d {HARD} --cache-dir /c=d"],
            [f"2:36: {COPIES.replace('/root/.cache/uv', '/c=d')}"],
        ),
        ([f"RUN {MOUNT} {SOFT}"], [f"2:47: {BROKEN}"]),
        ([f"RUN {SOFT} --no-cache"], [f"2:5: {GONE}"]),
        ([f"RUN UV_NO_CACHE=1 {SOFT}"], [f"2:5: {GONE}"]),
        ([f"RUN {SOFT} && rm -rf /root/.cache"], [f"2:36: {REMOVES.format('/root/.cache/uv')}"]),
        ([f"RUN {SOFT}", "RUN uv cache clean"], [f"3:5: {REMOVES.format('/root/.cache/uv')}"]),
    ],
)
def test_links_that_are_lost_or_unsaid(image: Image, lines: list[str], messages: list[str]) -> None:
    broken = image(dockerfile(*lines))
    assert broken.messages(GUARD) == [f"{FILE}:{message}" for message in messages]
    mounted = next((part for part in ("/c=d", "/root/.cache/uv", "/root/.cache", "/") if f"={part} " in lines[0]), "")
    mend = {
        UNSAID: "say it: --link-mode hardlink, or ENV UV_LINK_MODE=...",
        GONE: "leave --no-cache out, or link with --link-mode hardlink",
        "an earlier": "remove the cache in the RUN that filled it, or install in that RUN",
        "a cache mount": f"leave the mount at {mounted} out, or say --link-mode copy",
        "removes": "keep the cache, or link with --link-mode hardlink",
    }
    for finding in broken.findings(GUARD):
        assert finding.fix == (next(text for part, text in mend.items() if part in finding.message),)


def test_scripts_of_the_project_are_followed_with_their_arguments(image: Image) -> None:
    held = image({"docker/install.sh": ("hardlink", '"$2"'), FILE: ("install.sh /list", "install.sh /list hardlink")})
    assert held.messages(GUARD) == []
    unsaid = image({"docker/install.sh": (" --link-mode hardlink", "")})
    assert unsaid.messages(GUARD) == [f"docker/install.sh:5:3: {UNSAID}"]


def test_the_projects_own_setting_says_it(image: Image) -> None:
    from tests.guards.conftest import PYPROJECT

    files = {
        **dockerfile("RUN uv sync", "RUN uv sync"),
        "pyproject.toml": f'{PYPROJECT}\n[tool.uv]\nlink-mode = "hardlink"\n',
    }
    assert image(files).messages(GUARD) == [f"{FILE}:3:5: {EARLIER.format('/root/.cache/uv', '2:5')}"]
    files["pyproject.toml"] = files["pyproject.toml"].replace("hardlink", "copy")
    assert image(files).messages(GUARD) == []


def test_symlinks_by_the_projects_own_setting_keep_their_cache(image: Image) -> None:
    from tests.guards.conftest import PYPROJECT

    files = {
        **dockerfile("RUN uv sync", "RUN uv cache clean"),
        "pyproject.toml": f'{PYPROJECT}\n[tool.uv]\nlink-mode = "symlink"\n',
    }
    assert image(files).messages(GUARD) == [f"{FILE}:3:5: {REMOVES.format('/root/.cache/uv')}"]


def test_what_is_wrong_is_said_also_where_another_mode_is_not_known(image: Image) -> None:
    lines = ["ARG MODE", "RUN uv sync", 'RUN uv sync --link-mode "$MODE"']
    assert image(dockerfile(*lines)).messages(GUARD) == [f"{FILE}:3:5: {UNSAID}"]


def test_a_mode_that_is_not_known_is_undecided(image: Image) -> None:
    for lines in (["ARG MODE", 'RUN uv sync --link-mode "$MODE"'], ["ARG UV_LINK_MODE", "RUN uv sync"]):
        (outcome,) = image(dockerfile(*lines)).outcomes(GUARD).values()
        assert outcome.verdict.value == "undecided"
        assert outcome.reason.startswith(f"{FILE}:3:5: the link mode is not known here; give ")
        lines[0] += "=copy"
        assert image(dockerfile(*lines)).messages(GUARD) == []


def test_the_advice_mends_it(image: Image) -> None:
    assert image(dockerfile(f"RUN {HARD}", f"RUN {HARD}")).findings(GUARD)[0].fix == (
        "remove the cache in the RUN that filled it, or install in that RUN",
    )
    assert image(dockerfile(f"RUN {HARD} && rm -rf /root/.cache/uv", f"RUN {HARD}")).messages(GUARD) == []
    assert image(dockerfile(f"RUN {HARD} && {HARD}")).messages(GUARD) == []


def test_a_file_that_cannot_be_read_blocks_it(image: Image) -> None:
    (outcome,) = image(dockerfile("NOSUCH x")).outcomes(GUARD).values()
    assert (outcome.verdict.value, outcome.reason) == ("blocked", "image-copies-before-run")


def test_its_mutants(image: Image) -> None:
    cache, stage = "/no_such_cache", f"{FILE}[one]"
    hard, soft = f"+RUN {HARD} --cache-dir {cache}", f"+RUN {SOFT} --cache-dir {cache}"
    assert image(dockerfile("RUN make")).mutants(GUARD) == [
        (stage, "symlinks-without-cache", f"{FILE}:3: {soft} && rm -rf {cache}"),
        (stage, "symlinks-lose-cache-later", f"{FILE}:3: {soft}\n{FILE}:4: +RUN rm -rf {cache}"),
        (stage, "no-cache", f"{FILE}:3: +RUN {SOFT} --no-cache"),
        (stage, "cache-mount", f"{FILE}:3: +RUN --mount=type=cache,target={cache} {HARD} --cache-dir {cache}"),
        (stage, "earlier-layer", f"{FILE}:3: {hard}\n{FILE}:4: {hard}"),
        (stage, "mode-unsaid", f"{FILE}:3: +RUN unset UV_LINK_MODE && uv sync"),
    ]


def test_where_the_project_says_how_to_link_no_mutant_leaves_it_unsaid(image: Image) -> None:
    from tests.guards.conftest import PYPROJECT

    said = {**dockerfile("RUN make"), "pyproject.toml": f'{PYPROJECT}\n[tool.uv]\nlink-mode = "copy"\n'}
    assert [shape for _, shape, _ in image(said).mutants(GUARD)] == [
        "symlinks-without-cache",
        "symlinks-lose-cache-later",
        "no-cache",
        "cache-mount",
        "earlier-layer",
    ]
    other = {**dockerfile("RUN make"), "pyproject.toml": f"{PYPROJECT}\n[tool.uv]\nmanaged = true\n"}
    assert [shape for _, shape, _ in image(other).mutants(GUARD)][5:] == ["mode-unsaid"]
