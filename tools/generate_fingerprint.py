"""Writes the fingerprint of what a container image was built from, as JSON; a script that needs no package.

Keys: the files of COVERED_FILES (md5 of their bytes) and `submodules/PATH` for each path of `.gitmodules` (a hash of
the files that are there). A value is `missing` where there is nothing. Values depend on content alone, never on git's
state, so that a checkout and a copy of it without `.git` agree. Valid for Python 3.8.
"""

from __future__ import annotations

import argparse
import configparser
import hashlib
import json
import os
import pathlib
import sys
import tempfile

LEAF = "nemo_rl/distributed/actor_environments.py"
COVERED_FILES = ("pyproject.toml", "uv.lock", LEAF)
MISSING = "missing"
IGNORED_FOLDERS = frozenset({"__pycache__", ".venv", ".pytest_cache", ".mypy_cache", ".ruff_cache"})


def file_value(path: pathlib.Path) -> str:
    """The md5 of a file's bytes in hexadecimal, or `missing`."""
    if not path.is_file():
        return MISSING
    return hashlib.md5(path.read_bytes()).hexdigest()


def submodule_paths(root: pathlib.Path) -> list[str]:
    """The paths that `.gitmodules` names, sorted; none where there is no such file.

    Raises `configparser.Error` for a file that is no git configuration.
    """
    parser = configparser.RawConfigParser(strict=False)
    parser.read(str(root / ".gitmodules"), encoding="utf-8")
    return sorted(parser.get(section, "path") for section in parser.sections() if parser.has_option(section, "path"))


def folder_value(folder: pathlib.Path) -> str:
    """A hash of the paths, kinds and bytes of all files below a folder, or `missing` where there is none.

    `.git` and caches are left out; a symbolic link counts by its target's name.
    """
    digest = hashlib.md5()
    count = 0
    for path in sorted(files_below(folder), key=lambda path: path.relative_to(folder).as_posix()):
        name = path.relative_to(folder).as_posix().encode("utf-8", "surrogateescape")
        linked = path.is_symlink()
        content = os.fsencode(os.readlink(str(path))) if linked else path.read_bytes()
        for part in (name, b"link" if linked else b"file", content):
            digest.update(b"%d:" % len(part) + part)
        count += 1
    return digest.hexdigest() if count else MISSING


def files_below(folder: pathlib.Path) -> list[pathlib.Path]:
    """All files and links below a folder, in any order, without git's own and without caches."""
    found = []
    for above, folders, names in os.walk(str(folder)):
        linked = [name for name in folders if os.path.islink(os.path.join(above, name))]
        folders[:] = [name for name in folders if name not in IGNORED_FOLDERS and name != ".git" and name not in linked]
        found.extend(pathlib.Path(above, name) for name in names + linked if name != ".git" and not name.endswith(".pyc"))
    return found


def fingerprint(root: pathlib.Path) -> dict[str, str]:
    """Key -> value of the project in folder `root`."""
    values = {path: file_value(root / path) for path in COVERED_FILES}
    values.update({"submodules/" + path: folder_value(root / path) for path in submodule_paths(root)})
    return values


def fingerprint_text(root: pathlib.Path) -> str:
    """The fingerprint as JSON with sorted keys."""
    return json.dumps(fingerprint(root), indent=2, sort_keys=True) + "\n"


def write_aside(path: pathlib.Path, text: str) -> None:
    """Writes a file so that it is never seen half written. Raises OSError, and leaves what was there."""
    handle, name = tempfile.mkstemp(dir=str(path.parent), prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, str(path))
    except BaseException:
        os.unlink(name)
        raise


def main(argv: list[str]) -> int:
    """Prints the fingerprint, or writes it to `--output`. Exit status: 0 done, 1 it cannot be made or written."""
    parser = argparse.ArgumentParser(prog="generate_fingerprint.py", description="Fingerprint of a container image.")
    parser.add_argument("--output", type=pathlib.Path, help="file to write, aside and then moved into place")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    arguments = parser.parse_args(argv)
    try:
        text = fingerprint_text(arguments.root)
        if arguments.output is None:
            sys.stdout.write(text)
        else:
            write_aside(arguments.output, text)
    except (OSError, configparser.Error) as error:
        sys.stderr.write("generate_fingerprint.py: " + str(error) + "\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
