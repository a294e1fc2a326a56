"""What an actor imports, its environment provides: base dependencies and the entry's extras bring it.

Looked at are the imports at module level, through the project's own modules, and those in functions of the actor's own
module and of the modules of its base classes. An import under `TYPE_CHECKING`, or in a `try` that goes on without the
package, needs nothing.

Why it matters: an import that the environment lacks raises when the actor starts, or, inside a method, hours later.

How to fix it: give the entry the extra that brings the distribution, require the distribution in an extra that the
entry has, or stop importing it. Without a lock, `[tool.pytest-actor-envs.brings]` says what an extra brings indirectly;
`[tool.pytest-actor-envs.modules]` says which distribution an import is of, where nothing else knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pytest_actor_envs.guards.edits import with_extras, with_first_line
from pytest_actor_envs.guards.extras.added_imports import foreign_import, foreign_import_names, with_function_import
from pytest_actor_envs.model import Blocked, Finding, Guard, Mutant, Undecided
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.evidence import OwnModules
from pytest_actor_envs.sources.import_graph import Foreign, Reach
from pytest_actor_envs.sources.modules import syntax_error_place
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def own_modules(project: Project, entry: Entry) -> OwnModules:
    """The entry's modules. Raises Blocked where the entry does not resolve or its extras are not declared."""
    project.extras_of(entry)
    project.blocked_by("extra-declared", entry.name)
    own = project.evidence.own_modules(entry)
    if own is None:
        raise Blocked("actor-resolves")
    return own


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    own = own_modules(project, entry)
    evidence = project.evidence
    reach = evidence.reach(own)
    have = evidence.environment(entry.extras)
    missing = [
        _missing(project, entry, reach, foreign, name, decided)
        for foreign, name, providers in evidence.third_party(reach)
        for decided in [decided_of(project, providers)]
        if foreign.fact.is_hard and decided and not providers & have
    ]
    findings = [*_unreadable(entry, reach), *missing]
    yield from findings
    yield from said_of_unknown(project, first_unknown(project, entry, hard_unknown), bool(findings))


def decided_of(project: Project, providers: frozenset[str]) -> list[str]:
    """Those of some distributions of which it is known who has them, sorted."""
    return sorted(filter(project.provision.decides, providers))


def _unreadable(entry: Entry, reach: Reach) -> Iterator[Finding]:
    for path, error in reach.unreadable:
        message = f"what {entry.class_name} imports from here cannot be read: {error.msg}"
        yield Finding(syntax_error_place(error, path), message, ("mend the syntax",))


def _missing(
    project: Project, entry: Entry, reach: Reach, foreign: Foreign, name: str, providers: list[str]
) -> Finding:
    chain = [*project.evidence.graph.chain(reach, foreign.module), foreign.location]
    bringers = [_spelt(project, extra) for extra in project.provision.bringers(frozenset(providers))]
    lacks = (
        f"the extras {', '.join(entry.extras)} do not bring"
        if entry.extras
        else "the driver's interpreter, with base dependencies alone, does not have"
    )
    choice = f"the extra '{bringers[0]}'" if len(bringers) == 1 else f"one of the extras {', '.join(bringers)}"
    advice = (
        f"add {choice} to the entry at {entry.location}"
        if bringers
        else f"no extra brings {providers[0]}: add it to one that the entry has"
    )
    return Finding(
        foreign.location,
        f"{entry.class_name} imports {name}, of the distribution {' or '.join(providers)}, which {lacks}",
        (f"imported by way of {' -> '.join(map(str, chain))}", advice),
    )


def _spelt(project: Project, extra: str) -> str:
    return project.pyproject.extras_by_name[extra].name


Unknown = tuple[Foreign, str, list[str]]
By = tuple[str, ...]
"""Names of the distributions that provide an import, or its top-level name where none is known."""


def first_unknown(project: Project, entry: Entry, find: Callable[[Project, Entry], dict[By, Unknown]]) -> list[Unknown]:
    """What `find` finds for the entry and for none before it, so that it is said once."""
    found = find(project, entry)
    if not found:
        return []
    first = project.once(_first_entries, find)
    return [item for key, item in found.items() if first[key] == entry.name]


def _first_entries(project: Project, find: Callable[[Project, Entry], dict[By, Unknown]]) -> dict[By, str]:
    """What `find` finds for any entry, with the name of the first entry that has it."""
    first: dict[By, str] = {}
    for entry in sorted(project.entries, key=lambda entry: entry.name):
        for key in find(project, entry):
            first.setdefault(key, entry.name)
    return first


def hard_unknown(project: Project, entry: Entry) -> dict[By, Unknown]:
    """The entry's hard imports that cannot be judged, by distribution, or by top-level name where that is unknown."""
    return {key: item for key, item in unknown_imports(project, entry) if item[0].fact.is_hard}


def unknown_imports(project: Project, entry: Entry) -> Iterator[tuple[By, Unknown]]:
    """The entry's imports that cannot be judged, last one first, so that the first of a key wins in a dictionary."""
    own = project.evidence.own_modules(entry)
    if own is None:
        return
    # What an environment is known to have is decided as well.
    for foreign, name, providers in reversed(list(project.evidence.third_party(project.evidence.reach(own)))):
        if not decided_of(project, providers):
            yield tuple(sorted(providers)) or (name.partition(".")[0],), (foreign, name, sorted(providers))


def said_of_unknown(project: Project, unknown: Iterable[Unknown], is_broken: bool) -> Iterator[Finding]:
    """What cannot be judged, as findings of an entry that is broken anyway. Raises Undecided for one that is not."""
    findings = [_unknown(project, *item) for item in unknown]
    if findings and not is_broken:
        raise Undecided("\n".join(f"{found.location}: {found.message}\n    {found.fix[0]}" for found in findings))
    yield from findings


def _unknown(project: Project, foreign: Foreign, name: str, providers: list[str]) -> Finding:
    top = name.partition(".")[0]
    if not providers:
        return Finding(
            foreign.location,
            f"nothing knows the distribution that provides {top}",
            (f'add to [tool.pytest-actor-envs.modules]: {top} = "the distribution"',),
        )
    extras = [extra.name for extra in project.pyproject.extras]
    return Finding(
        foreign.location,
        f"no requirement names {providers[0]}, which provides {top}, and there is no lock",
        (
            "require it, or add to [tool.pytest-actor-envs.brings]: "
            f'{extras[0] if extras else "extra"} = ["{providers[0]}"]',
        ),
    )


def mutants(project: Project) -> Iterator[Mutant]:
    evidence = project.evidence
    for entry in project.entries:
        own = evidence.own_modules(entry)
        if own is None:
            continue
        have = evidence.environment(entry.extras)
        path = evidence.graph.paths[own.own[0]]
        foreign = foreign_import(project, foreign_import_names(project, have))
        if foreign is not None:
            name, more = foreign
            in_method = with_function_import(project, path, f"from {name} import anything")
            by_name = with_function_import(project, path, f'import importlib; importlib.import_module("{name}")')
            yield Mutant(entry.name, "import-at-top", {**more, **with_first_line(project, path, f"import {name}")})
            yield Mutant(entry.name, "import-in-method", {**more, **in_method})
            yield Mutant(entry.name, "import-by-name", {**more, **by_name})
        needed = evidence.explained_by_imports(own, entry.extras or ())
        for extra in needed:
            rest = [other for other in entry.extras or () if other != extra]
            yield Mutant(entry.name, "extra-dropped", with_extras(project, entry, rest or None))


GUARD = Guard("import-provided", subjects, check, mutants)
