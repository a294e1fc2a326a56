"""The gate without a limit of time: code mutants also of the environments, the launch, the plugin's readers and the gate.

`make gate-full`, or `python tools/gate_full.py ['package.module.*' ...]` for the mutants with these names. The whole
suite that runs in the process kills, each test of it, so that the kill matrix is complete. At least 95 % have to be
killed, and each survivor is listed with its diff and the tests that reach it: one of those has to look closer, or,
where there is none, one has to be written. `--report FILE` writes all reports as JSON.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pytest_actor_envs.gate.code_mutants import CodeMutantsResult, run_code_mutants
from pytest_actor_envs.gate.kill_recorder import EVERYTHING
from pytest_actor_envs.gate.mutmut_configuration import CodeMutantsNotConfigured, changed
from pytest_actor_envs.gate.mutmut_process import (
    MutantNotFound,
    MutmutFailed,
    MutmutMissing,
    SuiteFails,
    SuiteNotCollected,
)
from pytest_actor_envs.gate.result import ExitCode
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from pytest_actor_envs.report.progress import ProgressLine

ROOT = Path(__file__).resolve().parents[1]
LOWEST_SHARE = 0.95
MUTATED_AS_WELL = (
    "nemo_rl/__init__.py",
    "nemo_rl/utils/environment_stamp.py",
    "nemo_rl/utils/prefetch_venvs.py",
    "nemo_rl/utils/venvs.py",
    "nemo_rl/distributed/worker_groups.py",
    "pytest_actor_envs/sources/*",
    "pytest_actor_envs/gate/*",
)
# The instrument: a mutant of what runs the tests and writes kills down would go unrecorded.
NOT_MUTATED = ("pytest_actor_envs/gate/kill_recorder.py", "pytest_actor_envs/gate/kept_session.py")
KILLERS = (
    "pyproject.toml",
    "tests/system",
    "tests/guards",
    "tests/sources",
    "tests/plugin",
    "tests/gate",
    "tests/venvs",
)
# Started alone, a copy fails on the import that mutmut puts into each file it mutates; a run of mutmut within one of
# mutmut takes the outer one's variables for its own.
NOT_KILLERS = (
    "tests/system/test_scripts.py",
    "tests/system/test_imports.py",
    "tests/gate/test_code_mutants.py",
)


def widened(text: str) -> str:
    """pyproject.toml with `[tool.mutmut]` made to mutate more, and more to kill."""
    ignored = [f"--ignore={path}" for path in NOT_KILLERS]
    mutated = tomllib.loads(text)["tool"]["mutmut"]["only_mutate"]
    return changed(
        text,
        {
            "only_mutate": [*mutated, *MUTATED_AS_WELL],
            "do_not_mutate": NOT_MUTATED,
            "pytest_add_cli_args_test_selection": [*KILLERS, *ignored, "-m", "not e2e and not image and not slow"],
        },
    )


def prepare(copy: Path) -> dict[str, str]:
    """Widens the copy's configuration; the variables let every test run on every mutant."""
    path = copy / "pyproject.toml"
    path.write_text(widened(path.read_text(encoding="utf-8")), encoding="utf-8")
    return {EVERYTHING: "1"}


def summary(result: CodeMutantsResult) -> str:
    """Totals, and each mutant that was not killed with what it would take."""
    parts = []
    for report in result.reports:
        if report.fate not in {Fate.KILLED, Fate.SUPPRESSED}:
            parts.append(
                f"{report.subject}:1: {report.fate.value}: {report.identity}\n    {report.reason}\n{report.diff}"
            )
    totals = Counter(report.fate.value for report in result.reports)
    counted = ", ".join(f"{count} {word}" for word, count in totals.most_common())
    share = killed_share(result.reports)
    parts += [*result.problems, f"{len(result.idle_tests or ())} tests that reach mutants kill none"]
    return "\n".join([*parts, f"{len(result.reports)} code mutants: {counted}; {share:.1%} killed"])


def killed_share(reports: Sequence[MutantReport]) -> float:
    """Killed mutants among those that are not suppressed; 0 where there is none."""
    counted = [report for report in reports if report.fate is not Fate.SUPPRESSED]
    return sum(report.fate is Fate.KILLED for report in counted) / len(counted) if counted else 0.0


def exit_code(result: CodeMutantsResult) -> ExitCode:
    """No reports prove nothing; else the share decides, and suppressions that cannot stand."""
    if not result.reports:
        return ExitCode.NO_VERDICT
    enough = killed_share(result.reports) >= LOWEST_SHARE
    return ExitCode.ALL_LIVE if enough and not result.problems else ExitCode.NOT_PROVEN


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Code mutants of everything that decides, without a limit of time.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only the mutants with this name, or pattern")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write all reports as JSON")
    arguments = parser.parse_args(argv)
    progress = ProgressLine(sys.stderr)
    try:
        result = run_code_mutants(
            ROOT, arguments.names, lambda done, of: progress("code mutants", done, of), prepare=prepare
        )
    except (SuiteNotCollected, SuiteFails) as error:
        progress.clear()
        print(f"gate: {error}", file=sys.stderr)
        return ExitCode.BASELINE_FAILS
    except (CodeMutantsNotConfigured, MutmutMissing, MutantNotFound, MutmutFailed) as error:
        progress.clear()
        print(f"gate: {error}", file=sys.stderr)
        return ExitCode.USAGE
    progress.clear()
    print(summary(result))
    if arguments.report is not None:
        reports = [{**dataclasses.asdict(report), "fate": report.fate.value} for report in result.reports]
        arguments.report.write_text(json.dumps(reports, indent=1), encoding="utf-8")
    return exit_code(result)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
