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

ADVICE = "rename it, or move one of the two to another folder"
SOURCES = ("py", "pyc")
EXTENSION_MODULES = ("so", "pyd")


def subjects(project: Project) -> Iterable[Place]:
    return [project.place(path) for path in project.config.standalone]


def check(project: Project, script: Place) -> Iterator[Finding]:
    for path in sorted(project.tree.siblings(posixpath.dirname(script.name))):
        name = importable_name(posixpath.basename(path))
        if ever_in_standard_library(name):
            message = (
                f"hides the standard library's module '{name}' from {script.name}, whose folder comes first on sys.path"
            )
            yield Finding(Location(path), message, (ADVICE,))


def importable_name(file: str) -> str:
    """The module that a file or folder in a script's folder is imported as, empty where it is none."""
    stem, _, ending = file.partition(".")
    return stem if not ending or ending in SOURCES or ending.endswith(EXTENSION_MODULES) else ""


SHADOWS = (("module", "json.py"), ("module", "argparse.py"), ("package", "typing/__init__.py"))


def mutants(project: Project) -> Iterator[Mutant]:
    for script in project.config.standalone:
        for shape, file in SHADOWS:
            yield Mutant(script, shape, {in_folder(posixpath.dirname(script), file): ""})


GUARD = Guard("leaf-not-shadowed", subjects, check, mutants)
