"""Every declared extra serves an actor: an entry names it, a used extra pulls it in, or it stands alone with a reason.

Why it matters: an extra that no actor uses is resolved, locked and kept free of conflicts for nobody. Most often an
entry has lost it.

How to fix it: give it to the entry that needs it, remove it, or list it with the reason in
`[tool.pytest-actor-envs.stand-alone-extras]`. One that is listed there and used is stale.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import with_extras
from pytest_actor_envs.guards.extras.declarations import STAND_ALONE, listed_alone, listed_no_more, without_uses
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.pyproject import Extra, normalized


def subjects(project: Project) -> Iterable[Extra]:
    return project.pyproject.extras


def check(project: Project, extra: Extra) -> Iterator[Finding]:
    used = project.settled(_used)
    name = normalized(extra.name)
    reasons = {key: reason for key, reason in project.config.stand_alone_extras.items() if normalized(key) == name}
    if name not in used and not reasons:
        yield Finding(
            extra.location,
            f"no actor uses extra '{extra.name}'",
            (
                f"give it to the entry that needs it, remove it, or say why it stands alone, in [{'.'.join(STAND_ALONE)}]:",
                *([] if project.pyproject.get(*STAND_ALONE) else [f"    [{'.'.join(STAND_ALONE)}]"]),
                f'    {extra.name} = "why"',
            ),
        )
    for key, reason in reasons.items():
        place = project.pyproject.at(*STAND_ALONE, key)
        if name in used:
            message = f"extra '{extra.name}' is listed as standing alone, but an actor uses it"
            yield Finding(place, message, ("remove it from the list",))
        elif not reason.strip():
            yield Finding(place, f"extra '{extra.name}' stands alone without a reason", ("write the reason",))


def _used(project: Project) -> frozenset[str]:
    """The normalized names of the extras that entries name or that are pulled in."""
    named = {normalized(name) for entry in project.entries for name in project.extras_of(entry) or ()}
    return project.pyproject.with_pulled_in(frozenset(named) | project.pyproject.base_extras)


def mutants(project: Project) -> Iterator[Mutant]:
    listed = {normalized(name): name for name in project.config.stand_alone_extras}
    for extra in project.pyproject.extras:
        name = normalized(extra.name)
        if name in listed:
            yield Mutant(extra.name, "no-longer-listed", listed_no_more(project, listed[name]))
            for entry in project.entries[:1]:
                more = [*(entry.extras or ()), extra.name]
                yield Mutant(extra.name, "used-and-listed", with_extras(project, entry, more))
            continue
        yield Mutant(extra.name, "listed-and-used", listed_alone(project, extra.name))
        others = {normalized(other) for entry in project.entries for other in entry.extras or ()} - {name}
        if name not in project.pyproject.with_pulled_in(frozenset(others) | project.pyproject.base_extras):
            yield Mutant(extra.name, "used-no-more", without_uses(project, extra.name))


GUARD = Guard("extra-used", subjects, check, mutants)
