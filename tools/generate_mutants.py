"""What `mutmut run` does first, by itself: the mutants of the project in the folder that this is started in.

mutmut takes a file whose mutated copy is newer for one whose mutants are made: also a copy that it had only begun when it
was ended, and one of a file that was not to be mutated then. Mutants of such files are made anew. What is no longer
mutated loses its record, which mutmut would keep.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from mutmut.__main__ import create_mutants
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.utils.file_utils import copy_also_copy_files, copy_src_dir, setup_source_paths, walk_mutatable_files

MUTANTS = Path("mutants")


def main() -> None:
    """Ends with an error that names the files, where some that should have mutants have no record of them."""
    set_mutant_under_test("mutant_generation")
    MUTANTS.mkdir(exist_ok=True)
    mutated = list(walk_mutatable_files())
    for path in mutated:
        copy, record, spans = _made_of(path)
        if not _is_whole(copy, record, spans):
            for file in (copy, record, spans):
                file.unlink(missing_ok=True)
    copy_src_dir()
    copy_also_copy_files()
    setup_source_paths()
    create_mutants(os.cpu_count() or 1)
    for record in MUTANTS.rglob("*.meta"):
        if record.relative_to(MUTANTS).with_suffix("") not in mutated:
            record.unlink()
    _check(mutated)


def _made_of(path: Path) -> tuple[Path, Path, Path]:
    """What mutmut makes of a file: its mutated copy, the record of its mutants, and last where each of them stands."""
    return MUTANTS / path, MUTANTS / f"{path}.meta", MUTANTS / f"{path}.spans"


def _is_whole(copy: Path, record: Path, spans: Path) -> bool:
    try:
        json.loads(record.read_bytes())
        json.loads(spans.read_bytes())
        return copy.stat().st_mtime_ns <= spans.stat().st_mtime_ns
    except (OSError, ValueError):
        return False


def _check(mutated: Iterable[Path]) -> None:
    missing = [str(path) for path in mutated if not _is_whole(*_made_of(path))]
    if missing:
        raise SystemExit(f"there are no mutants of {', '.join(missing)}")


if __name__ == "__main__":
    main()
