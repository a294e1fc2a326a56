"""What a command line says about extras."""

from __future__ import annotations

import shlex


def split_command(command: str) -> tuple[tuple[str, ...], list[str]]:
    """The extras of `--extra NAME` and `--extra=NAME`, and the other words. Raises ValueError for an open quotation."""
    flags: list[str] = []
    rest: list[str] = []
    words = iter(shlex.split(command))
    for word in words:
        if word == "--extra":
            flags.append(next(words, ""))
        elif word.startswith("--extra="):
            flags.append(word.removeprefix("--extra="))
        else:
            rest.append(word)
    return tuple(flags), rest
