"""Every extra of an entry is declared in pyproject.toml, and spelt as it is there.

Why it matters: a misspelt extra gives a command line that looks right and fails when the environment is built,
hours later. The filters that skip extras compare names literally, so that `nemo-gym` for a declared `nemo_gym`
builds the environment and escapes the filter.

How to fix it: write the name as in `[project.optional-dependencies]`, or declare the extra there.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import replaced_extra, with_extras
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.pyproject import normalized
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    project.extras_of(entry)
    declared = project.pyproject.extras_by_name
    for use in entry.uses or ():
        same = declared.get(normalized(use.name))
        if same is None:
            names = [extra.name for extra in project.pyproject.extras]
            close = difflib.get_close_matches(use.name, names)
            suggestion = f"did you mean '{close[0]}'?   " if close else ""
            yield Finding(
                use.location,
                f"{entry.class_name} needs extra '{use.name}', which pyproject.toml does not declare",
                (f"{suggestion}declared: {', '.join(sorted(names))}",),
            )
        elif same.name != use.name:
            yield Finding(
                use.location,
                f"{entry.class_name} spells extra '{same.name}' as '{use.name}'; filters compare names literally",
                (f"write '{same.name}', as {same.location} does",),
            )


def mutants(project: Project) -> Iterator[Mutant]:
    for entry in project.entries:
        if entry.extras is None:
            yield Mutant(entry.name, "unknown-extra", with_extras(project, entry, ["no_such_extra"]))
            yield Mutant(entry.name, "nameless-extra", with_extras(project, entry, [""]))
        for use in entry.uses or ():
            yield Mutant(entry.name, "extra-misspelt", replaced_extra(project, entry, use.name, f"{use.name}_misspelt"))
            yield Mutant(entry.name, "extra-in-capitals", replaced_extra(project, entry, use.name, use.name.swapcase()))


GUARD = Guard("extra-declared", subjects, check, mutants)
