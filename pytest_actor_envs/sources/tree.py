"""The one way to a guarded project's files: a folder, an overlay in memory above it, or the overlay alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from pytest_actor_envs.model import ConfigurationError
from pytest_actor_envs.sources.answers import Answers, Read

Reduced = TypeVar("Reduced")
Reducers = dict[str, dict[str, Callable[[bytes], object]]]

SKIPPED_FOLDERS = frozenset({"__pycache__", "mutants", "node_modules", "build", "dist"})


MUTANT = "MUTANT_UNDER_TEST"
"""The variable by which mutmut says that it runs the code in its copy."""


def original_root(root: Path, environment: Mapping[str, str]) -> Path:
    """The folder whose sources are judged: `root`, or its parent where `root` is mutmut's copy `mutants/`.

    mutmut injects an import into each file that it mutates, so what the files say is read from the originals,
    while `environment[MUTANT]` tells that the code which runs is the copy.
    """
    if root.name == "mutants" and MUTANT in environment:
        return root.parent
    return root


class Tree:
    """Reads files by their path relative to the root, `/`-separated; an overlay hides or replaces files.

    `root` is `None` for a project that exists in memory only. `overlay` maps a path to text, or to `None` for a
    file that is gone. A tree never writes. `answers` are what is known about this state of the files.
    """

    def __init__(
        self, root: Path | None, overlay: Mapping[str, str | None] | None = None, answers: Answers | None = None
    ) -> None:
        self.root = root
        self._prefix = f"{root}{os.sep}"
        self.overlay: Mapping[str, str | None] = dict(overlay or {})
        self._bytes: dict[str, bytes | None] = {}
        self._listings: dict[str, tuple[str, ...]] = {}
        self._reducers: Reducers = {}
        self.answers = answers or Answers()

    def with_overlay(self, files: Mapping[str, str | None]) -> Tree:
        """A tree with `files` above this one; what was read is shared, and answers that the change does not touch."""
        tree = Tree(self.root, {**self.overlay, **files})
        tree._bytes, tree._listings, tree._reducers = self._bytes, self._listings, self._reducers
        changed = {read for path in files for read in self._changes(path, self._read(path), tree._read(path))}
        tree.answers = Answers(self.answers, frozenset(changed))
        return tree

    def _changes(self, path: str, before: bytes | None, after: bytes | None) -> Iterator[Read]:
        if before == after:
            return
        yield ("bytes", path)
        if before is None or after is None:
            yield ("exists", path)
            yield ("files",)
        for kind, reduce in self._reducers.get(path, {}).items():
            if before is None or after is None or reduce(before) != reduce(after):
                yield (kind, path)

    def reduced(self, kind: str, path: str, reduce: Callable[[bytes], Reduced]) -> Reduced:
        """`reduce` of a file's bytes. Who asks depends on what it gives, no longer on the bytes.

        `reduce` is pure, cheap for bytes that it was given before, and the same for each `kind` and path.
        Raises FileNotFoundError.
        """
        content = self._read(path)
        if content is None:
            self.answers.note(("exists", path))
            raise FileNotFoundError(path)
        self._reducers.setdefault(path, {}).setdefault(kind, reduce)
        self.answers.note((kind, path))
        return reduce(content)

    def _read(self, path: str) -> bytes | None:
        if path in self.overlay:
            text = self.overlay[path]
            return None if text is None else text.encode()
        if self.root is None:
            return None
        if path not in self._bytes:
            try:
                with open(f"{self._prefix}{path}", "rb") as file:
                    self._bytes[path] = file.read()
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                self._bytes[path] = None
            except PermissionError:
                raise _unreadable(path, "file") from None
        return self._bytes[path]

    def exists(self, path: str) -> bool:
        """Whether `path` is a file."""
        self.answers.note(("exists", path))
        return self._read(path) is not None

    def read_bytes(self, path: str) -> bytes:
        """The file's bytes. Raises FileNotFoundError."""
        self.answers.note(("bytes", path))
        content = self._read(path)
        if content is None:
            raise FileNotFoundError(path)
        return content

    def unnoted_bytes(self, path: str) -> bytes:
        """`read_bytes` for who depends on something `reduced` from them only."""
        content = self._read(path)
        if content is None:
            raise FileNotFoundError(path)
        return content

    def read_text(self, path: str) -> str:
        """The file's text, UTF-8. Raises FileNotFoundError, UnicodeDecodeError."""
        return self.read_bytes(path).decode()

    def seen(self) -> tuple[list[str], list[str]]:
        """The files that were asked for, there or not, and the folders that were listed, as `files` takes them."""
        return sorted(self._bytes), sorted(self._listings)

    def is_folder(self, path: str) -> bool:
        """Whether some file lies below `path`."""
        prefix = f"{path.strip('/')}/"
        on_disk = any(self.overlay.get(file, "") is not None for file in self._listing(prefix))
        return on_disk or any(text is not None and file.startswith(prefix) for file, text in self.overlay.items())

    def siblings(self, folder: str) -> set[str]:
        """Paths of the files directly in `folder`, and of its folders that hold Python files."""
        prefix = f"{folder}/" if folder else ""
        found = set()
        for path in self.files(folder):
            first, slash, _ = path.removeprefix(prefix).partition("/")
            if not slash or path.endswith(".py"):
                found.add(prefix + first)
        return found

    def files(self, folder: str = "", suffix: str = "") -> Iterator[str]:
        """Paths of all files below `folder` that end with `suffix`, sorted within each folder.

        Hidden folders and those that hold no sources (`__pycache__`, `mutants`, ...) are left out.
        """
        prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""
        seen = {
            path for path in self._listing(prefix) if path.endswith(suffix) and self.overlay.get(path, "") is not None
        }
        seen.update(
            path
            for path, text in self.overlay.items()
            if text is not None and path.startswith(prefix) and path.endswith(suffix)
        )
        return iter(sorted(seen))

    def _listing(self, prefix: str) -> tuple[str, ...]:
        """The files on disk below a folder, which ends with `/` or is empty for the root; walked once."""
        self.answers.note(("files",))
        if self.root is None:
            return ()
        if prefix not in self._listings:
            self._listings[prefix] = tuple(_walk(self.root / prefix, prefix, os.path.realpath(self.root)))
        return self._listings[prefix]


def _walk(folder: Path, prefix: str, root: str, ways: tuple[str, ...] = ()) -> Iterator[str]:
    """The files below a folder, not those of hidden folders nor of environments.

    A link to a folder is followed within the project at `root`, unless it leads back: to where it lies, or to one of
    `ways`, the folders in which links were followed to come here. A link to no file is none, as the locks are that some
    editors leave beside a file, nor is what is no regular file, such as a pipe.
    """
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    except PermissionError:
        raise _unreadable(prefix.rstrip("/") or ".", "folder") from None
    for entry in entries:
        if entry.is_dir():
            if entry.name.startswith(".") or entry.name in SKIPPED_FOLDERS:
                continue
            taken = ways
            if entry.is_symlink():
                target, taken = os.path.realpath(entry.path), (*ways, os.path.realpath(folder))
                if not _is_below(target, root) or any(_is_below(way, target) for way in taken):
                    continue
            yield from _walk(Path(entry.path), f"{prefix}{entry.name}/", root, taken)
        elif entry.is_file():
            yield f"{prefix}{entry.name}"


def _unreadable(path: str, what: str) -> ConfigurationError:
    return ConfigurationError(
        f"{path}:1:1: configuration: this {what} may not be read\n    let it be read, or take it out of the project"
    )


def _is_below(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder
