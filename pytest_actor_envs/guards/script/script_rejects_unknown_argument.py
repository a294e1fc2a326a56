"""An unknown stage, and an unknown extra to skip: nothing on stdout, a message on stderr, exit 2.

Why it matters: a misspelt argument in an image build would print nothing, or everything, and the image would be green.

How to fix it: compare the arguments with the stages and with the extras that entries name before anything is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.observation import call, script_results, unknown_calls
from pytest_actor_envs.guards.script.edits import main_wrapped, script_place
from pytest_actor_envs.model import Finding, Guard, Mutant, Place
from pytest_actor_envs.project import Project


def subjects(project: Project) -> Iterable[Place]:
    return [Place(kind, script_place(project).location) for kind in unknown_calls(project)]


def check(project: Project, kind: Place) -> Iterator[Finding]:
    observed = script_results(project)
    for arguments in unknown_calls(project)[kind.name]:
        result, shown = call(observed, arguments), " ".join(arguments)
        if result["code"] != 2:
            message = f"`{shown}` exits with {result['code']}, not with 2"
            yield Finding(kind.location, message, (f"reject an unknown {kind.name} with exit status 2",))
        if result["stdout"]:
            message = f"`{shown}` prints on stdout before it fails"
            yield Finding(kind.location, message, ("check the arguments before printing anything",))
        if not result["stderr"].strip():
            message = f"`{shown}` says nothing on stderr"
            yield Finding(kind.location, message, (f"say on stderr which {kind.name} is unknown, and which are known",))


SHAPES = (
    ("accepted", "code = 0 if {hit} else code"),
    ("other-status", "code = 1 if {hit} else code"),
    ("silent", 'errors = "" if {hit} else errors'),
    ("prints-first", 'text = "rows\\n" if {hit} else text'),
)


def mutants(project: Project) -> Iterator[Mutant]:
    for kind, calls in unknown_calls(project).items():
        for shape, change in SHAPES:
            yield Mutant(kind, shape, main_wrapped(project, change.format(hit=f'"{calls[0][-1]}" in argv')))


GUARD = Guard("script-rejects-unknown-argument", subjects, check, mutants)
