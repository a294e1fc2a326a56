"""Writes guarded projects of any size: actors, the modules that they import, a lock of many packages."""

from __future__ import annotations

from pathlib import Path

PYPROJECT = """\
[project]
name = "generated"
version = "1"
requires-python = ">=3.11"
dependencies = ["ray"]

[project.optional-dependencies]
{extras}

[tool.uv]
default-groups = []

[tool.pytest-actor-envs]
leaf = "generated/actor_environments.py"
actor-python = "3.12"
docs = []

[tool.importlinter]
root_package = "generated"

[[tool.importlinter.contracts]]
name = "the table imports nothing of the package"
type = "forbidden"
source_modules = ["generated.actor_environments"]
forbidden_modules = ["generated.actors"]
"""

LEAF_SCRIPT = """

def main(argv):
    import sys

    known = {extra for extras in ACTOR_ENVIRONMENTS.values() for extra in extras or ()}
    if not argv or argv[0] not in ("all", "deps", "trtllm") or set(argv[1:]) - known:
        sys.stderr.write("unknown\\n")
        return 2
    for name, extras in sorted(ACTOR_ENVIRONMENTS.items()):
        if extras is not None and not set(extras) & set(argv[1:]) and argv[0] in ("all", "deps"):
            sys.stdout.write("\\t".join([name, "deps", " ".join("--extra " + extra for extra in extras)]) + "\\n")
    return 0


if __name__ == "__main__":
    import sys

    raise SystemExit(main(sys.argv[1:]))
"""


def write_tree(root: Path, actors: int, modules: int, lines: int, packages: int) -> None:
    """A project of `actors` actors and `modules` modules of `lines` lines each, with a lock of `packages` packages."""
    package = root / "generated"
    (package / "actors").mkdir(parents=True)
    (package / "helpers").mkdir()
    for folder in (package, package / "actors", package / "helpers"):
        (folder / "__init__.py").write_text("")
    extras = [f"backend{index}" for index in range(8)]
    declared = "\n".join(f'{extra} = ["{extra}-engine"]' for extra in extras)
    (root / "pyproject.toml").write_text(PYPROJECT.format(extras=declared))
    entries = [f'    "generated.actors.actor{index}.Actor{index}": ["{extras[index % 8]}"],' for index in range(actors)]
    table = "\n".join(['"""The table."""', "", "ACTOR_ENVIRONMENTS = {", *entries, "}"])
    (package / "actor_environments.py").write_text(table + "\n" + LEAF_SCRIPT)
    helpers = max(modules - actors, 1)
    for index in range(helpers):
        imports = [
            f"from generated.helpers import helper{other}"
            for other in (2 * index + 1, 2 * index + 2)
            if other < helpers
        ]
        (package / "helpers" / f"helper{index}.py").write_text(_filled(["import json", "import os", *imports], lines))
    for index in range(actors):
        engine = f"{extras[index % 8]}_engine"
        head = [
            "import ray",
            f"from generated.helpers import helper{index % helpers}",
            "",
            "@ray.remote",
            f"class Actor{index}:",
            "    def build_engine(self):",
            f"        from {engine} import Engine",
            "        return Engine()",
        ]
        (package / "actors" / f"actor{index}.py").write_text(_filled(head, lines))
    (root / "uv.lock").write_text(_lock(extras, packages))


def _filled(head: list[str], lines: int) -> str:
    body = list(head)
    number = 0
    while len(body) < lines:
        number += 1
        body += [
            "",
            "",
            f"def function_{number}(values, limit={number}):",
            f'    """Adds what is below the limit of {number}."""',
            "    total = 0",
            "    for index, value in enumerate(values):",
            '        if value < limit and index % 2 == 0 and str(value) != "skipped":',
            "            total += value * (index + 1) - len(values)",
            "    return {'total': total, 'limit': limit, 'mean': total / max(len(values), 1)}",
        ]
    return "\n".join(body) + "\n"


def _lock(extras: list[str], packages: int) -> str:
    text = ["version = 1", 'requires-python = ">=3.11"', ""]
    wheels = ['{ url = "wheel", hash = "sha256:' + "0" * 64 + '" },'] * 6
    for index in range(packages):
        needs = [
            f'    {{ name = "package{other}", marker = "sys_platform == \'linux\'" }},'
            for other in (2 * index + 1, 2 * index + 2)
            if other < packages
        ]
        text += [
            "[[package]]",
            f'name = "package{index}"',
            'version = "1"',
            "dependencies = [",
            *needs,
            "]",
            "wheels = [",
            *wheels,
            "]",
            "",
        ]
    for number, extra in enumerate(extras):
        text += [
            "[[package]]",
            f'name = "{extra}-engine"',
            'version = "1"',
            f'dependencies = [{{ name = "package{number + 1}" }}]',
            "",
        ]
    text += ["[[package]]", 'name = "ray"', 'version = "1"', "", "[[package]]", 'name = "generated"', 'version = "1"']
    text += ['source = { editable = "." }', 'dependencies = [{ name = "ray" }]', "", "[package.optional-dependencies]"]
    text += [f'{extra} = [{{ name = "{extra}-engine" }}]' for extra in extras]
    text += ["", "[package.metadata]", "requires-dist = ["]
    text += [f'    {{ name = "{extra}-engine", marker = "extra == \'{extra}\'" }},' for extra in extras]
    listed = ", ".join(f'"{extra}"' for extra in extras)
    return "\n".join([*text, '    { name = "ray" },', "]", f"provides-extras = [{listed}]", ""])
