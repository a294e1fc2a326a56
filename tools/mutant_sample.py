"""A sample of the code mutants, in proportion over all files, and what its share of killed ones says about all."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from statistics import NormalDist

NORMAL_QUANTILE = NormalDist().inv_cdf(0.975)
"""z of a two-sided interval that holds with 95 %: 1.96."""


class SampleTooSmall(Exception):
    """A sample has fewer mutants than there are files; the argument says how many it needs."""


def drawn(mutants: Mapping[str, Sequence[str]], size: int, seed: int) -> dict[str, tuple[str, ...]]:
    """File -> names of `size` mutants drawn from {file: names of its mutants}: its share of all, at least one of each.

    The same seed draws the same from a file as long as the file's mutants, and how many are drawn there, are the same.
    A `size` that is more than there are draws all. Raises SampleTooSmall where `size` is less than the files with mutants.
    """
    names = {file: sorted(found) for file, found in sorted(mutants.items()) if found}
    counts = _counts({file: len(found) for file, found in names.items()}, size)
    return {file: tuple(sorted(random.Random(f"{seed} {file}").sample(names[file], counts[file]))) for file in names}


def _counts(sizes: Mapping[str, int], size: int) -> dict[str, int]:
    if size < len(sizes):
        raise SampleTooSmall(
            f"a sample of {size} cannot have one mutant of each of {len(sizes)} files\n    draw {len(sizes)} or more"
        )
    total = sum(sizes.values())
    if size >= total:
        return dict(sizes)
    counts = dict.fromkeys(sizes, 1)
    for _ in range(size - len(sizes)):
        open_files = [file for file in sizes if counts[file] < sizes[file]]
        missing = {file: sizes[file] * size / total - counts[file] for file in open_files}
        counts[max(missing, key=missing.__getitem__)] += 1
    return counts


def wilson_interval(killed: int, asked: int) -> tuple[float, float]:
    """The 95 % interval of a share, by the score method: E. B. Wilson, JASA 22 (1927), pages 209 to 212.

    With p = killed / asked, n = asked and z = 1.96: (p + z²/2n ± z √(p(1 - p)/n + z²/4n²)) / (1 + z²/n). Unlike the
    textbook's p ± z √(p(1 - p)/n) it stays within 0 and 1 and holds for shares near 1. (0, 1) where nothing was asked.
    """
    if asked == 0:
        return 0.0, 1.0
    share, square = killed / asked, NORMAL_QUANTILE**2
    middle = share + square / (2 * asked)
    reach = NORMAL_QUANTILE * math.sqrt(share * (1 - share) / asked + square / (4 * asked**2))
    scale = 1 + square / asked
    return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)
