"""Which paths a repository makes itself, or takes from another one: `.gitignore` and `.gitmodules`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_actor_envs.sources.tree import Tree

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUBMODULE = re.compile(r"^[ \t]*path[ \t]*=[ \t]*(\S+)", re.MULTILINE)


def is_made_elsewhere(tree: Tree, path: str) -> bool:
    """Whether `path` (a folder where it ends with `/`) lies in a submodule, or git ignores it."""
    path = path.removesuffix("/")
    if tree.exists(".gitmodules"):
        modules = SUBMODULE.findall(tree.read_text(".gitmodules"))
        if any(f"{path}/".startswith(f"{module.removesuffix('/')}/") for module in modules):
            return True
    parts = path.split("/")
    for depth in range(len(parts)):
        folder = "".join(f"{part}/" for part in parts[:depth])
        if tree.exists(f"{folder}.gitignore"):
            spec = _spec(tree.read_text(f"{folder}.gitignore"))
            below = path.removeprefix(folder)
            found = spec.check_file(below).include
            # `!name` takes the path itself out again; only what no line speaks of may be a folder that one ignores.
            if found or (found is None and spec.match_file(f"{below}/")):
                return True
    return False


@lru_cache(maxsize=64)
def _spec(text: str) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # only where a page names a path that does not exist

    return GitIgnoreSpec.from_lines(text.splitlines())
