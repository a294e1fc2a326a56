"""Reads what `mutmut run` left in `mutants/` and fails unless every mutant was killed by a named test.

`mutmut run` itself exits 0 with survivors, and takes an error in a set-up for a kill.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from pytest_actor_envs.gate.mutmut_results import read_results
from pytest_actor_envs.gate.verdicts import Fate


def main(argv: list[str]) -> int:
    """Prints totals and each mutant that was not killed. Exit status: 0 all killed, 1 one was not, 5 no verdict."""
    mutants = read_results(Path(argv[0])).mutants
    if not mutants:
        print("there are no verdicts, so nothing is proven: run mutmut first", file=sys.stderr)
        return 5
    for mutant in mutants:
        if mutant.fate is not Fate.KILLED:
            print(f"{mutant.name}: {mutant.fate.value}: {mutant.reason}")
    totals = Counter(mutant.fate.value for mutant in mutants)
    print(f"{len(mutants)} mutants: {', '.join(f'{count} {word}' for word, count in totals.most_common())}")
    return 0 if set(totals) == {Fate.KILLED.value} else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
