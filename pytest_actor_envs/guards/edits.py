"""Exact edits of a project's files, for mutants: each gives the overlay that an edit comes to."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Mapping, Sequence

from pytest_actor_envs.model import MutantDoesNotApply
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.table import Entry

Files = Mapping[str, str | None]


def replaced_text(project: Project, path: str, old: str, new: str) -> Files:
    """The first `old` in a file made `new`. Raises MutantDoesNotApply where it does not stand there."""
    text = _text(project, path)
    if old not in text:
        raise MutantDoesNotApply(f"{path} does not hold {old!r}")
    return {path: text.replace(old, new, 1)}


def replaced_span(project: Project, path: str, span: tuple[int, int], new: str) -> Files:
    """The characters from `span[0]` to `span[1]` of a file made `new`."""
    text = _text(project, path)
    return {path: text[: span[0]] + new + text[span[1] :]}


def replaced_node(project: Project, path: str, node: ast.stmt | ast.expr, new: str) -> Files:
    """The source of a syntax tree's node made `new`; the node is one of the file's own tree."""
    mark, text = mark_and_text(project, path)
    lines = text.encode().splitlines(keepends=True)
    content, starts = b"".join(lines), [0, *itertools.accumulate(map(len, lines))]
    start = starts[node.lineno - 1] + node.col_offset
    end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[operator]
    return {path: mark + (content[:start] + new.encode() + content[end:]).decode()}


def appended(project: Project, path: str, code: str) -> Files:
    """`code` run last when the module is imported: at the end, but above a script's `__main__` block."""
    mark, text = mark_and_text(project, path)
    for node in ast.parse(text).body:
        if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
            lines = text.split("\n")
            return {path: mark + "\n".join([*lines[: node.lineno - 1], code, *lines[node.lineno - 1 :]])}
    return {path: f"{mark}{text.rstrip()}\n\n{code}\n"}


def written_extras(extras: Sequence[str] | None) -> str:
    """The literal of an entry's value."""
    return "None" if extras is None else "[" + ", ".join(f'"{extra}"' for extra in extras) + "]"


def with_extras(project: Project, entry: Entry, extras: Sequence[str] | None) -> Files:
    """The entry's value made `extras`."""
    return replaced_span(project, project.config.leaf, entry.value_span, written_extras(extras))


def replaced_extra(project: Project, entry: Entry, old: str, new: str) -> Files:
    """One extra of the entry renamed."""
    return with_extras(project, entry, [new if extra == old else extra for extra in entry.extras or ()])


def renamed_entry(project: Project, entry: Entry, name: str) -> Files:
    """The entry's key made `name`."""
    return replaced_span(project, project.config.leaf, entry.key_span, f'"{name}"')


SPACES = " "
COMMA_BEHIND = re.compile(r"\A(\s*,)? *")


def without_entry(project: Project, entry: Entry) -> Files:
    """The entry removed, with the comma behind it; comments above it stay."""
    text = _text(project, project.config.leaf)
    before, behind = text[: entry.key_span[0]], text[entry.value_span[1] :]
    return {project.config.leaf: before.rstrip(SPACES) + COMMA_BEHIND.sub("", behind)}


def added_entry(project: Project, name: str, extras: Sequence[str] | None) -> Files:
    """A new entry, written above the first one."""
    first = project.entries[0].key_span[0]
    return replaced_span(project, project.config.leaf, (first, first), f'"{name}": {written_extras(extras)},\n    ')


def _text(project: Project, path: str) -> str:
    try:
        return project.tree.read_text(path)
    except FileNotFoundError:
        raise MutantDoesNotApply(f"there is no file {path}") from None


def mark_and_text(project: Project, path: str) -> tuple[str, str]:
    """The byte order mark of a file, if it has one, and the text behind it, where its readers begin to count."""
    text = _text(project, path)
    behind = text.removeprefix("\ufeff")
    return text[: len(text) - len(behind)], behind


def in_folder(folder: str, name: str) -> str:
    """The path of `name` in `folder`, which is empty for the root."""
    return f"{folder}/{name}" if folder else name


def with_first_line(project: Project, path: str, code: str) -> Files:
    """`code` inserted above the first statement that is neither the docstring nor a `__future__` import."""
    mark, text = mark_and_text(project, path)
    body = ast.parse(text).body
    after = 0
    for index, node in enumerate(body):
        is_docstring = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            after = node.end_lineno  # type: ignore[assignment]
    lines = text.split("\n")
    return {path: mark + "\n".join([*lines[:after], code, *lines[after:]])}


def added_twin(project: Project, name: str, extras: Sequence[str] | None, twin: Entry) -> Files:
    """A new entry written above the first one, and `twin` given the same extras."""
    text = _text(project, project.config.leaf)
    value = written_extras(extras)
    changed = text[: twin.value_span[0]] + value + text[twin.value_span[1] :]
    first = project.entries[0].key_span[0]
    return {project.config.leaf: f'{changed[:first]}"{name}": {value},\n    {changed[first:]}'}
