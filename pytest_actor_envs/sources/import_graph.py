"""Which modules of the project import which, and what they import from elsewhere, each with the place of the import."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.imports import ImportFact, Version
from pytest_actor_envs.sources.standard_library import in_standard_library
from pytest_actor_envs.sources.tree import Tree

ReadFacts = Callable[[bytes], "tuple[ImportFact, ...] | SyntaxError"]


class Edge(NamedTuple):
    """One import of a module of the project by another."""

    target: str
    fact: ImportFact


class Foreign(NamedTuple):
    """One import of something that is no module of the project. `names` are the dotted names that it may stand for."""

    names: tuple[str, ...]
    fact: ImportFact
    module: str
    path: str

    @property
    def location(self) -> Location:
        return Location(self.path, self.fact.line, self.fact.column)


@dataclass(frozen=True, slots=True)
class Links:
    """What one module imports, in order. `error` is set where it cannot be parsed.

    `foreign` has no imports of the standard library but those that go on without it. `third_party` are those of other
    distributions, `executed` the hard edges; each is given for the module as a whole and without its functions.
    """

    edges: tuple[Edge, ...] = ()
    foreign: tuple[Foreign, ...] = ()
    error: SyntaxError | None = None
    third_party: tuple[Foreign, ...] = ()
    third_party_at_top: tuple[Foreign, ...] = ()
    executed: tuple[str, ...] = ()
    executed_at_top: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reach:
    """Everything that some modules import, transitively.

    `foreign` are the imports of other distributions. `unreadable` are paths that do not parse, with the error.
    """

    own: frozenset[str]
    start: tuple[str, ...]
    foreign: tuple[Foreign, ...]
    modules: Set[str]
    unreadable: tuple[tuple[str, SyntaxError], ...]


class ImportGraph:
    """Imports between the modules of `packages`, for one version of Python."""

    def __init__(self, tree: Tree, packages: Sequence[str], python: Version, read: ReadFacts) -> None:
        self._tree = tree
        self.answers = tree.answers
        self._packages = tuple(dict.fromkeys(packages))
        self._python = python
        self._read = read

    @property
    def paths(self) -> Mapping[str, str]:
        """The file of each module."""
        return self.answers.get(("module paths",), self._module_paths)

    def _module_paths(self) -> Mapping[str, str]:
        tree = self._tree
        paths = {_dotted(path): path for package in self._packages for path in tree.files(package, ".py")}
        return {**paths, **{package: f"{package}.py" for package in self._packages if tree.exists(f"{package}.py")}}

    def links(self, module: str) -> Links:
        """What a module of the project imports."""
        return self.answers.get(("links", module), lambda: self._read_links(module))

    def _read_links(self, module: str) -> Links:
        path = self.paths[module]
        facts = self._tree.reduced("imports", path, self._read)
        return Links(error=facts) if isinstance(facts, SyntaxError) else self._resolved(module, path, facts)

    def _resolved(self, module: str, path: str, facts: Iterable[ImportFact]) -> Links:
        edges: list[Edge] = []
        foreign: list[Foreign] = []
        third_party: list[Foreign] = []
        package = module if path.endswith("__init__.py") else module.rpartition(".")[0]
        for fact in facts:
            if not fact.counts_for(self._python):
                continue
            base = fact.module
            if fact.level:
                above = package.split(".")[: max(len(package.split(".")) - fact.level + 1, 0)]
                base = ".".join([*above, fact.module] if fact.module else above)
            if base.partition(".")[0] in self._packages:
                targets = dict.fromkeys(self.executed(base))
                for name in fact.names:
                    targets.update(dict.fromkeys(self.executed(f"{base}.{name}")))
                edges.extend(Edge(target, fact) for target in targets if target != module)
            elif base:
                is_standard = in_standard_library(base, self._python)
                if is_standard and fact.is_hard:
                    continue
                names = tuple(f"{base}.{name}" for name in fact.names if name != "*") or (base,)
                found = Foreign(names, fact, module, path)
                foreign.append(found)
                if not is_standard:
                    third_party.append(found)
        hard = [edge for edge in edges if edge.fact.is_hard]
        return Links(
            tuple(edges),
            tuple(foreign),
            None,
            tuple(third_party),
            tuple(item for item in third_party if not item.fact.in_function),
            tuple(dict.fromkeys(edge.target for edge in hard)),
            tuple(dict.fromkeys(edge.target for edge in hard if not edge.fact.in_function)),
        )

    def text_of(self, module: str) -> str:
        """The text of a module of the project."""
        return self._tree.read_bytes(self.paths[module]).decode(errors="replace")

    def executed(self, name: str) -> tuple[str, ...]:
        """The modules that importing `name` executes: it and the packages above it, as far as they have files."""
        return self.answers.get(("executed", name), lambda: self._find_executed(name))

    def _find_executed(self, name: str) -> tuple[str, ...]:
        parts, paths = name.split("."), self.paths
        names = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
        return tuple(found for found in names if found in paths)

    def reach(self, own: Iterable[str], others: Iterable[str] = ()) -> Reach:
        """What importing `own` and `others` imports, and the functions of `own` besides (policy B), nearest first."""
        with_functions = frozenset(module for module in own if module in self.paths)
        start = tuple(dict.fromkeys(found for name in (*own, *others) for found in self.executed(name)))
        seen = set(start)
        foreign: list[Foreign] = []
        unreadable: list[tuple[str, SyntaxError]] = []
        waiting = list(start)
        for module in waiting:  # grows meanwhile
            links = self.links(module)
            if links.error is not None:
                unreadable.append((self.paths[module], links.error))
            whole = module in with_functions
            foreign.extend(links.third_party if whole else links.third_party_at_top)
            for target in links.executed if whole else links.executed_at_top:
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return Reach(with_functions, start, tuple(foreign), seen, tuple(unreadable))

    def chain(self, reach: Reach, module: str) -> tuple[Location, ...]:
        """The places of the imports that lead from an own module to `module`, in order, as few as there can be."""
        parents: dict[str, tuple[str, Edge]] = {}
        seen = set(reach.start)
        waiting = list(reach.start)
        for importer in waiting:  # grows meanwhile
            whole = importer in reach.own
            for edge in self.links(importer).edges:
                if edge.target not in seen and edge.fact.is_hard and (whole or not edge.fact.in_function):
                    seen.add(edge.target)
                    parents[edge.target] = (importer, edge)
                    waiting.append(edge.target)
            if module in seen:
                break
        steps = []
        while module in parents:
            module, edge = parents[module]
            steps.append(Location(self.paths[module], edge.fact.line, edge.fact.column))
        return tuple(reversed(steps))


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
