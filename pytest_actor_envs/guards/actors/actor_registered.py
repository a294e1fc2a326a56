"""Every name that code looks up and every Ray actor class is in the table, once; nobody changes it or the registry.

Looked at are the modules of the package that look names up (a literal, or a constant that is one, given to a configured
function or launcher or used as a key of the registry), and the package's Ray actor classes, compared by definition.

Why it matters: an actor that is missing from the table raises when it is launched, or runs on whatever interpreter the
driver has. One with two entries, by two of its names, has the environment of whichever name it is launched by, and the
table cannot say what the other is for. An entry that other code adds or changes at run time is unknown to the image, whose
environment is another.

How to fix it: add the entry to the table, write the name as the table does, or exempt the class with a reason:
`# actor-envs: ignore[actor-registered] why` above it. The entry that is suggested has the extras that the imports of the
class show. Where actor-resolves suggests this class for an entry, that comes first.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_actor_envs.guards.actors.actor_resolves import suggested
from pytest_actor_envs.guards.actors.added_code import look_up, with_function
from pytest_actor_envs.guards.actors.needed_extras import entry_lines
from pytest_actor_envs.guards.actors.resolution import entries_by_class, key_of, names_by_class
from pytest_actor_envs.guards.edits import Files, added_entry, appended, renamed_entry, replaced_node, without_entry
from pytest_actor_envs.model import Finding, Guard, Location, Mutant, Place, Undecided
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.lookups import RegistryUses, literal_text, registry_uses, uses_registry
from pytest_actor_envs.sources.modules import ClassDefinition, Module
from pytest_actor_envs.sources.ray_actors import actor_names
from pytest_actor_envs.sources.table import Entry


@dataclass(frozen=True, slots=True)
class ActorClass:
    """A Ray actor class as a subject."""

    definition: ClassDefinition

    @property
    def name(self) -> str:
        return f"{self.definition.module}.{self.definition.name}"

    @property
    def location(self) -> Location:
        return self.definition.location


def subjects(project: Project) -> Iterable[Place | ActorClass]:
    paths = project.imports.paths.items()
    return [subject for name, path in paths for subject in project.settled(_subjects_in, name, path)]


def _subjects_in(project: Project, name: str, path: str) -> list[Place | ActorClass]:
    config = project.config
    found: list[Place | ActorClass] = []
    content = project.tree.read_bytes(path)
    with contextlib.suppress(SyntaxError):
        # The leaf names its own table; whether it changes it is for leaf-table-literal to say.
        words = (word for word in config.lookup_words if path != config.leaf or word != config.table)
        if any(word.encode() in content for word in words):
            if project.fact(uses_registry, name, config.lookups, config.launchers, *config.mappings):
                found.append(Place(name, Location(path)))
        if b"remote" in content:
            found.extend(_actor_classes(project, name))
    return found


def _actor_classes(project: Project, name: str) -> Iterator[ActorClass]:
    for actor in project.fact(actor_names, name):
        definition = project.modules.definition(name, actor)
        if definition is not None:
            yield ActorClass(definition)


def _uses(project: Project, module: Module) -> RegistryUses:
    config = project.config
    return project.of_module(registry_uses, module, config.lookups, config.launchers, *config.mappings)


def check(project: Project, subject: Place | ActorClass) -> Iterator[Finding]:
    if isinstance(subject, ActorClass):
        key = (subject.definition.module, subject.definition.name)
        names = project.part(names_by_class, key)
        if names and len(names) > 1:
            listed = ", ".join(names)
            yield Finding(
                subject.location,
                f"{len(names)} entries of the table are of the Ray actor class {subject.definition.name}: {listed}",
                ("keep the one that code looks up: which environment an actor has would depend on how it is named",),
            )
        if not names:
            for entry in project.once(entries_by_class).get(None, ()):
                if key in (key_of(project, name) for name in suggested(project, entry)):
                    project.blocked_by("actor-resolves", entry.name)
            yield Finding(
                subject.location,
                f"the Ray actor class {subject.definition.name} is not in the table",
                (
                    f"add it to {project.config.leaf}, with its extras, or None for the driver's interpreter:",
                    *entry_lines(project, subject.name),
                    "or say above the class why not: # actor-envs: ignore[actor-registered] ...",
                ),
            )
        return
    module = project.modules.find(subject.name)
    assert module is not None
    uses = _uses(project, module)
    findings = [*_changes(project, module, uses), *_unknown_names(project, module, uses)]
    yield from findings
    unclear = [
        str(lookup.location)
        for lookup in uses.lookups
        if lookup.needs_literal
        and module.path not in project.config.readers
        and literal_text(project.modules, module, lookup.node) is None
    ]
    if unclear and not findings:
        raise Undecided(
            f"{', '.join(unclear)}: what is looked up is no literal, so it cannot be compared with the table\n"
            f'    if this module looks up whatever it is given, add to [tool.pytest-actor-envs] readers: "{module.path}"'
        )


def _changes(project: Project, module: Module, uses: RegistryUses) -> Iterator[Finding]:
    config = project.config
    for name, home, changes in (
        (config.registry_name, config.registry or "its module", uses.changes),
        (config.table, config.leaf, uses.table_changes),
    ):
        for place in changes if module.path != home else ():
            message = f"{name} is changed outside {home}; an environment that was built before does not follow"
            yield Finding(place, message, (f"write the entry into {config.leaf}",))


def _unknown_names(project: Project, module: Module, uses: RegistryUses) -> Iterator[Finding]:
    for lookup in uses.lookups:
        text = literal_text(project.modules, module, lookup.node)
        if text is not None and not project.part(_listed, text):
            yield Finding(
                lookup.location, f"{text} is looked up, but the table has no such entry", _advice(project, text)
            )


def _listed(project: Project) -> dict[str, bool]:
    """True for the name of each entry."""
    return dict.fromkeys((entry.name for entry in project.entries), True)


def _advice(project: Project, text: str) -> tuple[str, ...]:
    known = project.once(entries_by_class)
    key = key_of(project, text)
    same = [] if key is None else [entry.name for entry in known.get(key, ())]
    close = same or difflib.get_close_matches(text, [entry.name for entry in project.entries])
    return (f"did you mean '{close[0]}'?",) if close else ("add it to the table:", *entry_lines(project, text))


def mutants(project: Project) -> Iterator[Mutant]:
    unknown = "elsewhere.workers.NotInTheTable"
    for subject in subjects(project):
        if isinstance(subject, ActorClass):
            key = (subject.definition.module, subject.definition.name)
            for entry in project.once(entries_by_class).get(key, ()):
                if subject.location.path != project.config.leaf:
                    yield Mutant(subject.name, "entry-doubled", _doubled(project, subject, entry))
                yield Mutant(subject.name, "entry-removed", without_entry(project, entry))
                yield Mutant(subject.name, "entry-of-another", renamed_entry(project, entry, unknown))
            continue
        module = project.modules.find(subject.name)
        assert module is not None
        for lookup in _uses(project, module).lookups:
            if literal_text(project.modules, module, lookup.node) is not None:
                yield Mutant(
                    subject.name, "lookup-misspelt", replaced_node(project, module.path, lookup.node, f'"{unknown}"')
                )
        looked_up = with_function(project, module.path, f"return {look_up(project, unknown)}")
        yield Mutant(subject.name, "lookup-added", looked_up)
        if module.path != project.config.registry:
            change = f'{project.config.registry_name}["{unknown}"] = "python"'
            yield Mutant(subject.name, "registry-changed", with_function(project, module.path, change))
        change = f'{project.config.table}["{unknown}"] = None'
        yield Mutant(subject.name, "table-changed", with_function(project, module.path, change))


def _doubled(project: Project, subject: ActorClass, entry: Entry) -> Files:
    """One more entry, for another name of the class."""
    other = f"{subject.definition.name}Again"
    code = f"{other} = {subject.definition.name}"
    named = added_entry(project, f"{subject.definition.module}.{other}", entry.extras)
    return {**appended(project, subject.location.path, code), **named}


GUARD = Guard("actor-registered", subjects, check, mutants)
