"""Which top-level modules the standard library has, by version of Python.

`sys.stdlib_module_names` lists those of the running version. What was added or removed since 3.8 is written down
here, from "What's New in Python" 3.9 to 3.14 and PEP 594.
"""

from __future__ import annotations

import sys
from functools import cache

NEWEST_KNOWN = (3, 14)
NEVER = (4, 0)

ADDED = {"graphlib": (3, 9), "zoneinfo": (3, 9), "tomllib": (3, 11), "annotationlib": (3, 14), "compression": (3, 14)}

REMOVED = {
    **dict.fromkeys(("_bootlocale", "dummy_threading", "_dummy_thread", "_dummy_threading"), (3, 9)),
    **dict.fromkeys(("formatter", "macpath", "parser", "symbol"), (3, 10)),
    **dict.fromkeys(("binhex",), (3, 11)),
    **dict.fromkeys(("asynchat", "asyncore", "distutils", "imp", "smtpd"), (3, 12)),
    **dict.fromkeys(
        (
            "aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3", "mailcap", "msilib", "nis",
            "nntplib", "ossaudiodev", "pipes", "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib",
        ),
        (3, 13),
    ),
}  # fmt: skip


def ever_in_standard_library(name: str) -> bool:
    """Whether some Python from 3.8 on has a top-level module of that name."""
    return name in sys.stdlib_module_names or name in ADDED or name in REMOVED


def missing_versions(name: str, oldest: tuple[int, int], newest: tuple[int, int]) -> list[tuple[int, int]]:
    """The versions 3.x from `oldest` to `newest`, both included, whose standard library lacks the module."""
    versions = [(3, minor) for minor in range(oldest[1], newest[1] + 1)]
    if not ever_in_standard_library(name):
        return versions
    return [
        version for version in versions if version < ADDED.get(name, version) or version >= REMOVED.get(name, NEVER)
    ]


def in_standard_library(dotted: str, version: tuple[int, int]) -> bool:
    """Whether the standard library of one version has the module, or the top-level module above it."""
    return _has_top_level(dotted.partition(".")[0], version)


@cache
def _has_top_level(name: str, version: tuple[int, int]) -> bool:
    return name == "__future__" or not missing_versions(name, version, version)
