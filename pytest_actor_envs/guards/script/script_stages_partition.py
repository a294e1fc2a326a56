"""The rows of the stages are disjoint, and together they are all rows.

Why it matters: an environment in two stages is built twice, once where its wheel does not exist yet; one in none is
not built at all.

How to fix it: derive the stage of a row from its extras in one function, and filter by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.observation import STAGES, call, expected_rows, printed_rows, script_results
from pytest_actor_envs.guards.script.edits import main_wrapped, script_place
from pytest_actor_envs.model import Finding, Guard, Mutant, Place
from pytest_actor_envs.project import Project

ADVICE = "filter by the stage that the extras give"


def subjects(project: Project) -> Iterable[Place]:
    return [Place(stage, script_place(project).location) for stage in STAGES]


def check(project: Project, stage: Place) -> Iterator[Finding]:
    expected = {row[0] for row in expected_rows(project) if row[1] == stage.name}
    result = call(script_results(project), [stage.name])
    if result["code"] != 0:
        message = f"`{stage.name}` exits with {result['code']}: {result['stderr'].strip()}"
        yield Finding(stage.location, message, ("accept the stage, also when it has no row",))
        return
    rows = {row[0] for row in printed_rows(result["stdout"])}
    for name in sorted(rows - expected):
        yield Finding(stage.location, f"stage {stage.name} prints {name}, which is not its row", (ADVICE,))
    for name in sorted(expected - rows):
        yield Finding(stage.location, f"stage {stage.name} lacks {name}", (ADVICE,))


def mutants(project: Project) -> Iterator[Mutant]:
    stages_with_rows = {stage for _, stage, _ in expected_rows(project)}
    for stage in STAGES:
        if stages_with_rows - {stage}:
            everything = f'["all"] if argv == ["{stage}"] else argv'
            yield Mutant(stage, "prints-all", main_wrapped(project, argv=everything))
        fails = f'code = 1 if argv == ["{stage}"] else code'
        yield Mutant(stage, "stage-fails", main_wrapped(project, fails))
        nothing = f'text = "" if argv == ["{stage}"] else text'
        if stage in stages_with_rows:
            yield Mutant(stage, "prints-nothing", main_wrapped(project, nothing))


GUARD = Guard("script-stages-partition", subjects, check, mutants)
