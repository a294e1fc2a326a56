"""Every shell of an image build stops at the first failure: -e or && between commands, pipefail where there is a pipe.

Why it matters: a command that fails and is passed over gives an image that is green and incomplete. A pipe's status is
its last command's, so `build | tee log` succeeds whatever the build does, and `$?` behind it is tee's.

How to fix it: `RUN bash -euo pipefail <<"EOF"` for a here-document, `set -euo pipefail` at the top of a script, `&&`
between the commands of a RUN, `SHELL ["/bin/bash", "-o", "pipefail", "-c"]` for pipes in RUNs, and `|| true` behind a
command whose failure does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.image.edits import at_end, with_code_first, with_line_in_script
from pytest_actor_envs.guards.image.places import StagePlace, carried_out, decided, runs_of, stages
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.shell_failures import Unnoticed, unnoticed_failures
from pytest_actor_envs.sources.shell_steps import Program


def subjects(project: Project) -> Iterable[StagePlace]:
    return stages(project)


def check(project: Project, place: StagePlace) -> Iterator[Finding]:
    runs = [carried_out(project, run) for run in runs_of(project, place)]
    found = (
        _finding(failure, program)
        for done in runs
        for program in done.programs
        for failure in unnoticed_failures(program)
    )
    yield from decided(found, runs)


def _finding(failure: Unnoticed, program: Program) -> Finding:
    if failure.kind == "chain":
        return Finding(
            failure.location,
            f"when {failure.command} fails, what follows runs all the same",
            (
                "join it to what follows by &&, or start the shell with -e: set -e",
                "where the failure does not matter, say so: || true",
            ),
        )
    pipefail = "put before it: set -o pipefail"
    if not program.can_pipefail:
        pipefail = 'run it in bash, with pipefail: SHELL ["/bin/bash", "-o", "pipefail", "-c"]'
    if failure.kind == "pipe":
        return Finding(
            failure.location, f"when {failure.command} fails, the pipe behind it succeeds all the same", (pipefail,)
        )
    return Finding(
        failure.location,
        "$? is the status of the last command of the pipe above, whatever the others did",
        (pipefail, "or read ${PIPESTATUS[0]}"),
    )


def mutants(project: Project) -> Iterator[Mutant]:
    for place in stages(project):
        yield Mutant(place.name, "one-more-run", at_end(project, place, ["RUN cp /a /b; cp /b /c"]))
        yield Mutant(place.name, "one-more-pipe", at_end(project, place, ["RUN cp /a /b | cat"]))
        for run in runs_of(project, place):
            for shape, code in MUTATIONS:
                yield Mutant(place.name, shape, with_code_first(project, run, code))
            paths = {program.location.path for program in carried_out(project, run).programs}
            for path in sorted(paths - {place.path}):
                files = with_line_in_script(project, path, "set +e; cp /a /b; cp /b /c")
                yield Mutant(place.name, "script-goes-on", files)


MUTATIONS = (
    ("goes-on", "set +e; cp /a /b; cp /b /c"),
    ("pipe-without-pipefail", "set +o pipefail; cp /a /b | cat"),
    ("status-of-a-pipe", "set +e +o pipefail; echo | tee /log; test $? = 0"),
    ("left-of-and", "set -e; cp /a /b && cp /b /c; echo"),
)

GUARD = Guard("image-fails-fast", subjects, check, mutants)
