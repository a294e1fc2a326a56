"""Nothing beside a standalone script has the name of a standard-library module.

Why it matters: the folder of a script comes first on `sys.path` when it is run. A `json.py` or a package `logging`
beside it is then what `import json` finds, in the one place where nothing else was supposed to be needed.

How to fix it: rename the file or package, or move the standalone script to a folder of its own.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import in_folder
from pytest_actor_envs.model import Finding, Guard, Location, Mutant, Place
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.standard_library import ever_in_standard_library


def subjects(project: Project) -> Iterable[Place]:
    return [project.place(path) for path in project.config.standalone]


def check(project: Project, script: Place) -> Iterator[Finding]:
    folder = posixpath.dirname(script.name)
    for path in sorted(project.tree.siblings(folder)):
        name = importable_name(posixpath.basename(path))
        if name and ever_in_standard_library(name):
            yield Finding(
                Location(path),
                f"hides the standard library's module '{name}' from {script.name}, whose folder comes first on sys.path",
                ("rename it, or move one of the two to another folder",),
            )


def importable_name(file: str) -> str | None:
    """The module that a file or folder in a script's folder is imported as, `None` where it is none."""
    stem, dot, ending = file.partition(".")
    return stem if not dot or ending == "py" or ending.endswith(("so", "pyd")) or ending == "pyc" else None


def mutants(project: Project) -> Iterator[Mutant]:
    for script in project.config.standalone:
        folder = posixpath.dirname(script)
        for module in ("json", "argparse"):
            yield Mutant(script, "module", {in_folder(folder, f"{module}.py"): ""})
        yield Mutant(script, "package", {in_folder(folder, "typing/__init__.py"): ""})


GUARD = Guard("leaf-not-shadowed", subjects, check, mutants)
