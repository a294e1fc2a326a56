"""What a command line says about extras."""

from __future__ import annotations

import re
import shlex

PLAIN = re.compile(r"[\w./=:@+ -]*", re.ASCII)
"""A line that a shell splits at spaces only; the shell's own rules take a hundred times as long."""


def split_command(command: str) -> tuple[tuple[str, ...], list[str]]:
    """The extras of `--extra NAME` and `--extra=NAME`, and the other words. Raises ValueError for an open quotation."""
    flags: list[str] = []
    rest: list[str] = []
    words = iter(command.split() if PLAIN.fullmatch(command) else shlex.split(command))  # pragma: no mutate: the same
    for word in words:
        if word == "--extra":
            flags.append(next(words, ""))
        elif word.startswith("--extra="):
            flags.append(word.removeprefix("--extra="))
        else:
            rest.append(word)
    return tuple(flags), rest
