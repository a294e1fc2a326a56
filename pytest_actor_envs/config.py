"""`[tool.pytest-actor-envs]` as frozen data; a bad key is an error with its line and the closest right key."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_actor_envs.model import ConfigurationError, Location
from pytest_actor_envs.sources.pyproject import Pyproject
from pytest_actor_envs.sources.tree import Tree

TABLE = "pytest-actor-envs"


@dataclass(frozen=True, slots=True)
class Exemption:
    """A finding that is accepted, with the reason. It is a subject: one that exempts nothing is a finding."""

    guard: str
    subject: str
    reason: str
    location: Location

    @property
    def name(self) -> str:
        return f"{self.guard}/{self.subject}"


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the table: its type, and what it means, in a sentence that the documentation shows."""

    name: str
    kind: str  # "str" | "path" | "paths" | "pages" | "strs" | "str-table" | "strs-table" | "number" | "ignores"
    meaning: str


KEYS: tuple[Key, ...] = (
    Key("leaf", "path", "The file that holds the table and is also a script. The only key without a default."),
    Key("table", "str", "The table's name in the leaf. Default: ACTOR_ENVIRONMENTS."),
    Key("packages", "strs", "Top-level packages of the project. Default: the leaf's."),
    Key(
        "standalone",
        "paths",
        "Scripts that run where nothing else exists. Default: the leaf and the fingerprint script.",
    ),
    Key("leaf-python", "str", "Oldest Python that the standalone files have to run on. Default: 3.8."),
    Key("actor-python", "str", "The Python of the actors' environments. Default: the one that runs pytest."),
    Key(
        "registry",
        "path",
        "The file that maps actors to command lines. Default: ray_actor_environment_registry.py beside the leaf.",
    ),
    Key("registry-name", "str", "The mapping's name in it. Default: ACTOR_ENVIRONMENT_REGISTRY."),
    Key("executables", "path", "The file that builds command lines. Default: py_executables.py beside the leaf."),
    Key("executables-name", "str", "The class of command-line constants in it. Default: PY_EXECUTABLES."),
    Key(
        "executable-attribute",
        "str",
        "Class attribute that names an actor's default executable. Default: DEFAULT_PY_EXECUTABLE.",
    ),
    Key(
        "system-flag",
        "str",
        "Environment variable that puts every actor on the driver's interpreter. Default: NEMO_RL_PY_EXECUTABLES_SYSTEM.",
    ),
    Key(
        "fingerprint",
        "path",
        "The script whose function `fingerprint(root)` gives the fingerprint. Default: tools/generate_fingerprint.py.",
    ),
    Key(
        "fingerprint-covers",
        "strs",
        "Files that the fingerprint covers. Default: pyproject.toml, uv.lock and the leaf.",
    ),
    Key("fingerprint-page", "path", "The documentation page that lists the fingerprint's keys. Default: none."),
    Key("lookups", "strs", "Functions whose first argument is looked up in the table. Default: get_actor_python_env."),
    Key("launchers", "strs", "Functions and classes that launch an actor through the registry. Default: launch."),
    Key("readers", "paths", "Modules that may look variables up. Default: the registry."),
    Key("stand-alone-extras", "str-table", "Extras that no actor needs, each with the reason. Default: none."),
    Key("modules", "str-table", "Import name = the distribution that provides it. Default: none."),
    Key(
        "brings",
        "strs-table",
        "Extra = distributions that its requirements bring, for runs without a lock. Default: none.",
    ),
    Key("image-provides", "str-table", "Import name = why the base image has it. Default: none."),
    Key("lock", "path", "The lock to judge by. Default: none."),
    Key("dockerfiles", "paths", "Dockerfiles to guard. Default: docker/Dockerfile, if there is one."),
    Key(
        "build-arguments",
        "strs",
        "Patterns of variables that programs in the image read. Default: MAX_JOBS, UV_*, PIP_*.",
    ),
    Key("docs", "pages", "Folders and pages of documentation. Default: docs and README.md, those that exist."),
    Key("time-limit", "number", "Seconds that project code may take in one look. Default: 30."),
    Key("ignore", "ignores", "Accepted findings: {guard, subject, reason}. Default: none."),
)


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration with every default filled in. Paths are relative to the project's root."""

    leaf: str
    table: str
    packages: tuple[str, ...]
    standalone: tuple[str, ...]
    leaf_python: tuple[int, int]
    actor_python: str
    registry: str | None
    registry_name: str
    executables: str | None
    executables_name: str
    executable_attribute: str
    system_flag: str
    fingerprint: str | None
    fingerprint_covers: tuple[str, ...]
    fingerprint_page: str | None
    lookups: tuple[str, ...]
    launchers: tuple[str, ...]
    readers: tuple[str, ...]
    stand_alone_extras: Mapping[str, str]
    modules: Mapping[str, str]
    brings: Mapping[str, tuple[str, ...]]
    image_provides: Mapping[str, str]
    lock: str | None
    dockerfiles: tuple[str, ...]
    build_arguments: tuple[str, ...]
    docs: tuple[str, ...]
    time_limit: float
    ignore: tuple[Exemption, ...] = field(default=())

    @property
    def lookup_words(self) -> tuple[str, ...]:
        """What the text of a module holds that looks names up, launches through the registry or changes it."""
        names = (*self.lookups, *self.launchers, self.registry_name)
        return tuple(dict.fromkeys(name.rpartition(".")[2] for name in names))


def read_config(pyproject: Pyproject, tree: Tree, python: str) -> Config | None:
    """The configuration of a project, `None` where `[tool.pytest-actor-envs]` is missing.

    `python` (such as "3.12") is the default of `actor-python`. Raises ConfigurationError with all that is wrong.
    """
    table = pyproject.get("tool", TABLE)
    if table is None:
        return None
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{pyproject.at('tool', TABLE)}: configuration: [tool.{TABLE}] is not a table")
    problems = [text for name, value in table.items() for text in _problems(pyproject, tree, name, value)]
    if "leaf" not in table:
        problems.append(
            f"{pyproject.at('tool', TABLE)}: configuration: the key 'leaf' is missing\n"
            '    name the file that holds the table: leaf = "package/actor_environments.py"'
        )
    if problems:
        raise ConfigurationError("\n".join(problems))
    return _filled(pyproject, tree, table, python)


def _problems(pyproject: Pyproject, tree: Tree, name: str, value: Any) -> list[str]:
    place = pyproject.at("tool", TABLE, name)
    key = next((key for key in KEYS if key.name == name), None)
    if key is None:
        close = difflib.get_close_matches(name, [key.name for key in KEYS], n=1, cutoff=0.5)
        mend = f"    did you mean '{close[0]}'?" if close else f"    keys: {', '.join(key.name for key in KEYS)}"
        return [f"{place}: configuration: unknown key '{name}'\n{mend}"]
    wanted = _WANTED[key.kind]
    if not _has_type(key.kind, value):
        return [f"{place}: configuration: '{name}' has to be {wanted}, not {_shown(value)}"]
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


_WANTED = {
    "str": "a string",
    "path": "a string, the path of a file",
    "paths": "a list of paths of files",
    "pages": "a list of paths of files and folders",
    "strs": "a list of strings",
    "str-table": "a table of strings",
    "strs-table": "a table of lists of strings",
    "number": "a number greater than 0",
    "ignores": "a list of tables {guard, subject, reason}",
}


def _has_type(kind: str, value: Any) -> bool:
    def strings(listed: Any) -> bool:
        return isinstance(listed, list) and all(isinstance(item, str) for item in listed)

    if kind in {"str", "path"}:
        return isinstance(value, str)
    if kind in {"strs", "paths", "pages"}:
        return strings(value)
    if kind == "str-table":
        return isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values())
    if kind == "strs-table":
        return isinstance(value, Mapping) and all(strings(item) for item in value.values())
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return isinstance(value, list) and all(isinstance(item, Mapping) for item in value)


def _shown(value: Any) -> str:
    return f"{value!r}" if not isinstance(value, Mapping) else "a table"


def _filled(pyproject: Pyproject, tree: Tree, table: Mapping[str, Any], python: str) -> Config:
    leaf: str = table["leaf"]
    folder = leaf.rpartition("/")[0]
    beside = f"{folder}/" if folder else ""

    def existing(name: str, default: str) -> str | None:
        return table.get(name) or (default if tree.exists(default) else None)

    fingerprint = existing("fingerprint", "tools/generate_fingerprint.py")
    registry = existing("registry", f"{beside}ray_actor_environment_registry.py")
    standalone = tuple(table.get("standalone") or (path for path in (leaf, fingerprint) if path))
    docs = table.get("docs", [page for page in ("README.md", "docs") if tree.exists(page) or tree.is_folder(page)])
    major, minor = (int(part) for part in table.get("leaf-python", "3.8").split("."))
    return Config(
        leaf=leaf,
        table=table.get("table", "ACTOR_ENVIRONMENTS"),
        packages=tuple(table.get("packages") or [leaf.split("/")[0].removesuffix(".py")]),
        standalone=standalone,
        leaf_python=(major, minor),
        actor_python=table.get("actor-python", python),
        registry=registry,
        registry_name=table.get("registry-name", "ACTOR_ENVIRONMENT_REGISTRY"),
        executables=existing("executables", f"{beside}py_executables.py"),
        executables_name=table.get("executables-name", "PY_EXECUTABLES"),
        executable_attribute=table.get("executable-attribute", "DEFAULT_PY_EXECUTABLE"),
        system_flag=table.get("system-flag", "NEMO_RL_PY_EXECUTABLES_SYSTEM"),
        fingerprint=fingerprint,
        fingerprint_covers=tuple(table.get("fingerprint-covers", ["pyproject.toml", "uv.lock", leaf])),
        fingerprint_page=table.get("fingerprint-page"),
        lookups=tuple(table.get("lookups", ["get_actor_python_env"])),
        launchers=tuple(table.get("launchers", ["launch"])),
        readers=tuple(table.get("readers", [registry] if registry else [])),
        stand_alone_extras=dict(table.get("stand-alone-extras", {})),
        modules=dict(table.get("modules", {})),
        brings={extra: tuple(names) for extra, names in table.get("brings", {}).items()},
        image_provides=dict(table.get("image-provides", {})),
        lock=table.get("lock"),
        dockerfiles=tuple(table.get("dockerfiles", [path for path in ("docker/Dockerfile",) if tree.exists(path)])),
        build_arguments=tuple(table.get("build-arguments", ["MAX_JOBS", "UV_*", "PIP_*"])),
        docs=tuple(docs),
        time_limit=float(table.get("time-limit", 30)),
        ignore=tuple(
            Exemption(item["guard"], item["subject"], item["reason"], pyproject.at("tool", TABLE, "ignore", index))
            for index, item in enumerate(table.get("ignore", []))
        ),
    )
