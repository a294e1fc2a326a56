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
IGNORED_ENDINGS = (".pyc", ".egg-info")


def file_value(path: pathlib.Path) -> str:
    """The md5 of a file's bytes in hexadecimal, or `missing`."""
    if not path.is_file():
        return MISSING
    return hashlib.md5(path.read_bytes()).hexdigest()


def submodule_paths(root: pathlib.Path) -> list[str]:
    """The paths that `.gitmodules` names, sorted; none where there is no such file.

    Raises `configparser.Error` for a file that is no git configuration or has a path without a value, OSError for one
    that cannot be read.
    """
    modules = root / ".gitmodules"
    if not modules.is_file():
        return []
    text = modules.read_bytes().decode()
    parser = configparser.RawConfigParser(allow_no_value=True)
    # Git gives indentation no meaning; the parser would take a line that is indented more for the end of the last.
    parser.read_string("\n".join(line.strip() for line in text.splitlines()), str(modules))
    given = [parser.get(name, PATH) for name in parser.sections() if parser.has_option(name, PATH)]
    paths = sorted((path or "").strip(QUOTE) for path in given)
    if "" in paths:
        place = f"{modules}:{line_of_empty_path(text)}"
        raise configparser.Error(f"{place}: the path of a submodule has no value: write `path = FOLDER`")
    return paths


def line_of_empty_path(text: str) -> int:
    """Number of the line, from 1, on which `.gitmodules` of this text has a path without a value; 0 for no line."""
    for number, line in enumerate(text.splitlines(), 1):
        key, _, value = line.partition("=")
        if key.strip().lower() == PATH and not value.strip().strip(QUOTE):
            return number
    return 0


def refuse(error: OSError) -> None:
    """Raises the error that a walk met, which would else leave the folder out silently."""
    raise error


def files_below(folder: pathlib.Path) -> list[pathlib.Path]:
    """All files and links below a folder, in any order, without git's own, caches and what an installation leaves.

    Pipes, sockets and devices, which git does not keep either, are left out. Raises OSError for a folder that cannot be
    listed.
    """
    found = []  # type: list[pathlib.Path]
    for above, folders, names in os.walk(str(folder), onerror=refuse):
        linked = [name for name in folders if os.path.islink(os.path.join(above, name))]
        folders[:] = [name for name in folders if is_kept(name) and name not in linked]
        paths = [pathlib.Path(above, name) for name in names + linked if is_kept(name)]
        found.extend(path for path in paths if path.is_symlink() or path.is_file())
    return found


def is_kept(name: str) -> bool:
    """Whether a file or folder of this name is content, neither git's own nor written by Python and its tools."""
    return name not in IGNORED and not name.endswith(IGNORED_ENDINGS)


def folder_value(folder: pathlib.Path) -> str:
    """A hash of the paths, kinds and bytes of all files below a folder, or `missing` where there is none.

    Left out is what `is_kept` says; a symbolic link counts by its target's name. Raises OSError for what cannot be read.
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


def write_output(path: pathlib.Path, text: str) -> None:
    """Writes a file so that it is never seen half written; a device or pipe, which cannot be replaced, directly.

    A symbolic link stays one: the file that it names is written. Raises OSError, and leaves what was there.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(text.encode())
        return
    target = os.path.realpath(str(path))
    handle, name = tempfile.mkstemp(dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
        os.chmod(name, 0o644)
        os.replace(name, target)
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
            write_output(arguments.output, text)
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        sys.stderr.write(SCRIPT + ": " + str(error) + "\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
