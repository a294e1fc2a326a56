"""The lock knows every declared extra, with the requirements that pyproject.toml gives it.

Runs where a lock is configured, or uv.lock is there. Requirements are compared by name, extras, version and what their
markers come to on every platform; a requirement with a source of its own (`[tool.uv.sources]`) is compared without its
version.

Why it matters: `--locked` refuses a lock that is not pyproject.toml's, and `--frozen` builds what the lock says: the
extra that was added last is unknown to it, and a requirement that was changed stays as it was.

How to fix it: `uv lock`. Where `[tool.pytest-actor-envs.brings]` names what the lock does not bring, correct it there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import Files
from pytest_actor_envs.model import Blocked, Finding, Guard, Location, Mutant, MutantDoesNotApply
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.lock import LockRecord
from pytest_actor_envs.sources.locked_requirements import recorded, without_equals, written
from pytest_actor_envs.sources.pyproject import Extra, normalized

RELOCK = "refresh the lock: uv lock"


def subjects(project: Project) -> Iterable[Extra]:
    return project.pyproject.extras


def check(project: Project, extra: Extra) -> Iterator[Finding]:
    path = str(project.lock_path)
    try:
        record = project.lock_record
    except Blocked:
        yield Finding(Location(path), "the lock cannot be read", (RELOCK,))
        return
    if record is None:
        package = project.pyproject.name or "of this folder"
        yield Finding(Location(path), f"the lock holds no package {package}", (RELOCK,))
        return
    name = normalized(extra.name)
    if name not in record.provided_extras:
        known = ", ".join(sorted(record.provided_extras)) or "none"
        yield Finding(extra.location, f"{path} does not know extra '{extra.name}'", (RELOCK, f"it knows: {known}"))
        return
    yield from _requirements(project, extra, record, path)
    yield from _brings(project, extra)


def _requirements(project: Project, extra: Extra, record: LockRecord, path: str) -> Iterator[Finding]:
    ours = written(project.requirements_of(extra), extra, project.pyproject.name)
    theirs = recorded(record, extra, project.pyproject.name)
    for requirement in without_equals(ours, theirs):
        message = f"{path} does not have the requirement '{requirement}' of extra '{extra.name}'"
        yield Finding(extra.location, message, (RELOCK,))
    for requirement in without_equals(theirs, ours):
        message = f"{path} has the requirement '{requirement}' for extra '{extra.name}', pyproject.toml has not"
        yield Finding(extra.location, message, (RELOCK,))


def _brings(project: Project, extra: Extra) -> Iterator[Finding]:
    name = normalized(extra.name)
    installed = project.provision.distributions(frozenset({name}))
    for key, distributions in project.config.brings.items():
        for distribution in distributions if normalized(key) == name else ():
            if normalized(distribution) not in installed:
                yield Finding(
                    project.pyproject.at("tool", "pytest-actor-envs", "brings", key),
                    f"extra '{extra.name}' does not bring {distribution}, as the lock says",
                    ("remove it from the list",),
                )


def mutants(project: Project) -> Iterator[Mutant]:
    path = str(project.lock_path)
    for extra in project.pyproject.extras:
        name = normalized(extra.name)
        yield Mutant(extra.name, "extra-unknown", _without_provided(project, path, name))
        if written(project.requirements_of(extra), extra, project.pyproject.name):
            yield Mutant(extra.name, "requirement-changed", _with_narrower_marker(project, path, name))


def _with_narrower_marker(project: Project, path: str, name: str) -> Files:
    """The first requirement of the extra narrowed to one platform, where the lock records what was required."""
    text = project.tree.read_text(path)
    own = normalized(project.pyproject.name)
    requirement = rf"""{{ name = "(?!{re.escape(own)}")[^}}]*extra == '{re.escape(name)}'"""
    found = re.search(rf"""(?s)\nname = "{re.escape(own)}"\n.*?{requirement}""", text)
    if found is None:
        raise MutantDoesNotApply(f"{path} records no requirement of {name}")
    return {path: f"{text[: found.end()]} and sys_platform == 'win32'{text[found.end() :]}"}


def _without_provided(project: Project, path: str, name: str) -> Files:
    text = project.tree.read_text(path)
    listed = re.search(r"(?m)^provides-extras = \[[^\]]*\]", text)
    if listed is None:
        raise MutantDoesNotApply(f"{path} lists no extras")
    return {path: text[: listed.start()] + listed[0].replace(f'"{name}"', f'"{name}-gone"') + text[listed.end() :]}


GUARD = Guard("extra-locked", subjects, check, mutants)
