"""The options of `make gate-full`, checked before any work is done."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_actor_envs.gate.kill_recorder import EVERY_KILLER
from pytest_actor_envs.model import ConfigurationError
from pytest_actor_envs.report_file import check_can_be_written
from tools.kept_state import Asking

REPORT = "--report"


@dataclass(frozen=True, slots=True)
class Options:
    """Patterns of names (none: all), how many are drawn (`None`: all) with which seed, how each is asked.

    `report` is the file for the JSON, if one is wanted, and `folder` where what is found stays.
    """

    names: tuple[str, ...]
    sample: int | None
    seed: int
    asking: Asking
    report: Path | None
    folder: Path


def read_options(argv: Sequence[str], root: Path) -> Options:
    """The options of a run over the project at `root`. Raises SystemExit (2), where they cannot be, with what to do."""
    parser = argparse.ArgumentParser(description="Code mutants of everything that decides, without a limit of time.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only the mutants with this name, or pattern")
    parser.add_argument("--sample", type=int, metavar="N", help="only so many, drawn over all files in proportion")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which ones are drawn (default: 1)")
    parser.add_argument("--every-killer", action="store_true", help="ask all tests of a mutant, also once it is dead")
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=20.0,
        metavar="S",
        help="processor time for the tests of one mutant; one that lives then has survived (default: 20)",
    )
    parser.add_argument(REPORT, type=_report, metavar="FILE", help="write all reports as JSON, once a minute")
    parser.add_argument(
        "--folder", type=Path, default=root / ".gate-full", metavar="PATH", help="where what is found stays"
    )
    found = parser.parse_args(argv)
    every_killer = found.every_killer or os.environ.get(EVERY_KILLER) == "1"
    return Options(
        tuple(found.names),
        found.sample,
        found.seed,
        Asking(found.seconds, every_killer),
        found.report,
        found.folder.resolve(),
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is no time: seconds, more than 0")
    return seconds


def _report(text: str) -> Path:
    try:
        check_can_be_written(Path(text), REPORT)
    except ConfigurationError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return Path(text)
