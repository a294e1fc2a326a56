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
    raised_finding,
    script_observation,
    table_extras,
)
from pytest_actor_envs.guards.script.edits import main_wrapped, script_place
from pytest_actor_envs.model import Finding, Guard, Mutant, Place
from pytest_actor_envs.project import Project, Raised


def subjects(project: Project) -> Iterable[Place]:
    place = script_place(project).location
    return [Place(extra, place) for extra in table_extras(project)]


def check(project: Project, extra: Place) -> Iterator[Finding]:
    expected, extras = expected_rows(project), table_extras(project)
    observed = script_observation(project)
    if isinstance(observed, Raised):
        yield raised_finding(observed, project.config.leaf, "the script")
        return
    index = extras.index(extra.name)
    calls = [["all", extra.name]] + ([["all", *extras[: index + 1]]] if index else [])
    for arguments in calls:
        skipped = set(arguments[1:])
        right = [row for row in expected if not skipped & set(row[2].split())]
        result = call(observed, arguments)
        rows = printed_rows(result["stdout"])
        shown = " ".join(arguments)
        if result["code"] != 0:
            yield Finding(extra.location, f"`{shown}` exits with {result['code']}: {result['stderr'].strip()}", ("accept every extra of the table",))
            continue
        for row in (row for row in rows if row not in right):
            yield Finding(extra.location, f"`{shown}` still prints {row[0]}, which needs {row[2]}", ("filter by the entry's extras",))
        for row in (row for row in right if row not in rows):
            yield Finding(extra.location, f"`{shown}` leaves out {row[0]}, which does not need it", ("filter by the entry's extras",))


def mutants(project: Project) -> Iterator[Mutant]:
    for extra in table_extras(project):
        ignored = f'[word for word in argv if word != "{extra}"]'
        yield Mutant(extra, "skip-ignored", main_wrapped(project, 'r"\\A"', 'r""', "", argv=ignored))
        everything = f'text = "" if "{extra}" in argv and len(argv) == 2 else text'
        needless = [row for row in expected_rows(project) if extra not in row[2].split()]
        if needless:
            yield Mutant(extra, "skips-everything", main_wrapped(project, 'r"\\A"', 'r""', everything))
        rejected = f'code, text = (2, "") if "{extra}" in argv else (code, text)'
        yield Mutant(extra, "skip-rejected", main_wrapped(project, 'r"\\A"', 'r""', rejected))


GUARD = Guard("script-skips-by-extra", subjects, check, mutants)
