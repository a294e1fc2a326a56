"""What is wrong with one key of `[tool.pytest-actor-envs]`, with its place and the way out."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from typing import Any

from pytest_actor_envs.config_keys import KEYS, TABLE, WANTED, Key, has_type
from pytest_actor_envs.pyproject_problems import shown
from pytest_actor_envs.sources.pyproject import Pyproject, normalized
from pytest_actor_envs.sources.tree import Tree


def problems_of(pyproject: Pyproject, tree: Tree, name: str, value: Any) -> list[str]:
    """What is wrong with one key's value: each `path:line:column: configuration: what`, and below it the way out."""
    place = pyproject.at("tool", TABLE, name)
    key = next((key for key in KEYS if key.name == name), None)
    if key is None:
        close = difflib.get_close_matches(name, [key.name for key in KEYS], n=1, cutoff=0.5)
        mend = f"    did you mean '{close[0]}'?" if close else f"    keys: {', '.join(key.name for key in KEYS)}"
        return [f"{place}: configuration: unknown key '{name}'\n{mend}"]
    wanted = WANTED[key.kind]
    if not has_type(key.kind, value):
        return [f"{place}: configuration: '{name}' has to be {wanted}, not {shown(value)}"]
    if name in {"leaf-python", "actor-python"} and not re.fullmatch(r"\d+\.\d+", value):
        return [f'{place}: configuration: \'{name}\' has to be a Python version such as "3.12", not "{value}"']
    if key.kind == "ignores":
        return [
            f"{pyproject.at('tool', TABLE, name, index)}: configuration: an exemption needs {missing}\n"
            '    write {guard = "...", subject = "...", reason = "why this is right"}'
            for index, item in enumerate(value)
            for missing in [_missing_of(item)]
            if missing
        ]
    if name in {"stand-alone-extras", "brings"}:
        return [text for extra in value for text in _extra_problems(pyproject, name, extra)]
    if name == "packages":
        return [
            text for index, package in enumerate(value) for text in _package_problems(pyproject, tree, index, package)
        ]
    paths = [value] if key.kind == "path" else list(value) if key.kind in {"paths", "pages"} else []
    return [text for index, path in enumerate(paths) for text in _path_problems(pyproject, tree, key, index, path)]


def _path_problems(pyproject: Pyproject, tree: Tree, key: Key, index: int, path: str) -> list[str]:
    place = pyproject.at("tool", TABLE, key.name, index)
    plain = os.path.normpath(path)
    if plain.startswith(("/", "..")):
        mend = "name a file below the folder of pyproject.toml, by its path from there"
        return [f"{place}: configuration: '{key.name}' leads out of the project: {path}\n    {mend}"]
    if plain != (path.rstrip("/") if key.kind == "pages" else path):
        return [f"{place}: configuration: '{key.name}' is not written plainly: {path}\n    write \"{plain}\""]
    if not (tree.exists(path) or (key.kind == "pages" and tree.is_folder(path))):
        return [_missing_file(pyproject, tree, key.name, index, path)]
    if key.name == "leaf" and path.startswith("src/") and not tree.exists("src/__init__.py"):
        mend = "modules are looked for below the folder of pyproject.toml: move the package there, out of src"
        return [f"{place}: configuration: the package of 'leaf' lies in a folder that is no package: src\n    {mend}"]
    return []


def _package_problems(pyproject: Pyproject, tree: Tree, index: int, package: str) -> list[str]:
    if package.isidentifier() and (tree.is_folder(package) or tree.exists(f"{package}.py")):
        return []
    place = pyproject.at("tool", TABLE, "packages", index)
    mend = "name a folder or a module beside pyproject.toml, without a path"
    return [f"{place}: configuration: 'packages' names no package: {package}\n    {mend}"]


def _extra_problems(pyproject: Pyproject, name: str, extra: str) -> list[str]:
    if normalized(extra) in pyproject.extras_by_name:
        return []
    declared = [known.name for known in pyproject.extras]
    close = difflib.get_close_matches(extra, declared, n=1)
    mend = f"did you mean '{close[0]}'?   " if close else ""
    listed = ", ".join(sorted(declared)) or "none"
    place = pyproject.at("tool", TABLE, name, extra)
    return [
        f"{place}: configuration: '{name}' names an extra that pyproject.toml does not declare: {extra}\n"
        f"    {mend}declared: {listed}"
    ]


def _missing_of(item: Mapping[str, Any]) -> str:
    unknown = sorted(set(item) - {"guard", "subject", "reason"})
    if unknown:
        return f"no key '{unknown[0]}'"
    return ", ".join(f"a '{part}'" for part in ("guard", "subject", "reason") if not str(item.get(part, "")).strip())


def _missing_file(pyproject: Pyproject, tree: Tree, name: str, index: int, path: str) -> str:
    place = pyproject.at("tool", TABLE, name, index)
    folder, _, _file = path.rpartition("/")
    close = difflib.get_close_matches(path, list(tree.files(folder)) or list(tree.files()), n=1)
    mend = f"did you mean '{close[0]}'?" if close else "paths are relative to the folder of pyproject.toml"
    return f"{place}: configuration: '{name}' names a file that does not exist: {path}\n    {mend}"
