"""Reads the verdicts that mutmut left in `mutants/` and fails unless every mutant was killed by a failing test.

`mutmut run` exits 0 with survivors. The verdicts stand in a JSON file beside each mutated file, `exit_code_by_key`:
pytest's exit status for each mutant, where 1 is a failed test.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

KILLED = 1
WORDS = {
    None: "not run", 0: "survived", 1: "killed", 2: "pytest was interrupted", 3: "pytest crashed", 4: "no test found",
    5: "no tests", 33: "no tests cover it", 34: "skipped", 35: "suspicious", 36: "timed out", 24: "timed out",
}  # fmt: skip


def verdicts(folder: Path) -> dict[str, int | None]:
    """Mutant -> exit status, of every `.meta` file below a folder."""
    found: dict[str, int | None] = {}
    for path in sorted(folder.rglob("*.meta")):
        found.update(json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"])
    return found


def main(argv: list[str]) -> int:
    """Prints totals and each mutant that was not killed. Exit status: 0 all killed, 1 one was not, 5 no verdict."""
    found = verdicts(Path(argv[0]))
    if not found:
        print("there are no verdicts, so nothing is proven: run mutmut first", file=sys.stderr)
        return 5
    for mutant, status in sorted(found.items()):
        if status != KILLED:
            print(f"{mutant}: {WORDS.get(status, f'exit status {status}')}")
    totals = Counter(WORDS.get(status, f"exit status {status}") for status in found.values())
    print(f"{len(found)} mutants: {', '.join(f'{count} {word}' for word, count in totals.most_common())}")
    return 0 if set(found.values()) == {KILLED} else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
