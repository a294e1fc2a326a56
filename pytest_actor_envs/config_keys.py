"""The keys of `[tool.pytest-actor-envs]`: what each means, and what its value has to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TABLE = "pytest-actor-envs"


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

WANTED = {
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
"""The kinds of values, in words."""


def has_type(kind: str, value: Any) -> bool:
    """Whether a value, as TOML has it, is of one of the kinds."""

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
