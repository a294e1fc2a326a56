"""An unknown stage, and an unknown extra to skip: nothing on stdout, a message that names it on stderr, exit 2.

Why it matters: a misspelt argument in an image build would print nothing, or everything, and the image would be green.

How to fix it: compare the arguments with the stages and with the extras that entries name before anything is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.observation import UNKNOWN_EXTRA, UNKNOWN_STAGE, call, raised_finding, script_observation, table_extras
from pytest_actor_envs.guards.script.edits import main_wrapped, script_place
from pytest_actor_envs.model import Finding, Guard, Mutant, Place
from pytest_actor_envs.project import Project, Raised

UNKNOWN = {"stage": UNKNOWN_STAGE, "extra": UNKNOWN_EXTRA}


def subjects(project: Project) -> Iterable[Place]:
    return [Place(kind, script_place(project).location) for kind in UNKNOWN]


def check(project: Project, kind: Place) -> Iterator[Finding]:
    word, known = UNKNOWN[kind.name], table_extras(project)[:1]
    observed = script_observation(project)
    if isinstance(observed, Raised):
        yield raised_finding(observed, project.config.leaf, "the script")
        return
    calls = [[word]] if kind.name == "stage" else [["all", word], ["all", *known, word]]
    for arguments in calls:
        result, shown = call(observed, arguments), " ".join(arguments)
        if result["code"] != 2:
            yield Finding(kind.location, f"`{shown}` exits with {result['code']}, not with 2", (f"reject an unknown {kind.name} with exit status 2",))
        if result["stdout"]:
            yield Finding(kind.location, f"`{shown}` prints on stdout before it fails", ("check the arguments before printing anything",))
        if word not in result["stderr"]:
            yield Finding(kind.location, f"`{shown}` does not name '{word}' on stderr", (f"say on stderr which {kind.name} is unknown, and which are known",))


def mutants(project: Project) -> Iterator[Mutant]:
    for kind, word in UNKNOWN.items():
        hit = f'"{word}" in argv'
        for shape, change in (
            ("accepted", f"code = 0 if {hit} else code"),
            ("other-status", f"code = 1 if {hit} else code"),
            ("silent", f'errors = "" if {hit} else errors'),
            ("prints-first", f'text = "rows\\n" if {hit} else text'),
        ):
            yield Mutant(kind, shape, main_wrapped(project, 'r"\\A"', 'r""', change))


GUARD = Guard("script-rejects-unknown-argument", subjects, check, mutants)
