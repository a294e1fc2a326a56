"""Every name that code looks up is in the table, every Ray actor class is too, and nobody else changes the registry.

Looked at are the modules of the package that look names up (a literal, or a constant that is one, given to a configured
function or launcher or used as a key of the registry), and the package's Ray actor classes, compared by definition.

Why it matters: an actor that is missing from the table raises when it is launched, or runs on whatever interpreter the
driver has. An entry that other code adds or changes at run time is unknown to the image, whose environment is another.

How to fix it: add the entry to the table, write the name as the table does, or exempt the class with a reason:
`# actor-envs: ignore[actor-registered] why` above it.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_actor_envs.guards.edits import appended, renamed_entry, replaced_node, without_entry
from pytest_actor_envs.model import Finding, Guard, Location, Mutant, Place, Undecided
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.lookups import RegistryUses, literal_text, registry_uses
from pytest_actor_envs.sources.modules import ClassDefinition, Module
from pytest_actor_envs.sources.ray_actors import actor_candidates, ray_actor_classes
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
    found: list[Place | ActorClass] = []
    for name, path in project.imports.paths.items():
        try:
            if _mentions_lookups(project, path):
                found.extend(_looking_up(project, name, path))
            if b"remote" in project.tree.read_bytes(path):
                found.extend(map(ActorClass, _actor_classes(project, name, path)))
        except SyntaxError:
            continue
    return found


def _mentions_lookups(project: Project, path: str) -> bool:
    content = project.tree.read_bytes(path)
    return any(word.encode() in content for word in project.config.lookup_words)


def _looking_up(project: Project, name: str, path: str) -> Iterator[Place]:
    """The module, if it looks something up or changes the registry. Raises SyntaxError."""
    config = project.config
    question = f"uses registry {path} {config.lookups} {config.launchers} {config.registry_name}"
    if project.fact(question, path, lambda: _uses_registry(project, name)):
        yield Place(name, Location(path))


def _uses_registry(project: Project, name: str) -> bool:
    uses = _uses(project, _module(project, name))
    return bool(uses.lookups or uses.changes)


def _actor_classes(project: Project, name: str, path: str) -> Iterable[ClassDefinition]:
    candidates = project.fact(f"actors {path}", path, lambda: actor_candidates(_module(project, name)))
    return ray_actor_classes(_module(project, name), project.modules, candidates) if candidates else ()


def _module(project: Project, name: str) -> Module:
    module = project.modules.find(name)
    assert module is not None, f"{name} is a module of the project"
    return module


def _uses(project: Project, module: Module) -> RegistryUses:
    config = project.config
    question = f"registry uses {config.lookups} {config.launchers} {config.registry_name}"
    return project.of_file(
        question, module.path, lambda: registry_uses(module, config.lookups, config.launchers, config.registry_name)
    )


def check(project: Project, subject: Place | ActorClass) -> Iterator[Finding]:
    if isinstance(subject, ActorClass):
        if not _meaning(project, subject.definition):
            yield Finding(
                subject.location,
                f"the Ray actor class {subject.definition.name} is not in the table",
                (
                    f"add it to {project.config.leaf}, with its extras, or None for the driver's interpreter:",
                    f'    "{subject.name}": None,',
                    "or say above the class why not: # actor-envs: ignore[actor-registered] ...",
                ),
            )
        return
    yield from _of_module(project, _module(project, subject.name))


def _of_module(project: Project, module: Module) -> Iterator[Finding]:
    uses = _uses(project, module)
    clean = True
    if module.path != project.config.registry:
        for place in uses.changes:
            clean = False
            yield Finding(
                place,
                f"{project.config.registry_name} is changed outside {project.config.registry or 'its module'}; "
                "an environment that was built before does not follow",
                (f"write the entry into {project.config.leaf}",),
            )
    names = project.once("names of entries", lambda: {entry.name for entry in project.entries})
    unclear = []
    for lookup in uses.lookups:
        text = literal_text(project.modules, module, lookup.node)
        if text is None:
            if lookup.needs_literal and module.path not in project.config.readers:
                unclear.append(str(lookup.location))
        elif text not in names:
            clean = False
            yield Finding(
                lookup.location, f"{text} is looked up, but the table has no such entry", _advice(project, text)
            )
    if unclear and clean:
        raise Undecided(
            f"{', '.join(unclear)}: what is looked up is no literal, so it cannot be compared with the table\n"
            f'    if this module looks up whatever it is given, add to [tool.pytest-actor-envs] readers: "{module.path}"'
        )


def _advice(project: Project, text: str) -> tuple[str, ...]:
    module, _, name = text.rpartition(".")
    found = project.modules.definition(module, name) if module else None
    same = [entry.name for entry in _meaning(project, found)] if found is not None else []
    close = same or difflib.get_close_matches(text, [entry.name for entry in project.entries], n=1)
    return (f"did you mean '{close[0]}'?",) if close else ("add it to the table:", f'    "{text}": None,')


def _meaning(project: Project, definition: ClassDefinition) -> list[Entry]:
    """The entries whose name is a definition's own or resolves to it."""
    entries = project.once("entries by definition", lambda: _by_definition(project))
    return entries.get((definition.module, definition.name), [])


def _by_definition(project: Project) -> dict[tuple[str, str], list[Entry]]:
    entries: dict[tuple[str, str], list[Entry]] = {}
    for entry in project.entries:
        meant = {(entry.module, entry.class_name)}
        with contextlib.suppress(SyntaxError):
            found = project.modules.definition(entry.module, entry.class_name)
            if found is not None:
                meant.add((found.module, found.name))
        for definition in meant:
            entries.setdefault(definition, []).append(entry)
    return entries


def mutants(project: Project) -> Iterator[Mutant]:
    for subject in subjects(project):
        if isinstance(subject, ActorClass):
            for entry in _meaning(project, subject.definition):
                yield Mutant(subject.name, "entry-removed", without_entry(project, entry))
                yield Mutant(subject.name, "entry-misspelt", renamed_entry(project, entry, f"{entry.name}Gone"))
            continue
        module = _module(project, subject.name)
        unknown = "elsewhere.workers.NotInTheTable"
        for lookup in _uses(project, module).lookups:
            if literal_text(project.modules, module, lookup.node) is not None:
                yield Mutant(
                    subject.name, "lookup-misspelt", replaced_node(project, module.path, lookup.node, f'"{unknown}"')
                )
        for function in project.config.lookups[:1]:
            code = f'\ndef _added_by_a_mutant():\n    return {function.rpartition(".")[2]}("{unknown}")'
            yield Mutant(subject.name, "lookup-added", appended(project, module.path, code))
        if module.path != project.config.registry:
            code = f'\ndef _added_by_a_mutant():\n    {project.config.registry_name}["{unknown}"] = "python"'
            yield Mutant(subject.name, "registry-changed", appended(project, module.path, code))


GUARD = Guard("actor-registered", subjects, check, mutants)
