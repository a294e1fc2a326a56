"""The command `actor-envs gate`: options in, text and an exit code out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from pytest_actor_envs.gate.claims import MutantsDoNotApply, claims_of
from pytest_actor_envs.gate.mutmut_configuration import CodeMutantsNotConfigured
from pytest_actor_envs.gate.mutmut_process import MutmutMissing
from pytest_actor_envs.gate.result import ExitCode
from pytest_actor_envs.gate.run import BaselineFails, GateOptions, chosen_guards, run_gate
from pytest_actor_envs.gate.verdicts import LAYERS
from pytest_actor_envs.gate.workers import processors
from pytest_actor_envs.interruption import interruptible
from pytest_actor_envs.model import ConfigurationError, Verdict
from pytest_actor_envs.project import Project
from pytest_actor_envs.report.gate_json import gate_json
from pytest_actor_envs.report.gate_text import gate_text
from pytest_actor_envs.report.progress import ProgressLine
from pytest_actor_envs.report.terminal import outcome_text
from pytest_actor_envs.report_file import check_can_be_written, write_report


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--layer", type=int, choices=LAYERS, help="only subject mutants (1) or code mutants (2)")
    parser.add_argument("--guard", action="append", default=[], metavar="NAME", help="only this guard, or pattern")
    parser.add_argument("--since", metavar="REF", help="only what the changes since a commit can affect")
    parser.add_argument("--list", action="store_true", help="show the subject mutants instead of running them")
    parser.add_argument("--report", choices=("json",), help="write the result in this format instead of text")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where the report goes (standard output)")
    parser.add_argument("--jobs", type=_count, default=processors(), metavar="N", help="processes (one a core)")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of processes: 1 or more")
    return int(text)


def run(project: Project, arguments: argparse.Namespace) -> int:
    """Runs the gate and says what came out of it. Raises ConfigurationError."""
    _check_list_stands_alone(arguments)
    if arguments.output is not None:
        check_can_be_written(arguments.output)
    try:
        with interruptible() as interruption:  # what is under way ends its own children
            return _run(project, arguments, interruption.hold)
    except KeyboardInterrupt:
        print("gate: interrupted before there was a result, so nothing is known", file=sys.stderr)
        return ExitCode.NO_VERDICT


def _check_list_stands_alone(arguments: argparse.Namespace) -> None:
    """Raises ConfigurationError for what would be asked for beside `--list` and not done."""
    others = ("--since", "--report", "--output")
    given = [option for option in others if getattr(arguments, option.removeprefix("--")) is not None]
    given.extend(["--layer 2"] if arguments.layer == 2 else [])
    if arguments.list and given:
        raise ConfigurationError(
            f"gate: --list shows all mutants of layer 1 and runs none, so {given[0]} has no part in it\n"
            "    leave out one of the two; --list goes with --guard"
        )


def _run(project: Project, arguments: argparse.Namespace, hold: Callable[[], None]) -> int:
    layers = LAYERS if arguments.layer is None else (arguments.layer,)
    options = GateOptions(layers, tuple(arguments.guard), arguments.jobs, arguments.since)
    progress = ProgressLine(sys.stderr)
    try:
        if arguments.list:
            for claim in claims_of(project, chosen_guards(project, options.guards)):
                print(claim.identity)
            return ExitCode.ALL_LIVE
        result = run_gate(project, options, progress, hold)
    except BaselineFails as failure:
        progress.clear()
        said = (
            outcome_text(name, outcome) for name, outcome in failure.outcomes if outcome.verdict is not Verdict.BLOCKED
        )
        print("\n".join(dict.fromkeys(said)))
        print(f"gate: the baseline fails: {failure}; mend that first: nothing can be proven on a broken project")
        return ExitCode.BASELINE_FAILS
    except MutantsDoNotApply as problem:
        return _stopped(
            progress, f"{problem}\ngate: a guard that cannot be seen to fail is not live", ExitCode.NOT_PROVEN
        )
    except (CodeMutantsNotConfigured, MutmutMissing) as problem:
        return _stopped(progress, str(problem), ExitCode.USAGE)
    progress.clear()
    text = gate_json(result) if arguments.report == "json" else gate_text(result) + "\n"
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        print(gate_text(result))
        write_report(arguments.output, text)
    return result.exit_code


def _stopped(progress: ProgressLine, text: str, code: ExitCode) -> ExitCode:
    progress.clear()
    print(text, file=sys.stderr)
    return code
