"""The list of environments is written once, checked, and read whole by every pass of an image build.

The leaf's output goes through a plain redirect into one file, whose emptiness is tested before anything reads it. Every
later pass reads that file and leaves out nothing more, but rows of another stage.

Why it matters: `done < <(script)` hides that the script failed: nothing is built, and the image is green. Two passes
that filter by rules of their own drift apart, so that an environment is skipped by one and expected by the other.

How to fix it: run the leaf once, with the extras to skip as its arguments: `python3 LEAF all SKIPPED > LIST`, then
`if [[ ! -s LIST ]]; then exit 1; fi`, and let every later RUN read LIST.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_actor_envs.guards.image.edits import at_end
from pytest_actor_envs.guards.image.list_reading import Reading
from pytest_actor_envs.guards.image.list_writing import (
    LeafCall,
    leaf_calls,
    lost_failure,
    output,
    tests_for_content,
)
from pytest_actor_envs.guards.image.places import StagePlace, decided, stage_of, stages
from pytest_actor_envs.guards.image.skip_arguments import read_again, skip_arguments
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.image import CarriedOut, Image

HARMLESS = frozenset({"cat", "wc", "ls", "tee", "test", "[", "[["})
"""Commands that may look at the list before it is known not to be empty."""

ONE_FILE = "write it with a plain redirect: > /opt/actor_environments.tsv"


def subjects(project: Project) -> Iterable[StagePlace]:
    return stages(project)


def check(project: Project, place: StagePlace) -> Iterator[Finding]:
    image, stage = stage_of(project, place)
    own = image.own_runs(stage)
    yield from decided(_found(project, image, image.runs(stage), own), own)


def _found(project: Project, image: Image, runs: Sequence[CarriedOut], own: Sequence[CarriedOut]) -> Iterator[Finding]:
    calls = list(leaf_calls(project, image, runs))
    for index, call in enumerate(calls):
        if call.done in own:
            yield from _written(call, calls[:index], own)
    listed = next((call for call in calls if call.file is not None), None)
    if listed is not None and listed.file is not None:
        behind = runs[runs.index(listed.done) :]
        for done in behind:
            if done not in own:
                continue
            reading = Reading(listed.file)
            for found in reading.filterings(done, listed.number + 1 if done is listed.done else 0):
                yield Finding(
                    found.location,
                    f"`{found.command}` leaves rows of {listed.file} out; other passes do not",
                    (
                        f"leave them out where the list is made, {listed.step.command.location}: name the extras to skip",
                    ),
                )
        yield from _skipped_again(listed, behind, own)


def _written(call: LeafCall, earlier: Sequence[LeafCall], own: Sequence[CarriedOut]) -> Iterator[Finding]:
    place = call.step.command.location
    lost = lost_failure(call.step)
    if lost is not None:
        yield Finding(place, f"the list of environments goes {lost}", (ONE_FILE, "and test it: [[ -s FILE ]]"))
        return
    redirect = output(call.step.command.redirects)
    if call.file is None:
        yield Finding(place, "the list of environments goes to no file, so no pass can read it", (ONE_FILE,))
    elif redirect is not None and redirect.operator == ">>":
        yield Finding(place, f"the list of environments is appended to {call.file}", (ONE_FILE,))
    elif earlier:
        first = earlier[0].step.command.location
        yield Finding(
            place,
            f"the list of environments is made again; {first} made it first",
            (f"read {earlier[0].file or 'its file'} in place of making another one",),
        )
    elif not _is_tested(call, call.file, own):
        yield Finding(
            place,
            f"nobody tests that {call.file} is not empty before it is read",
            (f"put behind it: if [[ ! -s {call.file} ]]; then exit 1; fi",),
        )


def _is_tested(call: LeafCall, file: str, own: Sequence[CarriedOut]) -> bool:
    behind = own[own.index(call.done) :]
    steps = [step for done in behind for step in (done.steps[call.number + 1 :] if done is call.done else done.steps)]
    for step in steps:
        if tests_for_content(step, file):
            return True
        if Reading(file).reads(step) and step.command.name not in HARMLESS:
            return False
    return False


def _skipped_again(listed: LeafCall, behind: Sequence[CarriedOut], own: Sequence[CarriedOut]) -> Iterator[Finding]:
    names = skip_arguments(listed)
    for done in behind:
        if done in own and done is not listed.done:
            for variable in read_again(done, names):
                yield Finding(
                    variable.location,
                    f"{variable.name} decides again what is left out; {listed.step.command.location} did so for all passes",
                    (f"read {listed.file}, which is without what was skipped",),
                )


def mutants(project: Project) -> Iterator[Mutant]:
    script, file = "/mutant/list.py", "/mutant/list"
    made = f"python3 {script} all > {file}"
    for place in stages(project):
        for shape, command in (
            (
                "process-substitution",
                f"bash -euo pipefail -c 'while read -r x; do echo \"$x\"; done < <(python3 {script} all)'",
            ),
            ("mapfile", f"bash -euo pipefail -c 'mapfile -t rows < <(python3 {script} all)'"),
            ("failure-passed-over", f"{made} || true"),
            ("not-tested", made),
            ("tested-the-wrong-way", f"{made} && test ! -s {file}"),
            ("appended", f"{made.replace('>', '>>')} && test -s {file}"),
            ("made-twice", f"{made} && test -s {file} && {made}2 && test -s {file}2"),
            ("to-no-file", f"python3 {script} all"),
            ("in-a-substitution", f"rows=$(python3 {script} all)"),
        ):
            lines = [f"COPY {project.config.leaf} {script}", f"RUN {command}"]
            yield Mutant(place.name, shape, at_end(project, place, lines))
        yield from _filtering_mutants(project, place, script, file)


def _filtering_mutants(project: Project, place: StagePlace, script: str, file: str) -> Iterator[Mutant]:
    """A pass with a filter of its own, over the list that the stage has, or over one made for it."""
    image, stage = stage_of(project, place)
    known = next((call.file for call in leaf_calls(project, image, image.runs(stage)) if call.file), None)
    start = (
        []
        if known
        else [f"COPY {project.config.leaf} {script}", f"RUN python3 {script} all > {file} && test -s {file}"]
    )
    listed = known or file
    for shape, code in (
        ("filtered-by-grep", f"bash -euo pipefail -c 'grep -v vllm {listed} > {listed}.2'"),
        (
            "filtered-in-a-loop",
            f"bash -euo pipefail -c 'while read -r name stage flags; do if [[ $name == *x* ]]; then continue; fi; done < {listed}'",
        ),
    ):
        yield Mutant(place.name, shape, at_end(project, place, [*start, f"RUN {code}"]))


GUARD = Guard("image-list-checked", subjects, check, mutants)
