"""What differs from a commit: the files, by git, and the project as it was there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_actor_envs.model import ConfigurationError
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.table import Entry

GIT_VARIABLES_OF_HOOKS = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY"})


@dataclass(frozen=True, slots=True)
class Changes:
    """Files of the working tree that differ from a commit: path -> text there, `None` for one that is not there.

    Paths are relative to the project's folder, with `/`. Files that git ignores are no changes.
    """

    before: Mapping[str, str | None]

    @property
    def added(self) -> frozenset[str]:
        """The files that the commit does not have."""
        return frozenset(path for path, text in self.before.items() if text is None)


def changes_since(root: Path, reference: str) -> Changes:
    """What differs from a commit, in the working tree, added files included. Raises ConfigurationError."""
    git = ["git", "-C", str(root)]
    commit = _output([*git, "rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}"])
    if commit is None:
        raise ConfigurationError(
            f"gate: git knows no commit '{reference}' in {root.name}\n    commits: git log --oneline; without one: actor-envs gate"
        )
    name = commit.decode().strip()
    differing = _output([*git, "diff", "--name-only", "--no-renames", "--relative", "-z", name, "--"]) or b""
    untracked = _output([*git, "ls-files", "--others", "--exclude-standard", "-z"]) or b""
    paths = sorted({path for path in (differing + untracked).decode(errors="surrogateescape").split("\0") if path})
    before: dict[str, str | None] = {}
    for path in paths:
        content = _output([*git, "show", f"{name}:./{path}"])
        before[path] = None if content is None else content.decode(errors="replace")
    return Changes(before)


def _output(command: list[str]) -> bytes | None:
    # What a hook sets would make git look into another repository.
    environment = {name: value for name, value in os.environ.items() if name not in GIT_VARIABLES_OF_HOOKS}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
    except FileNotFoundError:
        raise ConfigurationError("gate: --since needs git, which is not installed") from None
    return done.stdout if done.returncode == 0 else None


def changed_entries(before: Project, after: Project) -> frozenset[str]:
    """The names of the entries that are new or say something else."""
    known = {entry.meaning for entry in _entries(before)}
    return frozenset(entry.name for entry in _entries(after) if entry.meaning not in known)


def _entries(project: Project) -> tuple[Entry, ...]:
    """The table's entries, none where there was no leaf yet."""
    return project.table.entries if project.tree.exists(project.config.leaf) else ()


def differ_in_entries_only(before: Project, after: Project) -> bool:
    """Whether the leaf is the same but for its table's display."""
    return _around(before) == _around(after) is not None


def _around(project: Project) -> tuple[str, str] | None:
    """The leaf's text above the table's first entry and below its last; `None` where it has none that can be read."""
    entries = _entries(project)
    if not entries:
        return None
    text = project.tree.read_text(project.config.leaf)
    first = min(entry.key_span[0] for entry in entries)
    last = max(entry.value_span[1] for entry in entries)
    # The comments above the first entry belong to it, so that what counts ends where the display begins.
    opening = text.rfind("{", 0, first)
    return text[: opening + 1], text[last:].removeprefix(",")
