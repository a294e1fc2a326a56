"""What one Python file imports, and in what circumstances, by parsing."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pytest_actor_envs.sources.skeleton import NotUnderstood, skeleton

Version = tuple[int, int]
ALWAYS: tuple[Version, Version] = ((0, 0), (99, 0))

IMPORTERS = frozenset({"import_module", "__import__"})
RENAMED_IMPORTER = re.compile(rb"\bimport_module\s+as\s+(\w+)")
CATCHING = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


class ImportFact(NamedTuple):
    """One import statement, or one call of `import_module` with a literal.

    `level` and `module` are as written; `names` are what is imported from it, empty for a plain import. `attempts`
    are the `try` statements around it that go on without the package, outermost first: (line, stands in the part that
    is tried). It counts for the Pythons from `since` up to and without `before`.
    """

    level: int
    module: str
    names: tuple[str, ...]
    line: int
    column: int
    in_function: bool
    attempts: tuple[tuple[int, bool], ...]
    since: Version
    before: Version

    @property
    def is_hard(self) -> bool:
        """Whether a missing package stops the code that imports it."""
        return not self.attempts

    def counts_for(self, python: Version) -> bool:
        return self.since <= python < self.before


@dataclass(frozen=True, slots=True)
class _Circumstances:
    in_function: bool = False
    attempts: tuple[tuple[int, bool], ...] = ()
    since: Version = ALWAYS[0]
    before: Version = ALWAYS[1]


def import_facts(content: bytes) -> tuple[ImportFact, ...]:
    """The imports of a file's text, in order; those under TYPE_CHECKING are left out. Raises SyntaxError.

    Of a valid text they are those of its whole tree. An invalid one raises only where its skeleton is invalid as well.
    """
    try:
        return facts_of_tree(ast.parse(skeleton(content)), content)
    except (NotUnderstood, SyntaxError):
        return facts_of_tree(parsed(content), content)


def parsed(content: bytes, path: str = "<unknown>", version: tuple[int, int] | None = None) -> ast.Module:
    """The syntax tree of a text. Raises SyntaxError, for a null byte or an undecodable one as well.

    With `version` most of the syntax that this Python does not have is such an error.
    """
    try:
        return ast.parse(content, filename=path, feature_version=version)
    except (SyntaxError, ValueError) as error:  # a null byte may raise either, without saying where
        if isinstance(error, SyntaxError) and error.filename:
            with contextlib.suppress(ValueError):
                ast.parse(
                    content.decode("utf-8-sig"), filename=path, feature_version=version
                )  # a text's column counts characters
            raise
        raise SyntaxError(str(error), (path, 1, 1, None)) from None


def facts_of_tree(tree: ast.Module, content: bytes) -> tuple[ImportFact, ...]:
    """The imports of a parsed file; `content` is its text."""
    return tuple(_Reader(content).read(tree.body, _Circumstances()))


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._lines: list[bytes] | None = None
        self._has_calls = b"import_module" in content or b"__import__" in content
        renamed = RENAMED_IMPORTER.findall(content) if self._has_calls else []  # which takes a while for each file
        self._importers = IMPORTERS.union(name.decode() for name in renamed)

    def read(self, body: Iterable[ast.stmt], around: _Circumstances) -> Iterator[ImportFact]:
        for node in body:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield self._fact(0, alias.name, (), alias, around)
            elif isinstance(node, ast.ImportFrom):
                names = tuple(alias.name for alias in node.names)
                yield self._fact(node.level, node.module or "", names, node, around)
            elif isinstance(node, ast.If):
                yield from self._conditional(node, around)
            elif isinstance(node, ast.Try | ast.TryStar):
                yield from self._attempt(node, around)
            elif isinstance(node, ast.With | ast.AsyncWith):
                yield from self._calls(node.items, around)
                inside = around
                if any(_suppresses(item.context_expr) for item in node.items):
                    inside = replace(around, attempts=(*around.attempts, (node.lineno, True)))
                yield from self.read(node.body, inside)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from self._calls([*node.decorator_list, node.args], around)
                yield from self.read(node.body, replace(around, in_function=True))
            elif isinstance(node, ast.ClassDef):
                yield from self._calls([*node.decorator_list, *node.bases, *node.keywords], around)
                yield from self.read(node.body, around)
            elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
                yield from self._calls([node.test if isinstance(node, ast.While) else node.iter], around)
                yield from self.read(node.body, around)
                yield from self.read(node.orelse, around)
            elif isinstance(node, ast.Match):
                for case in node.cases:
                    yield from self.read(case.body, around)
            else:
                yield from self._calls([node], around)

    def _conditional(self, node: ast.If, around: _Circumstances) -> Iterator[ImportFact]:
        yield from self._calls([node.test], around)
        for branch, holds in ((node.body, True), (node.orelse, False)):
            inside = _under(node.test, holds, around)
            if inside is not None:
                yield from self.read(branch, inside)

    def _attempt(self, node: ast.Try | ast.TryStar, around: _Circumstances) -> Iterator[ImportFact]:
        catcher = next((handler for handler in node.handlers if _catches(handler.type)), None)
        goes_on = catcher is not None and not _always_raises(catcher.body)
        tried = replace(around, attempts=(*around.attempts, (node.lineno, True))) if goes_on else around
        instead = replace(around, attempts=(*around.attempts, (node.lineno, False))) if goes_on else around
        yield from self.read(node.body, tried)
        for handler in node.handlers:
            yield from self.read(handler.body, instead if handler is catcher else around)
        yield from self.read(node.orelse, tried)
        yield from self.read(node.finalbody, around)

    def _calls(self, nodes: Sequence[ast.AST], around: _Circumstances) -> Iterator[ImportFact]:
        if not self._has_calls:
            return
        for node in nodes:
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and _last(call.func) in self._importers:
                    module = _literal(_named_by(call))
                    if module and module[:1] != ".":
                        yield self._fact(0, module, (), call, around)

    def _fact(
        self,
        level: int,
        module: str,
        names: tuple[str, ...],
        node: ast.stmt | ast.expr | ast.alias,
        around: _Circumstances,
    ) -> ImportFact:
        column = node.col_offset
        if column and not self._content.isascii():
            if self._lines is None:
                self._lines = self._content.split(b"\n")
            column = len(self._lines[node.lineno - 1][:column].decode(errors="replace"))
        return ImportFact(
            level,
            module,
            names,
            node.lineno,
            column + 1,
            around.in_function,
            around.attempts,
            around.since,
            around.before,
        )


def _named_by(call: ast.Call) -> ast.expr | None:
    """What a call of `import_module` says for the module."""
    return next(iter(call.args), None) or next((word.value for word in call.keywords if word.arg == "name"), None)


def _literal(node: ast.expr | None) -> str | None:
    """The string that an expression is, an f-string without anything to fill in included."""
    if isinstance(node, ast.JoinedStr):
        parts = [_literal(part) for part in node.values]
        return None if None in parts else "".join(part or "" for part in parts)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _catches(kind: ast.expr | None) -> bool:
    """Whether a handler of this kind gets what a missing package raises."""
    if isinstance(kind, ast.Tuple):
        return any(_catches(item) for item in kind.elts)
    return kind is None or _last(kind) in CATCHING


def _suppresses(manager: ast.expr) -> bool:
    return (
        isinstance(manager, ast.Call)
        and _last(manager.func) == "suppress"
        and any(_catches(item) for item in manager.args)
    )


def _always_raises(body: Sequence[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _always_raises(last.body) and _always_raises(last.orelse)
    if isinstance(last, ast.With):
        return _always_raises(last.body)
    return isinstance(last, ast.Raise)


def _under(test: ast.expr, holds: bool, around: _Circumstances) -> _Circumstances | None:
    """The circumstances of the branch that runs if `test` is (not) true; `None` where it never runs."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _under(test.operand, not holds, around)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or):
        inside: _Circumstances | None = around
        for value in test.values:
            inside = None if inside is None else _under(value, holds, inside)
        return inside
    if _last(test) == "TYPE_CHECKING" or (isinstance(test, ast.Constant) and not test.value):
        return None if holds else around
    return _under_version(test, holds, around)


def _under_version(test: ast.expr, holds: bool, around: _Circumstances) -> _Circumstances | None:
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and _last(test.left) == "version_info"):
        return around
    try:
        value = ast.literal_eval(test.comparators[0])
    except ValueError:
        return around
    if not (isinstance(value, tuple) and value and all(isinstance(part, int) for part in value)):
        return around
    version = (value[0], value[1] if len(value) > 1 else 0)
    if not isinstance(test.ops[0], ast.GtE | ast.Lt):
        return around
    newer = isinstance(test.ops[0], ast.GtE) == holds
    inside = (
        replace(around, since=max(around.since, version))
        if newer
        else replace(around, before=min(around.before, version))
    )
    return inside if inside.since < inside.before else None
