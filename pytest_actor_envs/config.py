"""`[tool.pytest-actor-envs]` as frozen data; a bad key is an error with its line and the closest right key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_actor_envs.config_keys import TABLE
from pytest_actor_envs.config_problems import problems_of
from pytest_actor_envs.model import ConfigurationError, Location
from pytest_actor_envs.pyproject_problems import shape_problems
from pytest_actor_envs.sources.pyproject import Pyproject
from pytest_actor_envs.sources.tree import Tree


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
    def mappings(self) -> tuple[str, str]:
        """The names of the registry and of the table."""
        return self.registry_name, self.table

    @property
    def lookup_words(self) -> tuple[str, ...]:
        """What the text of a module holds that looks names up, launches through the registry or changes it."""
        names = (*self.lookups, *self.launchers, *self.mappings)
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
    wrong = shape_problems(pyproject)
    if wrong:  # the keys are compared with what these values say
        raise ConfigurationError("\n".join(wrong))
    problems = [text for name, value in table.items() for text in problems_of(pyproject, tree, name, value)]
    if "leaf" not in table:
        problems.append(
            f"{pyproject.at('tool', TABLE)}: configuration: the key 'leaf' is missing\n"
            '    name the file that holds the table: leaf = "package/actor_environments.py"'
        )
    if problems:
        raise ConfigurationError("\n".join(problems))
    return _filled(pyproject, tree, table, python)


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
