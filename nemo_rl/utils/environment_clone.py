"""Make an environment from an equal one beside it: a hard link for each file, and no start of a program.

Third-party packages and the project are cloned in two steps, so that a clone gets the two stamps that a build gets. The
few files that hold the path of their environment (scripts in ``bin``, and the ``RECORD`` of the distributions that those
belong to) are written anew, and so are those at the top of an environment. Whoever calls this makes sure that the
environment is whole, that nobody changes it meanwhile, and that nothing has been changed since it was built.
"""

import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import stat
from collections.abc import Collection

from nemo_rl.utils.environment_stamp import STAMP_NAME

PACKAGES = "lib/python3*/site-packages"
"""Where an environment's packages are, as a pattern below its folder."""

PLAIN_PATH = re.compile(r"[A-Za-z0-9_@+,./-]+")
"""Paths that all scripts in ``bin`` hold as they are. What else there is each shell quotes in its own way."""

LONGEST_FIRST_LINE = 127
"""Bytes of a script's first line that every kernel reads, its end included. For a longer one uv lets a shell start the
interpreter, by lines that Python reads as a string."""


class CannotCloneError(Exception):
    """An environment is not of the kind that can be cloned; the message says why."""


def first_lines(interpreter: str) -> str:
    """How a script begins that an interpreter at this path runs."""
    line = f"#!{interpreter}\n"
    if len(line.encode()) <= LONGEST_FIRST_LINE:
        return line
    return f"#!/bin/sh\n'''exec' '{interpreter}' \"$0\" \"$@\"\n' '''\n"


def packages_folder(environment: str) -> str:
    """The ``site-packages`` of an environment. Raises :class:`CannotCloneError` where there is not exactly one."""
    found = [str(path) for path in pathlib.Path(environment).glob(PACKAGES)]
    if len(found) != 1:
        raise CannotCloneError(f"{environment} has {len(found)} folders site-packages")
    return found[0]


def metadata_folders(packages: str, project: str) -> list[str]:
    """The ``.dist-info`` folders of a distribution, whatever the spelling of its name, in a ``site-packages``."""
    normalized = re.sub(r"[-_.]+", "_", project).lower()
    return sorted(
        entry.path
        for entry in os.scandir(packages)
        if entry.name.endswith(".dist-info") and entry.name.lower().startswith(f"{normalized}-")
    )


def hash_in_record(content: bytes) -> str:
    """The hash of a file's content as a ``RECORD`` has it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def rows_of(record: str) -> list[list[str]]:
    """The rows of a ``RECORD``: path relative to ``site-packages``, hash, size."""
    return list(csv.reader(io.StringIO(pathlib.Path(record).read_bytes().decode(), newline="")))


class Clone:
    """One environment that becomes another one.

    Attributes:
        source: absolute path, without symbolic links, of the environment that is there.
        target: the same of the one that is made.
        project: name of the distribution that is the project itself.
    """

    def __init__(self, source: str, target: str, project: str) -> None:
        """Raises :class:`CannotCloneError`."""
        for folder in (source, target):
            if not PLAIN_PATH.fullmatch(folder):
                raise CannotCloneError(f"{folder} has letters that scripts hold in a form of their own")
        self.source = source
        self.target = target
        self.packages = packages_folder(source)
        found = metadata_folders(self.packages, project)
        if len(found) != 1:
            raise CannotCloneError(f"{source} has {len(found)} distributions {project}")
        (self.metadata,) = found
        # Followed by what cannot go on the name of a folder, so that the path of a neighbour is none of it.
        self._own_path = re.compile(re.escape(source.encode()) + rb"(?![A-Za-z0-9_@+,.-])")

    def counterpart(self, path: str) -> str:
        """Where a file of the source belongs in the target."""
        return self.target + path.removeprefix(self.source)

    def with_target(self, content: bytes) -> bytes:
        """The content of a file with the path of the target instead of that of the source."""
        for interpreter in (f"{self.source}/bin/python", f"{self.source}/bin/python3"):
            if content.startswith(first_lines(interpreter).encode()):
                rest = content[len(first_lines(interpreter).encode()) :]
                return first_lines(self.counterpart(interpreter)).encode() + self.with_target(rest)
        return self._own_path.sub(lambda _: self.target.encode(), content)

    def packages_cloned(self) -> None:
        """Make the target of everything but the project. Raises ``OSError`` and :class:`CannotCloneError`."""
        os.makedirs(self.target)
        left_out = {*self.project_files(), os.path.join(self.source, STAMP_NAME)}
        scripts: dict[str, bytes] = {}
        for entry in os.scandir(self.source):
            if entry.path in left_out:
                continue
            if entry.name == "bin" and entry.is_dir(follow_symlinks=False):
                os.mkdir(self.counterpart(entry.path))
                for script in os.scandir(entry.path):
                    if script.path not in left_out:
                        self.script_cloned(script.path, scripts)
            elif entry.is_dir(follow_symlinks=False):
                self.folder_cloned(entry.path, left_out)
            elif entry.is_symlink():
                self.link_cloned(entry.path)
            else:
                self.written(entry.path, pathlib.Path(entry.path).read_bytes())
        if scripts:
            for entry in os.scandir(self.packages):
                record = os.path.join(entry.path, "RECORD")
                if entry.name.endswith(".dist-info") and entry.path != self.metadata and os.path.exists(record):
                    self.record_corrected(record, scripts)

    def project_cloned(self) -> None:
        """Add the project to the target, which has everything else; its metadata last.

        Raises ``OSError`` and :class:`CannotCloneError`.
        """
        scripts: dict[str, bytes] = {}
        for path in sorted(self.project_files(), key=lambda path: path.startswith(f"{self.metadata}/")):
            os.makedirs(os.path.dirname(self.counterpart(path)), exist_ok=True)
            if os.path.dirname(path) == os.path.join(self.source, "bin"):
                self.script_cloned(path, scripts)
            else:
                os.link(path, self.counterpart(path))
        self.record_corrected(os.path.join(self.metadata, "RECORD"), scripts)

    def project_files(self) -> list[str]:
        """The files of the project in the source. Raises :class:`CannotCloneError` where one is elsewhere."""
        rows = rows_of(os.path.join(self.metadata, "RECORD"))
        files = [os.path.normpath(os.path.join(self.packages, row[0])) for row in rows]
        for file in files:
            if not file.startswith(f"{self.source}/"):
                raise CannotCloneError(f"{file} is outside of {self.source}")
        return files

    def folder_cloned(self, folder: str, left_out: Collection[str]) -> None:
        """Link all files of a folder of the source, those of its folders included; no folder is made for nothing."""
        files = []
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                self.folder_cloned(entry.path, left_out)
            elif entry.path not in left_out:
                files.append(entry)
        if files:
            os.makedirs(self.counterpart(folder), exist_ok=True)
        for entry in files:
            if entry.is_symlink():
                self.link_cloned(entry.path)
            else:
                os.link(entry.path, self.counterpart(entry.path))

    def link_cloned(self, path: str) -> None:
        """Make the same symbolic link in the target."""
        os.symlink(os.fsdecode(self.with_target(os.fsencode(os.readlink(path)))), self.counterpart(path))

    def script_cloned(self, path: str, scripts: dict[str, bytes]) -> None:
        """Clone a file of ``bin``; one that holds the path is written anew and added to ``scripts``.

        What has several names is linked: it came from uv's cache, so it cannot know an environment.
        """
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            self.link_cloned(path)
            return
        content = pathlib.Path(path).read_bytes() if status.st_nlink == 1 else b""
        changed = self.with_target(content)
        if changed == content:
            os.link(path, self.counterpart(path))
        else:
            self.written(path, changed)
            scripts[path] = changed

    def written(self, path: str, content: bytes) -> None:
        """Write the counterpart of a file, which does not exist yet, with the same mode."""
        counterpart = self.counterpart(path)
        with open(counterpart, "xb") as file:
            file.write(content)
        os.chmod(counterpart, stat.S_IMODE(os.stat(path).st_mode))

    def record_corrected(self, record: str, scripts: dict[str, bytes]) -> None:
        """Give the target a ``RECORD`` of its own where that of the source has scripts which were written anew."""
        rows = rows_of(record)
        changed = False
        for row in rows:
            content = scripts.get(os.path.normpath(os.path.join(self.packages, row[0])))
            if content is not None:
                row[1:] = [hash_in_record(content), str(len(content))]
                changed = True
        if changed:
            text = io.StringIO(newline="")
            csv.writer(text, lineterminator="\n").writerows(rows)
            os.unlink(self.counterpart(record))
            self.written(record, text.getvalue().encode())
