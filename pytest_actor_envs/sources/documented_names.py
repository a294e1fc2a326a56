"""The names in a page that look like the project's own: dotted names, classes, wrapper scripts, paths, links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pytest_actor_envs.sources.docs import Page

Kind = Literal["dotted", "class", "script", "path", "link"]

FILE = re.compile(r"\w+\.(?:cfg|csv|ini|ipynb|jsonl?|lock|log|md|pyi?|rst|sh|sub|tar|toml|tsv|txt|ya?ml)")
SCRIPT = re.compile(r"(?<![\w.-])python-([A-Z]\w*)(?![\w-])")
CLASS = re.compile(r"(?<![\w./~<-])([A-Z]\w*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])\w*)(?![\w/-])")
PATH = re.compile(r"(?<![\w./~${}<>@:%*#\\-])(?:\./)?([\w.-]+(?:/[\w.-]+)+/?|[\w.-]+/)(?P<open>[<{$*\[])?")
FROM = re.compile(r"^[ \t>]*(?:>>> )?from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#(]+)", re.MULTILINE)
DEFINED = re.compile(r"\bclass[ \t]+([A-Z]\w*)|^[ \t]*([A-Z]\w*)[ \t]*=[^=]", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|\{", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Name:
    """One name as a page writes it, and its offset there. A path that a placeholder follows is its folder alone."""

    kind: Kind
    text: str
    start: int


def names_in(page: Page, packages: Sequence[str]) -> tuple[Name, ...]:
    """The names of one page, in order, each place once; also those in examples of an error.

    Dotted names are those that begin with one of `packages`, anywhere in the text, and what code imports from them.
    Classes are words in capitals and small letters within code. Paths have a `/`, and stand within code.
    """
    found = [*_dotted(page, packages), *_scripts(page), *_in_code(page), *_links(page)]
    once = {(name.kind, name.start): name for name in found}
    return tuple(sorted(once.values(), key=lambda name: (name.start, name.kind)))


@lru_cache(maxsize=8)
def _dotted_pattern(packages: tuple[str, ...]) -> re.Pattern[str]:
    heads = "|".join(re.escape(package) for package in packages)
    return re.compile(rf"(?<![\w./-])(?:{heads})(?:\.[A-Za-z_]\w*)++(?![\w/-])")


def _dotted(page: Page, packages: Sequence[str]) -> Iterator[Name]:
    for match in _dotted_pattern(tuple(packages)).finditer(page.text):
        if not FILE.fullmatch(match[0]):
            yield Name("dotted", match[0], match.start())
    for match in FROM.finditer(page.text):
        if match[1].split(".")[0] in packages:
            for name in re.finditer(r"(?<![\w.])(\w+)(?:[ \t]+as[ \t]+\w+)?", match[2]):
                yield Name("dotted", f"{match[1]}.{name[1]}", match.start(2) + name.start(1))


def _scripts(page: Page) -> Iterator[Name]:
    for match in SCRIPT.finditer(page.text):
        yield Name("script", match[0], match.start())


def _in_code(page: Page) -> Iterator[Name]:
    own = {name for match in DEFINED.finditer(page.text) for name in match.groups() if name}
    for passage in page.passages:
        if passage.kind == "link":
            continue
        for match in CLASS.finditer(page.text, passage.start, passage.end):
            if match[1] not in own:
                yield Name("class", match[1], match.start(1))
        for match in PATH.finditer(page.text, passage.start, passage.end):
            path = match[1].rstrip(".")
            if match["open"] and not path.endswith("/"):
                path = path.rpartition("/")[0] + "/"
            yield Name("path", path, match.start(1))


def _links(page: Page) -> Iterator[Name]:
    for passage in page.passages:
        target = page.text[passage.start : passage.end]
        if passage.kind == "link" and target and not ELSEWHERE.match(target):
            yield Name("link", re.split(r"[#?]", target)[0], passage.start)
