"""`[tool.mutmut]` as the gate needs it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pytest_actor_envs.gate import kill_recorder
from pytest_actor_envs.project import dotted
from pytest_actor_envs.pyproject_problems import parsed, shown

HEADER = re.compile(r"[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*mutmut[ \t]*\][ \t]*(?:#.*)?\r?")
KILL_RECORDER = kill_recorder.__name__
LISTS = (
    *("source_paths", "only_mutate", "do_not_mutate", "do_not_mutate_patterns"),
    *("also_copy", "pytest_add_cli_args", "pytest_add_cli_args_test_selection"),
)
"""The keys whose values are lists of strings, as far as the gate reads or mutmut would fail on them."""
ISOLATIONS = ("forkserver", "fork")


class CodeMutantsNotConfigured(Exception):
    """pyproject.toml does not say which code to mutate, or mutmut's runs would not say which test kills."""


class MutmutTableMissing(CodeMutantsNotConfigured):
    """There is no `[tool.mutmut]` at all, so that nobody wants code mutants."""


@dataclass(frozen=True, slots=True)
class MutmutConfiguration:
    """What `[tool.mutmut]` says: folders, patterns of the files in them that are mutated, with exceptions; for pytest,
    arguments and selection."""

    sources: tuple[str, ...]
    patterns: tuple[str, ...]
    exceptions: tuple[str, ...]
    arguments: tuple[str, ...]
    selection: tuple[str, ...]

    def mutated_files(self, root: Path) -> tuple[str, ...]:
        """Paths of the files that are mutated, sorted."""
        found = {path.relative_to(root).as_posix() for source in self.sources for path in _python_files(root / source)}
        return tuple(sorted(path for path in found if _fits(path, self.patterns) and not _fits(path, self.exceptions)))


def _python_files(source: Path) -> Iterator[Path]:
    return iter([source]) if source.is_file() and source.suffix == ".py" else source.rglob("*.py")


def _fits(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def read_configuration(root: Path) -> MutmutConfiguration:
    """The configuration in pyproject.toml. Raises CodeMutantsNotConfigured with what to add, or to write otherwise."""
    pyproject = parsed((root / "pyproject.toml").read_bytes())
    table = pyproject.get("tool", "mutmut")
    if table is None:
        raise MutmutTableMissing(
            "pyproject.toml:1:1: gate: [tool.mutmut] is missing, so there are no code mutants\n"
            '    add it, with source_paths = ["package"] and only_mutate = ["package/module.py"]'
        )
    for key, what, way_out in _problems(table):
        raise CodeMutantsNotConfigured(f"{pyproject.at('tool', 'mutmut', *key)}: gate: {what}\n    {way_out}")
    return MutmutConfiguration(
        tuple(table.get("source_paths", ())),
        tuple(table.get("only_mutate") or ("*.py",)),
        tuple(table.get("do_not_mutate", ())),
        tuple(table["pytest_add_cli_args"]),
        tuple(table.get("pytest_add_cli_args_test_selection", ())),
    )


def _problems(table: Any) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """The keys of `[tool.mutmut]` that keep the gate from running mutmut, each with what is wrong and what to do."""
    if not isinstance(table, Mapping):
        yield (), f"'mutmut' has to be a table, not {shown(table)}", "write its settings below a line [tool.mutmut]"
        return
    for key in LISTS:
        value = table.get(key, [])
        if not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            yield (key,), f"'{key}' has to be a list of strings, not {shown(value)}", f'write {key} = ["..."]'
    if table.get("process_isolation", "fork") not in ISOLATIONS:
        what = f"'process_isolation' is no way that mutmut has: {shown(table['process_isolation'])}"
        yield ("process_isolation",), what, f"write one of {', '.join(ISOLATIONS)}"
    if KILL_RECORDER not in table.get("pytest_add_cli_args", ()):
        what = "mutmut's runs do not say which test kills a mutant"
        yield ("pytest_add_cli_args",), what, f'add to pytest_add_cli_args in [tool.mutmut]: "-p", "{KILL_RECORDER}"'
    if table.get("do_not_mutate_patterns"):
        what = "do_not_mutate_patterns in [tool.mutmut] hides mutants wherever the pattern fits"
        way_out = "remove it; a comment at the line, with a reason, lets an equivalent mutant be"
        yield ("do_not_mutate_patterns",), what, way_out


def check_files(root: Path, configuration: MutmutConfiguration) -> None:
    """Raises CodeMutantsNotConfigured where a source is not in the project, or no file is mutated."""
    at = parsed((root / "pyproject.toml").read_bytes()).at
    for index, source in enumerate(configuration.sources):
        if Path(source).is_absolute() or ".." in Path(source).parts or not (root / source).exists():
            raise CodeMutantsNotConfigured(
                f"{at('tool', 'mutmut', 'source_paths', index)}: gate: "
                f"'source_paths' names what is not in the project: {source}\n"
                "    name folders and files below pyproject.toml"
            )
    if not configuration.mutated_files(root):
        key = "only_mutate" if configuration.sources else "source_paths"
        raise CodeMutantsNotConfigured(
            f"{at('tool', 'mutmut', key)}: gate: '{key}' names no Python file, so there are no code mutants\n"
            '    write source_paths = ["package"] and only_mutate = ["package/module.py"], a path or pattern'
        )


def narrowed(root: Path, configuration: MutmutConfiguration, names: Iterable[str]) -> tuple[str, ...]:
    """The mutated files that can hold mutants with these names (`*` allowed); mutmut makes all mutants of a file."""
    beginnings = [name.partition("*")[0] for name in names]
    return tuple(
        path
        for path in configuration.mutated_files(root)
        if any(_may_begin(dotted(path), beginning) for beginning in beginnings)
    )


def _may_begin(module: str, beginning: str) -> bool:
    functions = f"{module}.x"
    return beginning.startswith(functions) or functions.startswith(beginning)


def changed(text: str, values: Mapping[str, Sequence[str] | float]) -> str:
    """pyproject.toml with these values in `[tool.mutmut]`, in place of those of the same key.

    Raises CodeMutantsNotConfigured where the table is written so that they cannot be put there.
    """
    written = _with_lines(text.split("\n"), {key: json.dumps(value) for key, value in values.items()})
    tool = tomllib.loads(text).get("tool", {})
    expected = {**tool, "mutmut": {**tool.get("mutmut", {}), **json.loads(json.dumps(values))}}
    if written is None or (_parsed(written) or {}).get("tool") != expected:
        raise CodeMutantsNotConfigured(
            f"pyproject.toml:1:1: gate: {', '.join(values)}, which this run needs in [tool.mutmut], cannot be put there\n"
            "    write the table as a line [tool.mutmut] with its keys below, one a line"
        )
    return written


def _with_lines(lines: Sequence[str], values: Mapping[str, str]) -> str | None:
    """The text with `key = value` behind the table's header and without what the table says of these keys."""
    header = next((number for number, line in enumerate(lines) if HEADER.fullmatch(line)), None)
    if header is None:
        return None
    end = "\r" if lines[header].endswith("\r") else ""
    above, left = lines[: header + 1], list(lines[header + 1 :])
    kept: list[str] = []
    while left and not left[0].lstrip().startswith("["):
        length, keys = _first_item(left)
        if keys.isdisjoint(values):
            kept.extend(left[:length])
        del left[:length]
    return "\n".join([*above, *(f"{key} = {value}{end}" for key, value in values.items()), *kept, *left])


def _first_item(lines: Sequence[str]) -> tuple[int, frozenset[str]]:
    """How many lines the first key with its value takes, or a line without any; and the key."""
    for length in range(1, len(lines) + 1):
        found = _parsed("\n".join(lines[:length]) + "\n")
        if found is not None:
            return length, frozenset(found)
    return len(lines), frozenset()


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
