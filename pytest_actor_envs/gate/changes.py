"""What differs from a commit: the files, by git, and the project as it was there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_actor_envs.model import ConfigurationError
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.table import Entry

GIT_VARIABLES_OF_HOOKS = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY"})
NO_SUCH_COMMIT = 1
"""What `git rev-parse --verify --quiet` ends with; any other status says that it could not look."""


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
    """What differs from a commit, in the working tree, added files included.

    Raises ConfigurationError where there is no git, no such commit, or git fails: that is never no change.
    """
    commit = _commit(root, reference)
    differing = _said(root, "diff", "--name-only", "--no-renames", "--relative", "-z", commit, "--")
    untracked = _said(root, "ls-files", "--others", "--exclude-standard", "-z")
    there = _files_of(root, commit)
    paths = sorted({path for path in _text(differing + untracked).split("\0") if path})
    return Changes(
        {
            path: _said(root, "show", f"{commit}:./{path}").decode(errors="replace") if path in there else None
            for path in paths
        }
    )


def _commit(root: Path, reference: str) -> str:
    question = ("rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}")
    done = _git(root, question)
    if done.returncode == NO_SUCH_COMMIT:
        is_shallow = _git(root, ("rev-parse", "--is-shallow-repository")).stdout.strip() == b"true"
        more = "; more of this shallow clone: git fetch --unshallow" if is_shallow else ""
        raise ConfigurationError(
            f"gate: git knows no commit '{reference}' in {root.resolve().name}\n"
            f"    commits: git log --oneline{more}; without one: actor-envs gate"
        )
    return _checked(done, question).decode().strip()


def _files_of(root: Path, commit: str) -> frozenset[str]:
    """The files that a commit has in the project's folder; a submodule is none."""
    entries = _text(_said(root, "ls-tree", "-r", "-z", commit)).split("\0")
    return frozenset(path for kind, _, path in (entry.partition("\t") for entry in entries) if " blob " in kind)


def _text(names: bytes) -> str:
    return names.decode(errors="surrogateescape")


def _said(root: Path, *arguments: str) -> bytes:
    return _checked(_git(root, arguments), arguments)


def _checked(done: subprocess.CompletedProcess[bytes], arguments: Sequence[str]) -> bytes:
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").strip() or f"it ended with {done.returncode}"
        raise ConfigurationError(
            f"gate: git {arguments[0]} fails, so nobody knows what has changed: {reason}\n"
            "    do what git says (git fsck looks for damage), or prove everything: actor-envs gate"
        )
    return done.stdout


def _git(root: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    # What a hook sets would make git look into another repository.
    environment = {name: value for name, value in os.environ.items() if name not in GIT_VARIABLES_OF_HOOKS}
    try:
        return subprocess.run(["git", "-C", str(root), *arguments], env=environment, capture_output=True, check=False)
    except FileNotFoundError:
        raise ConfigurationError("gate: --since needs git, which is not installed") from None


def changed_entries(before: Project, after: Project) -> frozenset[str]:
    """The names of the entries that are new or say something else."""
    known = {entry.meaning for entry in _entries(before)}
    return frozenset(entry.name for entry in _entries(after) if entry.meaning not in known)


def _entries(project: Project) -> tuple[Entry, ...]:
    """The table's entries, none where there was no leaf yet."""
    return project.table.entries if project.tree.exists(project.config.leaf) else ()


def differ_in_entries_only(before: Project, after: Project) -> bool:
    """Whether the leaf is the same outside its table's entries; a leaf without entries is like no other."""
    around = _around(after)
    return around is not None and _around(before) == around


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
