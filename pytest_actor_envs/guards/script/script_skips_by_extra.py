"""Skipping an extra prints exactly the rows without it, also when several are skipped.

Why it matters: an image that leaves out a backend has to leave out every actor that needs it. A filter that looks
for the backend's word in the actor's name misses the actors that need the extra and are not called so.

How to fix it: filter by the entry's extras, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.observation import (
    call,
    expected_rows,
    printed_rows,
    script_results,
    table_extras,
)
from pytest_actor_envs.guards.script.edits import main_wrapped, script_place
from pytest_actor_envs.model import Finding, Guard, Mutant, Place
from pytest_actor_envs.project import Project

ADVICE = "filter by the entry's extras"


def subjects(project: Project) -> Iterable[Place]:
    place = script_place(project).location
    return [Place(extra, place) for extra in table_extras(project)]


def check(project: Project, extra: Place) -> Iterator[Finding]:
    expected, extras = expected_rows(project), table_extras(project)
    observed = script_results(project)
    up_to_here = extras[: extras.index(extra.name) + 1]
    for arguments in (["all", extra.name], ["all", *up_to_here]):
        skipped = set(arguments[1:])
        right = {row[0]: row[2] for row in expected if not skipped & set(row[2].split())}
        result = call(observed, arguments)
        printed = {row[0]: row[2] for row in printed_rows(result["stdout"])}
        shown = " ".join(arguments)
        if result["code"] != 0:
            message = f"`{shown}` exits with {result['code']}: {result['stderr'].strip()}"
            yield Finding(extra.location, message, ("accept every extra of the table",))
            continue
        for name in sorted(printed.keys() - right.keys()):
            message = f"`{shown}` still prints {name}, which needs {printed[name]}"
            yield Finding(extra.location, message, (ADVICE,))
        for name in sorted(right.keys() - printed.keys()):
            yield Finding(extra.location, f"`{shown}` leaves out {name}, which does not need it", (ADVICE,))


def mutants(project: Project) -> Iterator[Mutant]:
    for extra in table_extras(project):
        ignored = f'[word for word in argv if word != "{extra}"]'
        yield Mutant(extra, "skip-ignored", main_wrapped(project, argv=ignored))
        if any(extra not in flags.split() for _, _, flags in expected_rows(project)):
            everything = f'text = "" if argv == ["all", "{extra}"] else text'
            yield Mutant(extra, "skips-everything", main_wrapped(project, everything))
        rejected = f'code, text = (2, "") if "{extra}" in argv else (code, text)'
        yield Mutant(extra, "skip-rejected", main_wrapped(project, rejected))


GUARD = Guard("script-skips-by-extra", subjects, check, mutants)
