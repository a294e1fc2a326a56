"""Imports that mutants add to an actor's own module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import Files, appended
from pytest_actor_envs.guards.extras.declarations import SPARE, with_spare_extra
from pytest_actor_envs.project import Project


def foreign_import_names(project: Project, have: frozenset[str]) -> Iterator[str]:
    """Import names of distributions that extras of the project require and `have` lacks."""
    for extra in project.pyproject.extras:
        for requirement in extra.requirements:
            name = requirement.name.replace("-", "_").replace(".", "_")
            providers = project.distributions.of(name)
            if name.isidentifier() and providers and not providers & have:
                if any(project.provision.decides(provider) for provider in providers):
                    yield name


def foreign_import(project: Project, names: Iterable[str]) -> tuple[str, Files] | None:
    """The first of some import names, and what else has to be changed for it: nothing, or an extra declared that brings it.

    `None` where there is no name, and no extra can be declared.
    """
    for name in names:
        return name, {}
    spare = with_spare_extra(project)
    return None if spare is None else (SPARE.replace("-", "_"), spare)


def with_function_import(project: Project, path: str, statement: str) -> Files:
    """The statement in a new function of a module."""
    return appended(project, path, f"\ndef _added_by_a_mutant():\n    {statement}")
