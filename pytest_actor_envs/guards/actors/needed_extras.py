"""Which extras a class needs, as far as its imports show, so that the entry to add can be written out."""

from __future__ import annotations

from itertools import combinations

from pytest_actor_envs.model import Blocked
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.pyproject import normalized

MOST = 3
"""More extras than this are not tried together: of thirty there are thousands of combinations."""

Extras = tuple[str, ...]


def fitting_extras(project: Project, name: str) -> list[Extras]:
    """The smallest sets of extras that provide what a class imports, without a conflict; none where nothing tells.

    What no extra brings is left out; import-provided says so of the entry. Each extra of a smallest set has an import
    that is evidence for it, since the set would not do without it.
    """
    try:
        return _smallest(project, _needed(project, name))
    except Blocked:
        return []


def entry_lines(project: Project, name: str) -> tuple[str, ...]:
    """The entry to add for a class, and, where its imports leave a choice, what else they allow."""
    first, *others = fitting_extras(project, name) or [()]
    value = ", ".join(f'"{extra}"' for extra in first)
    lines = [f'    "{name}": {f"[{value}]" if first else None},']
    if others:
        lines.append(f"its imports allow as well: {'; '.join(', '.join(extras) for extras in others)}")
    return tuple(lines)


def _needed(project: Project, name: str) -> set[frozenset[str]]:
    """For each hard import that base dependencies do not provide and an extra does: the distributions it may be of."""
    evidence = project.evidence
    own = evidence.own_modules_of(*name.rpartition(".")[::2])
    if own is None:
        return set()
    base = evidence.environment(None)
    return {
        providers
        for foreign, _, providers in evidence.third_party(evidence.reach(own))
        if foreign.fact.is_hard and not providers & base and project.provision.bringers(providers)
    }


def _smallest(project: Project, needed: set[frozenset[str]]) -> list[Extras]:
    bringing = {extra for providers in needed for extra in project.provision.bringers(providers)}
    extras = [extra.name for extra in project.pyproject.extras if normalized(extra.name) in bringing]
    for size in range(MOST + 1):
        fitting = [chosen for chosen in combinations(extras, size) if _fits(project, chosen, needed)]
        if fitting:
            return fitting
    return []


def _fits(project: Project, chosen: Extras, needed: set[frozenset[str]]) -> bool:
    have = project.evidence.environment(chosen)
    present = project.pyproject.with_pulled_in(frozenset(map(normalized, chosen)) | project.pyproject.base_extras)
    return all(providers & have for providers in needed) and not any(
        len(members & present) > 1 for members, _ in project.pyproject.extra_conflicts
    )
