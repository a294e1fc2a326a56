"""Files that one run leaves for the next."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_into_place(file: Path, text: str) -> None:
    """Writes a text aside and moves it into place, so that nobody reads half of it. Raises OSError, leaving nothing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    number, aside = tempfile.mkstemp(dir=file.parent, suffix=file.suffix)
    try:
        with open(number, "wb") as opened:
            opened.write(text.encode())
        os.replace(aside, file)
    except BaseException:
        os.unlink(aside)
        raise
