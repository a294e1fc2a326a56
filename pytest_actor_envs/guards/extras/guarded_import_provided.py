"""An import in a `try` that goes on without the package is provided to at least one actor that reaches it.

Where the handler imports an alternative, one of the two suffices. What the base image has besides is listed, with the
reason, in `[tool.pytest-actor-envs.image-provides]`.

Why it matters: a package that no environment provides switches its feature off in every run, silently.

How to fix it: add the extra that brings the distribution to an actor that reaches the import, or remove the import.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import with_first_line
from pytest_actor_envs.guards.extras.added_imports import foreign_import, foreign_import_names, with_function_import
from pytest_actor_envs.guards.extras.import_provided import (
    By,
    Unknown,
    decided_of,
    first_unknown,
    own_modules,
    said_of_unknown,
    unknown_imports,
)
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.import_graph import Foreign, Reach
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    reach = project.evidence.reach(own_modules(project, entry))
    findings = [
        _missing(project, entry, reach, foreign, name, decided)
        for foreign, name, providers in project.evidence.third_party(reach)
        for decided in [decided_of(project, providers)]
        if decided and _has_to_be_provided(project, foreign, name)
        if not project.once(_is_provided, foreign, providers)
    ]
    yield from findings
    yield from said_of_unknown(project, first_unknown(project, entry, _guarded_unknown), bool(findings))


def _missing(
    project: Project, entry: Entry, reach: Reach, foreign: Foreign, name: str, providers: list[str]
) -> Finding:
    extras = project.pyproject.extras_by_name
    bringers = [extras[extra].name for extra in project.provision.bringers(frozenset(providers))]
    chain = [*project.evidence.graph.chain(reach, foreign.module), foreign.location]
    first = f"add the extra {' or '.join(bringers)} to" if bringers else f"require {providers[0]} in an extra of"
    return Finding(
        foreign.location,
        f"no actor that reaches this import of {name} has {providers[0]}, so what it is for is off, silently",
        (
            f"{entry.class_name} imports it by way of {' -> '.join(map(str, chain))}",
            f"{first} one of them, or remove the import",
            f'if the base image has it, add to [tool.pytest-actor-envs.image-provides]: {name.partition(".")[0]} = "why"',
        ),
    )


def _guarded_unknown(project: Project, entry: Entry) -> dict[By, Unknown]:
    """The entry's tried imports that cannot be judged, by distribution, or by top-level name where that is unknown."""
    return {
        key: item for key, item in unknown_imports(project, entry) if _has_to_be_provided(project, item[0], item[1])
    }


def _has_to_be_provided(project: Project, foreign: Foreign, name: str) -> bool:
    """Whether an import is tried, and neither the base image nor the other part of the `try` makes up for it."""
    return not (foreign.fact.is_hard or _image_provides(project, name) or project.once(_has_alternative, foreign))


def _image_provides(project: Project, name: str) -> bool:
    return any(name == listed or name.startswith(f"{listed}.") for listed in project.config.image_provides)


def _is_provided(project: Project, foreign: Foreign, providers: frozenset[str]) -> bool:
    """Whether one actor that reaches the import has one of the distributions."""
    return any(
        providers & project.evidence.environment(entry.extras)
        for entry in project.entries
        if project.evidence.imports_at(entry, foreign)
    )


def _has_alternative(project: Project, foreign: Foreign) -> bool:
    """Whether, of what the same `try` imports in its other part, something is the project's own, standard, or provided."""
    graph, evidence = project.evidence.graph, project.evidence
    line, tried = foreign.fact.attempts[-1]
    links = graph.links(foreign.module)
    if any((line, not tried) in edge.fact.attempts for edge in links.edges):
        return True
    others = [other for other in links.foreign if (line, not tried) in other.fact.attempts]
    return any(
        evidence.is_standard(other)
        or any(
            _image_provides(project, name) or project.once(_is_provided, foreign, evidence.distributions.of(name))
            for name in other.names
        )
        for other in others
    )


def mutants(project: Project) -> Iterator[Mutant]:
    for entry in project.entries:
        own = project.evidence.own_modules(entry)
        if own is None:
            continue
        module = own.own[0]
        reaching = [other for other in project.entries if project.evidence.reaches(other, module)]
        have: frozenset[str] = frozenset().union(*(project.evidence.environment(other.extras) for other in reaching))
        path = project.evidence.graph.paths[module]
        names = (name for name in foreign_import_names(project, have) if not _image_provides(project, name))
        foreign = foreign_import(project, names)
        if foreign is not None:
            name, more = foreign
            attempt = f"try:\n    import {name}\nexcept ImportError:\n    {name} = None"
            yield Mutant(entry.name, "tried-at-top", {**more, **with_first_line(project, path, attempt)})
            inside = f"import contextlib\n    with contextlib.suppress(ModuleNotFoundError):\n        from {name} import anything"
            yield Mutant(entry.name, "suppressed-in-method", {**more, **with_function_import(project, path, inside)})


GUARD = Guard("guarded-import-provided", subjects, check, mutants)
