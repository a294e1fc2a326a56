"""What project code showed when it was run, as guards ask for it; what it raised becomes a finding."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_actor_envs.model import Finding, Location
from pytest_actor_envs.project import Project, Raised, dotted

Row = tuple[str, str, str]


def leaf_arguments(project: Project) -> dict[str, str]:
    """What every observer of the leaf has to know."""
    return {"module": dotted(project.config.leaf), "path": project.config.leaf, "table": project.config.table}


def registry_observation(project: Project, system_flag: bool = False) -> Any:
    """The imported registry (see observers.observe_registry), or what importing it raised."""
    config = project.config
    assert config.registry is not None
    arguments = {
        "registry": dotted(config.registry),
        "registry_name": config.registry_name,
        "executables": dotted(config.executables) if config.executables else None,
        "executables_name": config.executables_name,
        "leaf": dotted(config.leaf),
        "table": config.table,
    }
    return project.observe("registry", arguments, {config.system_flag: "1"} if system_flag else {})


def script_observation(project: Project) -> Any:
    """Output of the leaf's `main` for every argument list that guards judge, by argument list; or what it raised."""
    arguments = {**leaf_arguments(project), "calls": script_calls(project)}
    return project.observe("script", arguments)


def script_calls(project: Project) -> list[list[str]]:
    """The argument lists: each stage, each stage with each extra skipped, and unknown ones."""
    extras = table_extras(project)
    calls = [[stage] for stage in STAGES]
    calls.extend(["all", extra] for extra in extras)
    calls.extend(["all", *extras[:index]] for index in range(2, len(extras) + 1))
    calls.append([UNKNOWN_STAGE])
    calls.append(["all", UNKNOWN_EXTRA])
    calls.append(["all", *extras[:1], UNKNOWN_EXTRA])
    return calls


STAGES = ("all", "deps", "trtllm")
UNKNOWN_STAGE = "no-such-stage"
UNKNOWN_EXTRA = "no-such-extra"


def table_extras(project: Project) -> list[str]:
    """Every extra that an entry names, sorted."""
    return sorted({extra for entry in project.entries for extra in project.extras_of(entry) or ()})


def call(observed: Mapping[str, Any], arguments: Sequence[str]) -> Mapping[str, Any]:
    """stdout, stderr and code of one argument list."""
    result: Mapping[str, Any] = observed[json.dumps(list(arguments))]
    return result


def expected_rows(project: Project) -> list[Row]:
    """(name, stage, flags) of each entry with an environment, sorted by name, from the table as parsed."""
    rows = []
    for entry in project.entries:
        extras = project.extras_of(entry)
        if extras is not None:
            stage = "trtllm" if "trtllm" in extras else "deps"
            rows.append((entry.name, stage, " ".join(f"--extra {extra}" for extra in extras)))
    return sorted(rows)


def printed_rows(output: str) -> list[Row]:
    """The rows that a script printed; a line without three columns gives a row with empty ones."""
    rows = []
    for line in output.splitlines():
        columns = [*line.split("\t"), "", ""]
        rows.append((columns[0], columns[1], "\t".join(columns[2:]).rstrip("\t")))
    return rows


def raised_finding(raised: Raised, path: str, what: str) -> Finding:
    """The finding for project code that raised while it was observed."""
    first, *rest = str(raised).splitlines() or [""]
    return Finding(raised.location or Location(path), f"{what} raised {first}", tuple(line.strip() for line in rest))


def function_location(project: Project, path: str, name: str) -> Location:
    """Where a function or a value of that name stands in a file, else the file's first line."""
    text = project.tree.read_text(path) if project.tree.exists(path) else ""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith((f"def {name}(", f"{name} ", f"{name}:", f"{name}=", f"class {name}")):
            return Location(path, number)
    return Location(path)
