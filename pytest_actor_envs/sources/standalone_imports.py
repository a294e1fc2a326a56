"""The imports of one standalone script, anywhere in it, and the versions of Python for which each one counts."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.modules import dotted_name, imported_names, syntax_error_place
from pytest_actor_envs.sources.parsed_files import ParsedFiles
from pytest_actor_envs.sources.positions import location_of

Version = tuple[int, int]

IMPORTING = frozenset({"__import__", "builtins.__import__", "importlib.import_module", "importlib.__import__"})


@dataclass(frozen=True, slots=True)
class StandaloneImport:
    """One import. `module` is `None` where no literal names it, and starts with nothing before a dot if relative.

    It counts for the Pythons from `oldest` to `newest`, both included.
    """

    module: str | None
    location: Location
    oldest: Version
    newest: Version


class UnsupportedSyntax(Exception):
    """The text is not valid for the oldest Python; `location` says where."""

    def __init__(self, message: str, location: Location) -> None:
        super().__init__(message)
        self.location = location


def standalone_imports(
    files: ParsedFiles, path: str, text: str, oldest: Version, newest: Version
) -> list[StandaloneImport]:
    """The imports of `text`, those under TYPE_CHECKING left out. Raises UnsupportedSyntax.

    `ast` refuses most of what `oldest` does not know; what it lets pass is looked for in the tree.
    """
    content = text.encode()
    try:
        tree = files.whole(path, content, oldest)
    except SyntaxError as error:
        place = _newer_block(path, text) or syntax_error_place(error, path)
        raise UnsupportedSyntax(error.msg, place) from None
    for statement in tree.body:
        for message, node in files.of_statement(_newer_parts, statement, oldest):
            raise UnsupportedSyntax(message, location_of(path, content, node))
    imported = tuple(imported_names(tree).items())
    return [
        StandaloneImport(module, location_of(path, content, node), since, until)
        for statement in tree.body
        for module, node, since, until in files.of_statement(_imports_in, statement, imported, oldest, newest)
    ]


def _newer_block(path: str, text: str) -> Location | None:
    """The first statement of a kind that the parser refuses only where it ends, `None` where there is none."""
    try:
        blocks = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Match | ast.TryStar)]
    except (SyntaxError, ValueError):
        return None
    return min((location_of(path, text.encode(), block) for block in blocks), default=None)


def _newer_parts(statement: ast.stmt, oldest: Version) -> list[tuple[str, ast.stmt | ast.expr]]:
    """Syntax that `ast.parse(feature_version=...)` accepts although the version does not have it, and where it is."""
    return [found for node in ast.walk(statement) for found in _newer_than(node, oldest)]


def _newer_than(node: ast.AST, oldest: Version) -> Iterator[tuple[str, ast.stmt | ast.expr]]:
    if oldest < (3, 9) and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        if any(dotted_name(item.func if isinstance(item, ast.Call) else item) is None for item in node.decorator_list):
            yield "decorators other than a dotted name or its call need Python 3.9", node
    if oldest < (3, 11) and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        if any(isinstance(item, ast.Starred) for item in node.slice.elts):
            yield "unpacking in a subscript needs Python 3.11", node


Found = tuple[str | None, ast.expr | ast.stmt | ast.alias, Version, Version]
"""An import's module, the node, and the versions that it counts for."""


def _imports_in(
    statement: ast.stmt, imported: Sequence[tuple[str, str]], oldest: Version, newest: Version
) -> list[Found]:
    return list(_Reader(dict(imported)).read([statement], oldest, newest))


class _Reader:
    """Finds imports; `imported` is what the file's imports bind names to."""

    def __init__(self, imported: Mapping[str, str]) -> None:
        self._imported = imported

    def read(self, nodes: Sequence[ast.AST], oldest: Version, newest: Version) -> Iterator[Found]:
        for node in nodes:
            if isinstance(node, ast.If):
                bounds = self._bounds(node.test, oldest, newest)
                for branch, versions in ((node.body, bounds[0]), (node.orelse, bounds[1])):
                    if versions is not None:
                        yield from self.read(branch, *versions)
                yield from self.read([node.test], oldest, newest)
                continue
            yield from self._of_node(node, oldest, newest)
            yield from self.read(list(ast.iter_child_nodes(node)), oldest, newest)

    def _of_node(self, node: ast.AST, oldest: Version, newest: Version) -> Iterator[Found]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, alias, oldest, newest
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node, oldest, newest
        elif isinstance(node, ast.Call) and self._imports(node.func):
            first = (
                node.args[0] if node.args else next((item.value for item in node.keywords if item.arg == "name"), None)
            )
            literal = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
            yield literal, node, oldest, newest

    def _imports(self, function: ast.expr) -> bool:
        return self._full_name(function) in IMPORTING

    def _full_name(self, node: ast.expr) -> str | None:
        """The dotted name that an expression stands for, `None` for any other expression."""
        head, dot, rest = (dotted_name(node) or "").partition(".")
        return f"{self._imported.get(head, head)}{dot}{rest}" or None

    def _bounds(
        self, test: ast.expr, oldest: Version, newest: Version
    ) -> tuple[tuple[Version, Version] | None, tuple[Version, Version] | None]:
        """The versions for which the branch and its alternative count; `None` for none."""
        everywhere = (oldest, newest)
        if self._full_name(test) == "typing.TYPE_CHECKING":
            return None, everywhere
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            then, otherwise = self._bounds(test.operand, oldest, newest)
            return otherwise, then
        split = self._version_test(test)
        if split is None:
            return everywhere, everywhere
        newer, version = split
        below = (oldest, min(newest, (version[0], version[1] - 1)))
        above = (max(oldest, version), newest)
        parts = [part if part[0] <= part[1] else None for part in (above, below)]
        return (parts[0], parts[1]) if newer else (parts[1], parts[0])

    def _version_test(self, test: ast.expr) -> tuple[bool, Version] | None:
        """(whether the test holds from the version on, that version) of `sys.version_info >= (3, x)` and its kin."""
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return None
        if self._full_name(test.left) != "sys.version_info":
            return None
        try:
            value = ast.literal_eval(test.comparators[0])
        except ValueError:
            return None
        if not isinstance(value, tuple) or len(value) < 2 or not all(isinstance(part, int) for part in value):
            return None
        version = (value[0], value[1])
        operator = test.ops[0]
        if isinstance(operator, ast.GtE) or (isinstance(operator, ast.Gt) and len(value) == 2):
            return True, version
        if isinstance(operator, ast.Lt):
            return False, version
        return None
