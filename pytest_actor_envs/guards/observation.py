"""What project code showed when it was run, as guards ask for it; what it raised becomes a finding."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_actor_envs.model import Blocked, Finding, Location
from pytest_actor_envs.observed import Raised
from pytest_actor_envs.project import Project, dotted

Row = tuple[str, str, str]


def registry_observation(project: Project, system_flag: bool = False) -> Any:
    """The imported registry (see observers.observe_registry), or what importing it raised."""
    return project.once(_registry_observation, system_flag)


def _registry_observation(project: Project, system_flag: bool) -> Any:
    config = project.config
    assert config.registry is not None
    arguments = {
        "registry": dotted(config.registry),
        "registry_name": config.registry_name,
        "executables": dotted(config.executables) if config.executables else None,
        "executables_name": config.executables_name,
    }
    return project.observe("registry", arguments, {config.system_flag: "1"} if system_flag else {})


def registry_results(project: Project) -> Any:
    """`registry_observation`, for guards beside the one that reports what the import raised. Raises Blocked."""
    project.blocked_by("extra-declared")
    observed = registry_observation(project)
    if isinstance(observed, Raised):
        raise Blocked("registry-mirrors-table")
    return observed


STAGES = ("deps", "trtllm")
UNKNOWN_STAGE = "no-such-stage"
UNKNOWN_EXTRA = "no-such-extra"


def script_observation(project: Project) -> Any:
    """Output of the leaf's `main` for every argument list that guards judge, by argument list; or what it raised."""
    return project.once(_script_observation)


def _script_observation(project: Project) -> Any:
    leaf = project.config.leaf
    return project.observe("script", {"module": dotted(leaf), "path": leaf, "calls": script_calls(project)})


def script_results(project: Project) -> Any:
    """`script_observation`, for guards beside the one that reports what executing the leaf raised. Raises Blocked."""
    observed = script_observation(project)
    if isinstance(observed, Raised):
        raise Blocked("script-mirrors-registry")
    return observed


def script_calls(project: Project) -> list[list[str]]:
    """The argument lists: each stage, each extra skipped, growing lists of skipped extras, and unknown ones."""
    extras = table_extras(project)
    return [
        *([stage] for stage in ("all", *STAGES)),
        *(["all", extra] for extra in extras),
        *(["all", *extras[: index + 1]] for index in range(1, len(extras))),
        *(arguments for listed in unknown_calls(project).values() for arguments in listed),
    ]


def unknown_calls(project: Project) -> dict[str, list[list[str]]]:
    """What is unknown -> argument lists whose last word is. An extra is unknown where no entry names it."""
    extras = table_extras(project)
    declared = [extra.name for extra in project.pyproject.extras if extra.name not in extras]
    return {
        "stage": [[UNKNOWN_STAGE]],
        "extra": [["all", *known] for known in ([UNKNOWN_EXTRA], [*extras[:1], UNKNOWN_EXTRA], declared[:1]) if known],
    }


def table_extras(project: Project) -> list[str]:
    """Every extra that an entry names, sorted."""
    return sorted({extra for entry in project.entries for extra in project.extras_of(entry) or ()})


def call(observed: Mapping[str, Any], arguments: Sequence[str]) -> Mapping[str, Any]:
    """stdout, stderr and code of one argument list."""
    result: Mapping[str, Any] = observed[json.dumps(list(arguments))]
    return result


def expected_rows(project: Project) -> list[Row]:
    """(name, stage, flags) of each entry with an environment, sorted by name, from the table as parsed."""
    return project.once(_expected_rows)


def _expected_rows(project: Project) -> list[Row]:
    rows = []
    for entry in project.entries:
        extras = project.extras_of(entry)
        if extras:
            rows.append((entry.name, str(entry.stage), " ".join(f"--extra {extra}" for extra in extras)))
    return sorted(rows)


def printed_rows(output: str) -> list[Row]:
    """The rows that a script printed; a line without three columns gives a row with empty ones."""
    rows = []
    for line in output.removesuffix("\n").split("\n") if output else []:
        name, stage, flags = [*line.split("\t", 2), "", ""][:3]
        rows.append((name, stage, flags))
    return rows


def raised_finding(raised: Raised, path: str, what: str) -> Finding:
    """The finding for project code that raised while it was observed."""
    first, *rest = str(raised).splitlines()
    return Finding(raised.location or Location(path), f"{what} raised {first}", tuple(line.strip() for line in rest))


def function_location(project: Project, path: str, name: str) -> Location:
    """Where a function or a value of that name stands in a file, else the file's first line."""
    lines = project.tree.read_bytes(path).decode(errors="replace").split("\n") if project.tree.exists(path) else []
    for number, line in enumerate(lines, start=1):
        if line.startswith((f"def {name}(", f"{name} ", f"{name}:", f"{name}=", f"class {name}(", f"class {name}:")):
            return Location(path, number)
    return Location(path)
