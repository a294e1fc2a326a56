"""What each actor imports, what provides it, and whether its environment has that: the table's witness."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_actor_envs.sources.class_attributes import base_classes
from pytest_actor_envs.sources.distributions import Distributions
from pytest_actor_envs.sources.import_graph import Foreign, ImportGraph, Reach
from pytest_actor_envs.sources.imports import Version
from pytest_actor_envs.sources.modules import ClassDefinition, Modules
from pytest_actor_envs.sources.provision import Provision
from pytest_actor_envs.sources.pyproject import normalized
from pytest_actor_envs.sources.standard_library import in_standard_library
from pytest_actor_envs.sources.table import Entry


@dataclass(frozen=True, slots=True)
class OwnModules:
    """`own` are the module of an actor's class and those of its first-party base classes, `named` is the entry's."""

    own: tuple[str, ...]
    named: str
    literals: tuple[str, ...]
    """Modules of the project whose dotted names stand in string literals of the actor's own module."""


class Evidence:
    """Answers about entries of one state of the project's files; every answer is remembered."""

    def __init__(
        self, graph: ImportGraph, modules: Modules, distributions: Distributions, provision: Provision, python: Version
    ) -> None:
        self.graph = graph
        self.provision = provision
        self.distributions = distributions
        self._modules = modules
        self._python = python
        self._answers = graph.answers

    def own_modules(self, entry: Entry) -> OwnModules | None:
        """The modules that an entry's class is made of, `None` where it does not resolve."""
        return self.own_modules_of(entry.module, entry.class_name)

    def own_modules_of(self, module: str, name: str) -> OwnModules | None:
        """The same for a class, by a module and its name there."""
        return self._answers.get(("own modules", module, name), lambda: self._find_own(module, name))

    def _find_own(self, module: str, name: str) -> OwnModules | None:
        try:
            found = self._modules.definition(module, name)
            return None if found is None else self._found_own(module, found)
        except SyntaxError:
            return None

    def _found_own(self, named: str, found: ClassDefinition) -> OwnModules:
        own: dict[str, None] = {}
        waiting, seen = [found], set()
        while waiting:
            definition = waiting.pop(0)
            if (definition.module, definition.name) not in seen:
                seen.add((definition.module, definition.name))
                own[definition.module] = None
                waiting.extend(base_classes(self._modules, definition))
        return OwnModules(tuple(own), named, tuple(self._literal_modules(found.module)))

    def _literal_modules(self, module: str) -> Iterator[str]:
        parsed = self._modules.find(module)
        packages = "|".join(map(re.escape, self._modules.packages))
        pattern = re.compile(rf"(?:{packages})(?:\.\w+)+")
        if parsed is None or not re.search(rf"[\"'](?:{packages})\.", self.graph.text_of(module)):
            return  # walking the tree takes a hundred times as long
        for node in ast.walk(parsed.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and pattern.fullmatch(node.value):
                reached = self.graph.executed(node.value)
                if reached and reached[-1] != module:
                    yield reached[-1]

    def reach(self, own: OwnModules) -> Reach:
        """What an actor imports under policy B."""
        return self._answers.get(("reach", own), lambda: self.graph.reach(own.own, (own.named,)))

    def reach_with_literals(self, own: OwnModules) -> Reach:
        """The same, with the modules that string literals name."""
        if not own.literals:
            return self.reach(own)
        return self._answers.get(
            ("reach with literals", own), lambda: self.graph.reach(own.own, (own.named, *own.literals))
        )

    def reaches(self, entry: Entry, module: str) -> bool:
        """Whether an entry's actor imports a module of the project."""
        own = self.own_modules(entry)
        return own is not None and module in self.reach(own).modules

    def imports_at(self, entry: Entry, foreign: Foreign) -> bool:
        """Whether an entry's actor executes an import of something else, or may."""
        own = self.own_modules(entry)
        return (
            own is not None
            and self.reaches(entry, foreign.module)
            and (not foreign.fact.in_function or foreign.module in own.own)
        )

    def is_standard(self, foreign: Foreign) -> bool:
        """Whether an import is of the standard library of the actors' Python."""
        return in_standard_library(foreign.names[0], self._python)

    def third_party(self, reach: Reach) -> Iterator[tuple[Foreign, str, frozenset[str]]]:
        """(import, dotted name, distributions that provide it, none where unknown) of each that is not standard."""
        for foreign in reach.foreign:
            for name in foreign.names:
                yield foreign, name, self.distributions.of(name)

    def environment(self, extras: tuple[str, ...] | None) -> frozenset[str]:
        """The distributions that an entry's environment has; those of base for the driver's interpreter."""
        return self.provision.distributions(frozenset(map(normalized, extras or ())))

    def explained_by_imports(self, own: OwnModules, extras: tuple[str, ...]) -> Mapping[str, Foreign]:
        """The extras without which some hard import would lack its distribution, each with such an import."""
        have = self.environment(extras)
        explained: dict[str, Foreign] = {}
        imports = [
            (foreign, found & have)
            for foreign, _, found in self.third_party(self.reach_with_literals(own))
            if foreign.fact.is_hard and found & have
        ]
        for extra in extras:
            without = self.environment(tuple(other for other in extras if other != extra))
            witness = next((foreign for foreign, found in imports if not found & without), None)
            if witness is not None:
                explained[extra] = witness
        return explained
