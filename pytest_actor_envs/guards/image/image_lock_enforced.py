"""`--frozen` is followed by a check of the lock, in the same stage, that no earlier conditional exit skips.

Why it matters: `uv sync --frozen` installs what the lock says and never looks whether pyproject.toml still says the
same. A stale lock then builds an image of last month's requirements, and it is green.

How to fix it: write `--locked`, which refuses a stale lock; where that is not possible yet, put `uv lock --check` behind
it, outside of any `if`, and before anything that may `exit 0`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_actor_envs.guards.image.edits import at_end
from pytest_actor_envs.guards.image.list_writing import lost_failure
from pytest_actor_envs.guards.image.places import StagePlace, decided, stage_of, stages
from pytest_actor_envs.model import Finding, Guard, Location, Mutant, Undecided
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.image import CarriedOut
from pytest_actor_envs.sources.invocations import invoked, program_name
from pytest_actor_envs.sources.shell import AndOr
from pytest_actor_envs.sources.shell_failures import asks
from pytest_actor_envs.sources.shell_steps import Step

CHECKING = frozenset({"--check", "--locked"})
INSTALLING = frozenset({"sync", "run", "export"})
READING = INSTALLING | {"tree"}
"""Commands of uv that read the lock."""

TRUE = frozenset({"1", "true", "yes", "on"})
"""What uv takes for yes in a variable."""
Placed = tuple[CarriedOut, Step]


def subjects(project: Project) -> Iterable[StagePlace]:
    return stages(project)


def check(project: Project, place: StagePlace) -> Iterator[Finding]:
    image, stage = stage_of(project, place)
    own = image.own_runs(stage)
    steps: list[Placed] = [(done, step) for done in own for step in done.steps]
    findings = [
        finding
        for index, (_, step) in enumerate(steps)
        if (found := _frozen(step)) is not None
        for finding in _unchecked(found, index, steps)
    ]
    yield from decided(findings, own)
    for done, step in steps if not findings else ():
        _decided(done, step)


def _unchecked(found: Location, index: int, steps: Sequence[Placed]) -> Iterator[Finding]:
    checks = [number for number in range(index + 1, len(steps)) if _checks(steps[number][1])]
    skipping = [_what_skips(index, number, steps) for number in checks]
    if any(place is None for place in skipping):
        return
    what = "nothing behind it checks the lock"
    if checks:
        what = f"the check of the lock at {steps[checks[0]][1].command.location} is skipped by {skipping[0]}"
    yield Finding(
        found,
        f"takes the lock as it is, though pyproject.toml may say something else, and {what}",
        (
            "refuse a stale lock: --locked in place of --frozen",
            "or check it behind, outside of conditions: uv lock --check",
        ),
    )


def _words(step: Step) -> list[str]:
    """The words of a uv command with their values, those in a variable one by one; none for another command."""
    words = invoked(step.command)
    if not words or program_name(words[0]) != "uv":
        return []
    return [part for word in words[1:] if (value := step.value(word)) for part in value.split()]


def _frozen(step: Step) -> Location | None:
    """Where a command takes the lock as it is."""
    if "--frozen" in _words(step):
        literal = (word.location for word in step.command.words if word.value == "--frozen")
        return next(literal, step.command.location)
    is_set = str(step.values.get("UV_FROZEN")).lower() in TRUE
    return step.command.location if is_set and not READING.isdisjoint(_words(step)) else None


def _checks(step: Step) -> bool:
    words = _words(step)
    return "--locked" in words or (words[:1] == ["lock"] and bool(CHECKING & set(words)))


def _what_skips(index: int, number: int, steps: Sequence[Placed]) -> str | None:
    """What may keep a check from being made or noticed, `None` where nothing does."""
    done, check_step = steps[number]
    if lost_failure(check_step) is not None:
        return f"what stands around it: its status is lost {lost_failure(check_step)}"
    frozen_contexts = steps[index][1].contexts
    for context in check_step.contexts:
        if context.kind in {"branch", "loop"} and context not in frozen_contexts and not _follows_success(context.node):
            return f"the condition at {context.node.location}"
    for other_done, step in steps[index + 1 : number]:
        if other_done is done and _may_leave(step, check_step):
            return f"the exit at {step.command.location}"
    return None


def _follows_success(node: object) -> bool:
    """Whether a branch is the right side of `&&` behind a command that is no question."""
    return isinstance(node, AndOr) and node.operator == "&&" and not asks(node.left)


def _may_leave(step: Step, later: Step) -> bool:
    """Whether a conditional `exit` ends, with success, a program that a later command is part of."""
    words = step.command.words
    if step.command.name != "exit" or (len(words) > 1 and words[1].value != "0"):
        return False
    programs = [context.node for context in step.contexts if context.kind == "program"]
    around = [context.node for context in later.contexts if context.kind == "program"]
    return programs == around[: len(programs)]


def _decided(done: CarriedOut, step: Step) -> None:
    """Raises Undecided where the flags of uv depend on a build argument without a default."""
    if INSTALLING.isdisjoint(_words(step)):
        return
    for word in step.command.words:
        for variable in word.variables:
            is_whole = len(word.parts) == 1 and not word.text.startswith('"')
            if is_whole and variable.name in done.state.arguments and step.values.get(variable.name) is None:
                raise Undecided(
                    f"{word.location}: whether uv checks the lock depends on the build argument {variable.name}; "
                    f"give it a default: ARG {variable.name}=--locked"
                )


def mutants(project: Project) -> Iterator[Mutant]:
    for place in stages(project):
        for shape, command in (
            ("never-checked", "uv export --frozen --output-file /requirements"),
            ("by-variable", "UV_FROZEN=1 uv export --output-file /requirements"),
            ("check-passed-over", "uv export --frozen -o /requirements && (uv lock --check || true)"),
            (
                "check-skipped-by-exit",
                "bash -euo pipefail -c 'uv export --frozen -o /r; if [[ -d /x ]]; then exit 0; fi; uv lock --check'",
            ),
            (
                "check-in-condition",
                "bash -euo pipefail -c 'uv export --frozen -o /r; if [[ -d /x ]]; then uv lock --check; fi'",
            ),
        ):
            yield Mutant(place.name, shape, at_end(project, place, [f"RUN {command}"]))


GUARD = Guard("image-lock-enforced", subjects, check, mutants)
