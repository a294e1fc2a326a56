"""The imports of one standalone script, anywhere in it, and the versions of Python for which each one counts."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.modules import dotted_name, imported_name
from pytest_actor_envs.sources.positions import location_of

Version = tuple[int, int]


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


def standalone_imports(path: str, text: str, oldest: Version, newest: Version) -> list[StandaloneImport]:
    """The imports of `text`, those under TYPE_CHECKING left out. Raises UnsupportedSyntax.

    `ast` refuses most of what `oldest` does not know; what it lets pass is looked for in the tree.
    """
    try:
        tree = ast.parse(text, feature_version=oldest)
    except (SyntaxError, ValueError) as error:
        line, column = getattr(error, "lineno", 1) or 1, getattr(error, "offset", 1) or 1
        place = _newer_block(path, text) or Location(path, line, max(column, 1))
        raise UnsupportedSyntax(getattr(error, "msg", str(error)), place) from None
    for node in ast.walk(tree):
        message = _newer_than(node, oldest)
        if message:
            assert isinstance(node, ast.stmt | ast.expr)
            raise UnsupportedSyntax(message, location_of(path, text.encode(), node))
    return list(_Reader(path, text, tree).read(tree.body, oldest, newest))


def _newer_block(path: str, text: str) -> Location | None:
    """The first statement of a kind that the parser refuses only where it ends, `None` where there is none."""
    try:
        blocks = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Match | ast.TryStar)]
    except (SyntaxError, ValueError):
        return None
    return min((location_of(path, text.encode(), block) for block in blocks), default=None)


def _newer_than(node: ast.AST, oldest: Version) -> str | None:
    """Syntax that `ast.parse(feature_version=...)` accepts although the version does not have it."""
    if oldest < (3, 9) and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        if any(dotted_name(item.func if isinstance(item, ast.Call) else item) is None for item in node.decorator_list):
            return "decorators other than a dotted name or its call need Python 3.9"
    if oldest < (3, 11) and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        if any(isinstance(item, ast.Starred) for item in node.slice.elts):
            return "unpacking in a subscript needs Python 3.11"
    return None


class _Reader:
    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.path = path
        self.content = text.encode()
        self.tree = tree

    def read(self, nodes: Sequence[ast.AST], oldest: Version, newest: Version) -> Iterator[StandaloneImport]:
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

    def _of_node(self, node: ast.AST, oldest: Version, newest: Version) -> Iterator[StandaloneImport]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield StandaloneImport(alias.name, self._at(alias), oldest, newest)
        elif isinstance(node, ast.ImportFrom):
            yield StandaloneImport("." * node.level + (node.module or ""), self._at(node), oldest, newest)
        elif isinstance(node, ast.Call) and self._imports(node.func):
            first = (
                node.args[0] if node.args else next((item.value for item in node.keywords if item.arg == "name"), None)
            )
            literal = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
            yield StandaloneImport(literal, self._at(node), oldest, newest)

    def _imports(self, function: ast.expr) -> bool:
        name = dotted_name(function)
        if name is None:
            return False
        return imported_name(self.tree, name) in {
            "__import__", "builtins.__import__", "importlib.import_module", "importlib.__import__",
        }  # fmt: skip

    def _at(self, node: ast.expr | ast.stmt | ast.alias) -> Location:
        return location_of(self.path, self.content, node)

    def _bounds(
        self, test: ast.expr, oldest: Version, newest: Version
    ) -> tuple[tuple[Version, Version] | None, tuple[Version, Version] | None]:
        """The versions for which the branch and its alternative count; `None` for none."""
        everywhere = (oldest, newest)
        name = dotted_name(test)
        if name is not None and imported_name(self.tree, name) == "typing.TYPE_CHECKING":
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
        name, right = dotted_name(test.left), test.comparators[0]
        if name is None or imported_name(self.tree, name) != "sys.version_info":
            return None
        try:
            value = ast.literal_eval(right)
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
