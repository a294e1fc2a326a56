"""What names a wheel offers, told by parsing its files, without installing or importing anything."""

import ast
import dataclasses
import pathlib
import zipfile
from collections.abc import Iterator, Sequence

LAZY_CALLS = {"_LazyModule", "LazyImport", "attach"}
"""Functions that make a name, or a whole module, when it is first used: of transformers, SGLang and lazy-loader."""


@dataclasses.dataclass(frozen=True)
class Resolution:
    """What a wheel says about a name.

    Attributes:
        found: whether it exists.
        how: ``defined``, ``submodule``, ``re-exported from X``, ``lazy`` ..., or what is missing.
    """

    found: bool
    how: str


class Wheel:
    """The Python files of one wheel, read where they are needed."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._archive = zipfile.ZipFile(path)
        self._members = set(self._archive.namelist())
        self._trees: dict[str, ast.Module] = {}

    def file_of(self, module: str) -> str | None:
        """The member that holds a module, whether a file or a package."""
        stem = module.replace(".", "/")
        return next((name for name in (f"{stem}.py", f"{stem}/__init__.py") if name in self._members), None)

    def has_module(self, module: str) -> bool:
        """Whether there is such a module, package, namespace package or compiled module."""
        stem = module.replace(".", "/")
        return self.file_of(module) is not None or any(
            name.startswith((f"{stem}/", f"{stem}.cpython-", f"{stem}.abi3")) for name in self._members
        )

    def tree_of(self, member: str) -> ast.Module:
        """The parsed member."""
        if member not in self._trees:
            self._trees[member] = ast.parse(self._archive.read(member).decode("utf-8", "replace"), member)
        return self._trees[member]

    def resolve(self, module: str, name: str, seen: frozenset[tuple[str, str]] = frozenset()) -> Resolution:
        """Look a name up in a module, through re-exports within this wheel.

        Args:
            module: dotted.
            name: the empty string asks for the module itself.
            seen: what is being looked up already; modules may import each other.
        """
        if not self.has_module(module):
            return Resolution(False, f"there is no module {module}")
        if not name:
            return Resolution(True, "module")
        if (module, name) in seen:
            return Resolution(False, f"{module} and its neighbours only import {name} from each other")
        seen = seen | {(module, name)}
        member = self.file_of(module)
        found = None if member is None else self._in_file(module, member, name, seen)
        if found is not None and found.found:
            return found
        if self.has_module(f"{module}.{name}"):
            return Resolution(True, "submodule")
        return found or Resolution(False, f"{module} has no {name}")

    def _in_file(self, module: str, member: str, name: str, seen: frozenset[tuple[str, str]]) -> Resolution | None:
        tree = self.tree_of(member)
        package = module if member.endswith("/__init__.py") else module.rpartition(".")[0]
        at_run_time = self._bound(top_level(tree.body), package, name, seen)
        if at_run_time is not None:
            return at_run_time
        if not is_lazy(tree):
            return None
        if name in {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}:
            return Resolution(True, "lazy: a table of the module names it")
        for_checkers = self._bound(type_checking_only(tree), package, name, seen)
        if for_checkers is not None and for_checkers.found:
            return Resolution(True, f"lazy: {for_checkers.how} for type checkers")
        return for_checkers

    def _bound(
        self, statements: Iterator[ast.stmt], package: str, name: str, seen: frozenset[tuple[str, str]]
    ) -> Resolution | None:
        missing = None
        for statement in statements:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and statement.name == name:
                return Resolution(True, "defined")
            if isinstance(statement, ast.Assign | ast.AnnAssign) and name in targets(statement):
                lazy = isinstance(statement.value, ast.Call) and call_name(statement.value) in LAZY_CALLS
                return Resolution(True, f"lazy: {ast.unparse(statement)}" if lazy else "defined")
            if isinstance(statement, ast.ImportFrom):
                source = absolute(package, statement)
                for alias in statement.names:
                    if (alias.asname or alias.name) == name:
                        through = self._through(source, alias.name, seen)
                        if through.found:
                            return through
                        missing = through
                    if alias.name == "*" and self.has_module(source) and self.resolve(source, name, seen).found:
                        return Resolution(True, f"re-exported from {source}")
        return missing

    def _owns(self, module: str) -> bool:
        """Whether a package above a module is this wheel's own, so that nobody else can have the module."""
        parts = module.split(".")
        return any(self.file_of(".".join(parts[:count])) is not None for count in range(1, len(parts)))

    def _through(self, source: str, name: str, seen: frozenset[tuple[str, str]]) -> Resolution:
        if not self.has_module(source) and not self._owns(source):
            return Resolution(True, f"re-exported from {source}, another distribution's")
        inner = self.resolve(source, name, seen)
        return Resolution(inner.found, f"re-exported from {source}" if inner.found else inner.how)


def is_lazy(tree: ast.Module) -> bool:
    """Whether a module makes names when they are asked for, by a ``__getattr__`` or a lazy module in its place.

    What it makes can then only be told from strings in it, or from what it imports for type checkers.
    """
    functions = {statement.name for statement in top_level(tree.body) if isinstance(statement, ast.FunctionDef)}
    calls = {call_name(node) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return "__getattr__" in functions or bool(calls & LAZY_CALLS)


def call_name(call: ast.Call) -> str:
    """The last part of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def top_level(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when a module is imported, those in ``if``, ``try`` and ``with`` blocks included."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from top_level([*([] if is_type_checking(statement) else statement.body), *statement.orelse])
        elif isinstance(statement, ast.Try):
            handlers = [child for handler in statement.handlers for child in handler.body]
            yield from top_level([*statement.body, *handlers, *statement.orelse, *statement.finalbody])
        elif isinstance(statement, ast.With):
            yield from top_level(statement.body)
        else:
            yield statement


def type_checking_only(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements under ``if TYPE_CHECKING``, which never run."""
    for statement in tree.body:
        if isinstance(statement, ast.If) and is_type_checking(statement):
            yield from top_level(statement.body)


def is_type_checking(statement: ast.If) -> bool:
    """Whether an ``if`` tests ``TYPE_CHECKING`` or ``typing.TYPE_CHECKING``."""
    return ast.unparse(statement.test).rpartition(".")[2] == "TYPE_CHECKING"


def targets(statement: ast.Assign | ast.AnnAssign) -> set[str]:
    """Names that an assignment binds."""
    nodes = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return {node.id for target in nodes for node in ast.walk(target) if isinstance(node, ast.Name)}


def absolute(package: str, statement: ast.ImportFrom) -> str:
    """The dotted name that a ``from`` import means inside a package."""
    parts = package.split(".")
    above = parts[: len(parts) - statement.level + 1] if statement.level else []
    return ".".join([*above, *([statement.module] if statement.module else [])])
