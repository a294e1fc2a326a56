"""`[tool.mutmut]` as the gate needs it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_actor_envs.gate import kill_recorder
from pytest_actor_envs.project import dotted

KILL_RECORDER = kill_recorder.__name__


class CodeMutantsNotConfigured(Exception):
    """pyproject.toml does not say which code to mutate, or mutmut's runs would not say which test kills."""


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
    """The configuration in pyproject.toml. Raises CodeMutantsNotConfigured with what to add."""
    with (root / "pyproject.toml").open("rb") as file:
        table = tomllib.load(file).get("tool", {}).get("mutmut")
    if table is None:
        raise CodeMutantsNotConfigured(
            "pyproject.toml:1:1: gate: [tool.mutmut] is missing, so there are no code mutants\n"
            '    add it, with source_paths = ["package"] and only_mutate = ["package/module.py"]'
        )
    arguments = tuple(table.get("pytest_add_cli_args", ()))
    if KILL_RECORDER not in arguments:
        raise CodeMutantsNotConfigured(
            "pyproject.toml:1:1: gate: mutmut's runs do not say which test kills a mutant\n"
            f'    add to pytest_add_cli_args in [tool.mutmut]: "-p", "{KILL_RECORDER}"'
        )
    if table.get("do_not_mutate_patterns"):
        raise CodeMutantsNotConfigured(
            "pyproject.toml:1:1: gate: do_not_mutate_patterns in [tool.mutmut] hides mutants wherever the pattern fits\n"
            "    remove it; a comment at the line, with a reason, lets an equivalent mutant be"
        )
    return MutmutConfiguration(
        tuple(table.get("source_paths", ())),
        tuple(table.get("only_mutate") or ("*.py",)),
        tuple(table.get("do_not_mutate", ())),
        arguments,
        tuple(table.get("pytest_add_cli_args_test_selection", ())),
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
    """pyproject.toml with these values in `[tool.mutmut]`, in place of those of the same key."""
    before, header, after = text.partition("[tool.mutmut]\n")
    lines = after.split("\n")
    kept: list[str] = []
    while lines:
        end = 1
        if lines[0].partition("=")[0].strip() in values:
            end = next(count for count in range(1, len(lines) + 1) if _is_complete("\n".join(lines[:count])))
        elif lines[0].startswith("["):
            break
        else:
            kept.append(lines[0])
        del lines[:end]
    written = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join([before + header + "\n".join(written), *kept, *lines])


def _is_complete(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True
