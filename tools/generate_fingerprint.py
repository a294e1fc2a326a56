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
PATH = "path"
QUOTE = '"'

PROJECT_ROOT = pathlib.Path(__file__).resolve().parents[1]
SCRIPT = "generate_fingerprint.py"
PURPOSE = "Prints what the environments of a container image are built from, as JSON."
OUTPUT_HELP = "write to this file instead, aside and then moved into place"
ROOT_HELP = "folder of the project (default: the one that this script is in)"

IGNORED = frozenset({".git", "__pycache__", ".venv", ".pytest_cache", ".mypy_cache", ".ruff_cache"})


def file_value(path: pathlib.Path) -> str:
    """The md5 of a file's bytes in hexadecimal, or `missing`."""
    if not path.is_file():
        return MISSING
    return hashlib.md5(path.read_bytes()).hexdigest()


def submodule_paths(root: pathlib.Path) -> list[str]:
    """The paths that `.gitmodules` names, sorted; none where there is no such file.

    Raises `configparser.Error` for a file that is no git configuration, OSError for one that cannot be read.
    """
    modules = root / ".gitmodules"
    if not modules.is_file():
        return []
    parser = configparser.RawConfigParser(allow_no_value=True)
    parser.read_string(modules.read_bytes().decode())
    return sorted(parser.get(name, PATH).strip(QUOTE) for name in parser.sections() if parser.has_option(name, PATH))


def refuse(error: OSError) -> None:
    """Raises the error that a walk met, which would else leave the folder out silently."""
    raise error


def files_below(folder: pathlib.Path) -> list[pathlib.Path]:
    """All files and links below a folder, in any order, without git's own and without caches.

    Raises OSError for a folder that cannot be listed.
    """
    found = []  # type: list[pathlib.Path]
    for above, folders, names in os.walk(str(folder), onerror=refuse):
        linked = [name for name in folders if os.path.islink(os.path.join(above, name))]
        folders[:] = sorted(set(folders) - IGNORED.union(linked))
        kept = sorted(set(names + linked) - IGNORED)
        found.extend(pathlib.Path(above, name) for name in kept if not name.endswith(".pyc"))
    return found


def folder_value(folder: pathlib.Path) -> str:
    """A hash of the paths, kinds and bytes of all files below a folder, or `missing` where there is none.

    `.git` and caches are left out; a symbolic link counts by its target's name. Raises OSError for what cannot be read.
    """
    if not folder.is_dir():
        return MISSING
    entries = sorted((os.fsencode(path.relative_to(folder)), path) for path in files_below(folder))
    digest = hashlib.md5()
    for name, path in entries:
        linked = path.is_symlink()
        content = os.fsencode(os.readlink(str(path))) if linked else path.read_bytes()
        for part in (name, b"link" if linked else b"file", content):
            digest.update(b"%d:%b" % (len(part), part))
    return digest.hexdigest() if entries else MISSING


def fingerprint(root: pathlib.Path) -> dict[str, str]:
    """Key -> value of the project in folder `root`.

    Raises OSError for what cannot be read, NotADirectoryError where there is no such folder, and `configparser.Error`
    or UnicodeDecodeError for a broken `.gitmodules`.
    """
    if not root.is_dir():
        raise NotADirectoryError("there is no folder " + str(root))
    values = {path: file_value(root / path) for path in COVERED_FILES}
    values.update({"submodules/" + path: folder_value(root / path) for path in submodule_paths(root)})
    return values


def fingerprint_text(root: pathlib.Path) -> str:
    """The fingerprint as JSON with sorted keys."""
    return json.dumps(fingerprint(root), indent=2, sort_keys=True) + "\n"


def write_aside(path: pathlib.Path, text: str) -> None:
    """Writes a file so that it is never seen half written. Raises OSError, and leaves what was there."""
    handle, name = tempfile.mkstemp(dir=str(path.parent))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
        os.chmod(name, 0o644)
        os.replace(name, str(path))
    except BaseException:
        os.unlink(name)
        raise


def command_line() -> argparse.ArgumentParser:
    """The script's options."""
    parser = argparse.ArgumentParser(prog=SCRIPT, description=PURPOSE)
    parser.add_argument("--output", metavar="FILE", type=pathlib.Path, help=OUTPUT_HELP)
    parser.add_argument("--root", metavar="FOLDER", type=pathlib.Path, default=PROJECT_ROOT, help=ROOT_HELP)
    return parser


def main(argv: list[str]) -> int:
    """Prints the fingerprint, or writes it to `--output`.

    Returns the exit code: 0 done, 1 the fingerprint cannot be made or written, the reason is on stderr. Raises
    SystemExit (2) for a wrong argument.
    """
    arguments = command_line().parse_args(argv)
    try:
        text = fingerprint_text(arguments.root)
        if arguments.output is None:
            sys.stdout.write(text)
        else:
            write_aside(arguments.output, text)
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        sys.stderr.write(SCRIPT + ": " + str(error) + "\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
