"""The files that guards of other packages, or of the project itself, are made from."""

from __future__ import annotations

import ast
import importlib.util
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from pytest_actor_envs.model import Guard

PLUGIN_FOLDER = Path(__file__).resolve().parents[1]
INSTALLED = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib"))


def own_sources(guard: Guard) -> frozenset[Path]:
    """The guard's file and, outside the plugin, what it imports, directly or not.

    What is installed, and of another package than the guard, is left out: it changes with its version.
    """
    first = guard.check.__module__
    files: dict[str, Path | None] = {}
    waiting = [first]
    while waiting:
        name = waiting.pop()
        if name in files:
            continue
        path = files[name] = _file_of(name) if _may_be_own(name, first) else None
        if path is not None and not path.is_relative_to(PLUGIN_FOLDER):
            waiting.extend(_imported(name, path))
    return frozenset(
        path for name, path in files.items() if path and (name == first or not path.is_relative_to(PLUGIN_FOLDER))
    )


def _may_be_own(name: str, first: str) -> bool:
    """Whether a module's package is the guard's or is not installed; to find one in another would import that."""
    package = name.partition(".")[0]
    if package == first.partition(".")[0]:
        return True
    path = _file_of(package)
    return path is not None and not any(path.is_relative_to(folder) for folder in (PLUGIN_FOLDER, *INSTALLED))


def _file_of(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a name in a module, not a module; or one that was made while running
        return None
    path = Path(spec.origin).resolve() if spec is not None and spec.origin else None
    return path if path is not None and path.suffix == ".py" else None


def _imported(name: str, path: Path) -> Iterator[str]:
    """The names that may be modules which a module's file imports, with the packages that they lie in."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package or None)
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        else:
            continue
        for found in names:
            parts = found.split(".")
            yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))
