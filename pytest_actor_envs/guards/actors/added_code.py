"""Code that looks actors up, for advice and for mutants."""

from __future__ import annotations

from pytest_actor_envs.guards.edits import Files, appended
from pytest_actor_envs.project import Project


def look_up(project: Project, name: str) -> str:
    """The expression that looks an actor up: by the first configured function, else in the registry itself."""
    functions = [function.rpartition(".")[2] for function in project.config.lookups]
    return f'{functions[0]}("{name}")' if functions else f'{project.config.registry_name}["{name}"]'


def with_function(project: Project, path: str, statement: str) -> Files:
    """The statement in a new function of a module, which imports the first configured look-up if that is dotted."""
    imports = [
        f"    from {owner} import {name}"
        for owner, _, name in (function.rpartition(".") for function in project.config.lookups[:1])
        if owner
    ]
    lines = ["", "def _added_by_a_mutant():", *imports, f"    {statement}"]
    return appended(project, path, "\n".join(lines))
