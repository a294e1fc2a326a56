"""What the command `actor-envs` can do: explain a guard, list the table, prove the guards."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_actor_envs import gate_command
from pytest_actor_envs.evaluation import Evaluation, guards_for
from pytest_actor_envs.gate.claims import MutantsDoNotApply, claims_of
from pytest_actor_envs.guards import inactive_families, load_guards
from pytest_actor_envs.model import Blocked, ConfigurationError, Guard, Mutant
from pytest_actor_envs.project import Project, open_project
from pytest_actor_envs.report.explain import explanation_text, list_text
from pytest_actor_envs.roots import configures, nearest, unreadable

USAGE_ERROR = 2


def run(argv: Sequence[str] | None = None) -> int:
    """Runs one command. Exit status: 0 done, 1 the table cannot be read, 2 usage or configuration; the gate has its own."""
    parser = argparse.ArgumentParser(prog="actor-envs", description="Guards of the table of actor environments.")
    parser.add_argument("--root", type=Path, default=None, help="folder of the guarded project's pyproject.toml")
    commands = parser.add_subparsers(dest="command", required=True)
    explain = commands.add_parser("explain", help="what a guard says, what it looks at here, how it is proven")
    explain.add_argument("guard", nargs="?", help="a guard's name; without it, all names")
    commands.add_parser("list", help="actors, extras and stage")
    gate_command.add_options(commands.add_parser("gate", help="prove that every guard can fail"))
    arguments = parser.parse_args(argv)
    try:
        project = open_project(_root(arguments.root))
        if project is None:
            raise ConfigurationError(
                "pyproject.toml:1:1: configuration: there is no [tool.pytest-actor-envs] here or above\n"
                '    add it, with leaf = "package/actor_environments.py"'
            )
        if arguments.command == "explain":
            return _explain(project, arguments.guard)
        if arguments.command == "gate":
            return gate_command.run(project, arguments)
        return _list(project)
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return USAGE_ERROR


def _root(given: Path | None) -> Path:
    """The folder of the project: the given one, else the nearest from here upwards. Raises ConfigurationError."""
    if given is not None and not given.is_dir():
        raise ConfigurationError(f"actor-envs: there is no folder {given}, which --root names")
    try:
        here = Path.cwd() if given is None else given
    except FileNotFoundError:
        raise ConfigurationError(
            "actor-envs: the folder that it was started in is gone\n    go into the project, or name it by --root"
        ) from None
    try:
        if given is not None:
            configures(given)
            return given
        return nearest([here]) or here
    except OSError as error:
        raise ConfigurationError(unreadable(error)) from None


def _explain(project: Project, name: str | None) -> int:
    evaluation = Evaluation(project, guards_for(project))
    known = {guard.name: guard for guard in (*load_guards(), *evaluation.guards.values())}
    if name is None:
        print("\n".join(known))
        return 0
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        advice = f"did you mean '{close[0]}'?" if close else f"guards: {', '.join(known)}"
        print(f"actor-envs: there is no guard '{name}'\n    {advice}", file=sys.stderr)
        return USAGE_ERROR
    guard = known[name]
    off = dict(inactive_families(project)).get(guard.family) if name not in evaluation.guards else None
    cases = () if off else evaluation.cases(guard)
    mutants, why_none = ((), "") if off else _mutants(project, guard)
    print(explanation_text(guard, [case.name for case in cases], mutants, off, why_none))
    return 0


def _mutants(project: Project, guard: Guard) -> tuple[Sequence[Mutant], str]:
    """The guard's mutants, or why there are none: most explanations are asked for when something is broken."""
    try:
        return [claim.mutant for claim in claims_of(project, [guard])], ""
    except MutantsDoNotApply as problem:
        return (), str(problem)


def _list(project: Project) -> int:
    try:
        entries = project.entries
    except Blocked:
        for problem in project.table.problems:
            print(f"{problem.location}: leaf-table-literal: {problem.message}\n    {problem.fix}", file=sys.stderr)
        return 1
    print(list_text(entries))
    return 0
