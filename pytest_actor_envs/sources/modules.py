"""The guarded project's Python modules by parsing: which file is a module, and where a name is defined."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.parsed_files import ParsedFiles
from pytest_actor_envs.sources.positions import location_of
from pytest_actor_envs.sources.tree import Tree


@dataclass(frozen=True, slots=True)
class ClassDefinition:
    """A top-level binding that a name resolves to.

    `node` is the `class` statement, or the assignment (`X = ray.remote(...)(XImpl)`), in `module`.
    """

    module: str
    name: str
    location: Location
    node: ast.ClassDef | ast.Assign | ast.AnnAssign


Bound = ast.ClassDef | ast.Assign | ast.AnnAssign | tuple[str, str]


@dataclass(frozen=True)
class Module:
    """One parsed file, as far as guards look (see Modules)."""

    name: str
    path: str
    tree: ast.Module
    content: bytes

    def at(self, node: ast.stmt | ast.expr) -> Location:
        """Where a node of the file stands."""
        return location_of(self.path, self.content, node)

    @cached_property
    def bindings(self) -> Mapping[str, Bound]:
        """What binds each name last at the top level: a definition, or (module, attribute) that it is imported from."""
        return _bindings(self.tree, self.name, self.path)

    @cached_property
    def _imported(self) -> Mapping[str, str]:
        return imported_names(self.tree, self.name, self.path)

    @cached_property
    def assigned(self) -> Mapping[str, Sequence[ast.expr]]:
        """The values that the top level assigns to each name without an annotation, in order."""
        found: dict[str, list[ast.expr]] = {}
        for node in statements(self.tree.body):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        found.setdefault(target.id, []).append(node.value)
        return found

    def full_name(self, dotted: str) -> str:
        """A dotted name with its first part replaced by what the top level's imports bind it to."""
        head, dot, rest = dotted.partition(".")
        return f"{self._imported.get(head, head)}{dot}{rest}"


class Modules:
    """Modules below the root of `tree`; `packages` are the top-level packages that belong to the project.

    Parsed files are shared between instances through `files`. The modules that are found are excerpts: of functions, they
    hold those that import something or that mention one of `words`, and text that names a module of the packages.
    """

    def __init__(self, tree: Tree, packages: Sequence[str], files: ParsedFiles, words: Sequence[str] = ()) -> None:
        self._tree = tree
        self.packages = tuple(packages)
        self._files = files
        self._words = (*words, *(f"{quote}{package}." for package in packages for quote in ("'", '"')))

    def path_of(self, module: str) -> str | None:
        """The file of a module, `None` where there is none."""
        base = module.replace(".", "/")
        return next((path for path in (f"{base}/__init__.py", f"{base}.py") if self._tree.exists(path)), None)

    def parsed(self, path: str) -> ast.Module:
        """The syntax tree of a whole file. Raises SyntaxError."""
        return self._files.whole(path, self._tree.read_bytes(path))

    def excerpt(self, path: str) -> ast.Module:
        """The syntax tree of a file without the functions that nobody looks into. Raises SyntaxError."""
        return self._files.excerpt(path, self._tree.read_bytes(path), self._words)

    def find(self, module: str) -> Module | None:
        """The module by its dotted name. Raises SyntaxError."""
        return self._tree.answers.get(("module", module), lambda: self._find(module))

    def _find(self, module: str) -> Module | None:
        path = self.path_of(module)
        return None if path is None else Module(module, path, self.excerpt(path), self._tree.read_bytes(path))

    def names(self) -> Iterator[str]:
        """Dotted names of all modules of the packages, sorted."""
        for package in self.packages:
            for path in self._tree.files(package, ".py"):
                yield path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def definition(self, module: str, name: str) -> ClassDefinition | None:
        """What `module.name` resolves to, through re-exports (cycles end); `None` where nothing does.

        Raises SyntaxError of the file that cannot be parsed.
        """
        return self._tree.answers.get(("definition", module, name), lambda: self._definition(module, name, set()))

    def _definition(self, module: str, name: str, seen: set[tuple[str, str]]) -> ClassDefinition | None:
        while (module, name) not in seen:
            seen.add((module, name))
            found = self.find(module)
            if found is None:
                return None
            bound = found.bindings.get(name)
            if bound is None:
                return self._through_stars(found, name, seen)
            if isinstance(bound, tuple):
                module, name = bound
                continue
            return ClassDefinition(module, name, found.at(bound), bound)
        return None

    def unaliased(self, found: ClassDefinition) -> ClassDefinition:
        """What a definition stands for where it is another name of one (`X = Y`), else itself. Raises SyntaxError."""
        seen: set[tuple[str, str]] = set()
        while (found.module, found.name) not in seen:
            seen.add((found.module, found.name))
            if isinstance(found.node, ast.ClassDef) or not isinstance(found.node.value, ast.Name):
                break
            found = self.definition(found.module, found.node.value.id) or found
        return found

    def _through_stars(self, module: Module, name: str, seen: set[tuple[str, str]]) -> ClassDefinition | None:
        if name.startswith("_"):
            return None
        for node in statements(module.tree.body):
            if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
                target = absolute(node, module.name, module.path)
                found = self._definition(target, name, seen)
                if found is not None:
                    return found
        return None

    def top_level_names(self, module: str) -> list[str]:
        """Names of the classes that a module defines or imports at its top level, sorted."""
        found = self.find(module)
        names: set[str] = set()
        for node in statements(found.tree.body if found else ()):
            if isinstance(node, ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.ImportFrom):
                names.update(alias.asname or alias.name for alias in node.names)
        return sorted(names)

    def modules_defining(self, class_name: str) -> list[str]:
        """Modules of the packages that define `class_name` themselves, sorted; files that do not parse are passed over."""
        found = []
        for module in self.names():
            path = self.path_of(module)
            if path is None or class_name.encode() not in self._tree.read_bytes(path):
                continue
            try:
                parsed = self.find(module)
            except SyntaxError:
                continue
            if parsed is not None and not isinstance(parsed.bindings.get(class_name, ("", "")), tuple):
                found.append(module)
        return found


def syntax_error_place(error: SyntaxError, path: str) -> Location:
    """Where the file at `path` does not parse; what the error does not say, or says as 0, is 1."""
    return Location(path, max(error.lineno or 1, 1), max(error.offset or 1, 1))


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported: also those under `if`, `try`, `with` and loops, in order."""
    for node in body:
        yield node
        for field in ("body", "handlers", "orelse", "finalbody", "cases"):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            for child in getattr(node, field, ()):
                yield from statements(child.body if isinstance(child, ast.ExceptHandler | ast.match_case) else [child])


def _bindings(tree: ast.Module, module: str, path: str) -> dict[str, Bound]:
    bound: dict[str, Bound] = {}
    for node in statements(tree.body):
        if isinstance(node, ast.ClassDef):
            bound[node.name] = node
        elif isinstance(node, ast.Assign):
            bound.update({target.id: node for target in node.targets if isinstance(target, ast.Name)})
        elif isinstance(node, ast.AnnAssign):
            if isinstance(node.target, ast.Name) and node.value:
                bound[node.target.id] = node
        elif isinstance(node, ast.ImportFrom):
            source = absolute(node, module, path)
            bound.update({alias.asname or alias.name: (source, alias.name) for alias in node.names})
    return bound


def absolute(node: ast.ImportFrom, module: str, path: str) -> str:
    """The absolute name of the module that `node`, in `module` at `path`, imports from."""
    if not node.level:
        return node.module or ""
    package = module if path.endswith("__init__.py") else module.rpartition(".")[0]
    for _ in range(node.level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{node.module}" if node.module else package


def dotted_name(node: ast.expr) -> str | None:
    """`a.b.c` of an expression that is a plain dotted name, else `None`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        prefix = dotted_name(node.value)
        return None if prefix is None else f"{prefix}.{node.attr}"
    return None


def imported_names(tree: ast.Module, module: str = "", path: str = "") -> dict[str, str]:
    """What the imports at a module's top level bind names to.

    After `from ray import remote` it is `ray.remote` for `remote`, and after `import ray as r` it is `ray` for `r`.
    """
    full: dict[str, str] = {}
    for node in statements(tree.body):
        if isinstance(node, ast.Import):
            full.update({alias.asname: alias.name for alias in node.names if alias.asname})
        elif isinstance(node, ast.ImportFrom):
            source = absolute(node, module, path)
            full.update({alias.asname or alias.name: f"{source}.{alias.name}" for alias in node.names})
    return full
