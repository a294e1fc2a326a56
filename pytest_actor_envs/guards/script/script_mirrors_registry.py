"""The script prints one row for each entry with an environment: name, stage, flags; sorted, and nothing else.

Why it matters: the image builds exactly what the script prints. A row with half of the extras, or in the wrong
stage, ships an environment in which the actor fails.

How to fix it: make the rows from the table alone; print messages on stderr.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.observation import call, expected_rows, printed_rows, raised_finding, script_observation
from pytest_actor_envs.guards.script.edits import main_wrapped, script_place
from pytest_actor_envs.model import Finding, Guard, Mutant, Place
from pytest_actor_envs.observed import Raised
from pytest_actor_envs.project import Project

ROW = "a row: name, stage (trtllm where an extra is, else deps), `--extra a --extra b`, separated by tabs"


def subjects(project: Project) -> Iterable[Place]:
    return [script_place(project)]


def check(project: Project, script: Place) -> Iterator[Finding]:
    expected = expected_rows(project)
    observed = script_observation(project)
    if isinstance(observed, Raised) and "has no attribute 'main'" in str(observed):
        advice = (
            "define `def main(argv: list[str]) -> int`, which prints a row for each entry with extras and returns 0"
        )
        yield Finding(script.location, "the script has no function `main`", (advice, ROW))
        return
    if isinstance(observed, Raised):
        yield raised_finding(observed, script.name, "executing the script")
        return
    result = call(observed, ["all"])
    if result["code"] != 0:
        message = f"`all` exits with {result['code']}: {result['stderr'].strip()}"
        yield Finding(script.location, message, ("exit with 0 for a known stage",))
        return
    rows = printed_rows(result["stdout"])
    for name, stage, flags in sorted(set(expected) - set(rows)):
        given = next((row for row in rows if row[0] == name), None)
        shown = "prints no row" if given is None else f"prints `{given[1]} {given[2]}`"
        message = f"for {name} the script {shown} instead of `{stage} {flags}`"
        yield Finding(script.location, message, ("make the rows from the table alone",))
    known = {row[0] for row in expected}
    for row in rows:
        if row[0] not in known:
            message = f"prints `{' '.join(row).rstrip()}`, which is no row of an entry with an environment"
            yield Finding(script.location, message, ("print rows only; messages go to stderr",))
    if sorted(set(rows)) == expected and rows != expected:
        advice = "sort them, so that equal tables give equal lists"
        yield Finding(script.location, "the rows are not sorted by name, each once", (advice,))
    if rows and not result["stdout"].endswith("\n"):
        advice = "end every row with a newline; a shell's `read` loses one without"
        yield Finding(script.location, "the last row does not end with a newline", (advice,))


ANY_SCRIPT = (("a-line-more", 'text = "building\\n" + text'), ("fails", "code = 1"))
ROWS = ("one-stage", r'text = re.sub(r"\t(deps|trtllm)\t", r"\tother\t", text)')
ROWS_OF_TWO_EXTRAS = ("first-extra-only", r'text = re.sub(r"(--extra \S+)( --extra \S+)+", r"\1", text)')
TWO_ROWS = ("unsorted", r'text = re.sub(r"(?s)\A(.*?\n)(.*)", r"\2\1", text)')


def mutants(project: Project) -> Iterator[Mutant]:
    rows = expected_rows(project)
    shapes = list(ANY_SCRIPT)
    if rows:
        shapes.append(ROWS)
    if any(flags.count("--extra ") > 1 for _, _, flags in rows):
        shapes.append(ROWS_OF_TWO_EXTRAS)
    if rows[1:]:
        shapes.append(TWO_ROWS)
    shapes.extend(("row-lost", rf'text = re.sub(r"(?m)^{re.escape(name)}\t.*\n", "", text)') for name, _, _ in rows)
    for shape, change in shapes:
        yield Mutant(project.config.leaf, shape, main_wrapped(project, change))


GUARD = Guard("script-mirrors-registry", subjects, check, mutants)
