"""A standalone script imports only the standard library, of every Python that it may meet, and is valid for the oldest.

Why it matters: the leaf runs as a script in an image layer where neither the project nor any package exists, under
whatever `python3` the base image has. One import inside a function that is rarely called is enough to break a build.

How to fix it: move what needs the import out of the script; for a module that only newer versions have, put the
import under a test of `sys.version_info`, with a way for the older ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import appended, with_first_line
from pytest_actor_envs.model import Finding, Guard, Mutant, Place
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.standalone_imports import UnsupportedSyntax, standalone_imports
from pytest_actor_envs.sources.standard_library import NEWEST_KNOWN, missing_versions


def subjects(project: Project) -> Iterable[Place]:
    return [project.place(path) for path in project.config.standalone]


def check(project: Project, script: Place) -> Iterator[Finding]:
    oldest = project.config.leaf_python
    try:
        imports = standalone_imports(script.name, project.tree.read_text(script.name), oldest, NEWEST_KNOWN)
    except UnsupportedSyntax as error:
        yield Finding(
            error.location,
            f"not valid for Python {oldest[0]}.{oldest[1]}: {error}",
            ("write it so that the oldest Python reads it, or raise leaf-python in [tool.pytest-actor-envs]",),
        )
        return
    for found in imports:
        if found.module is None:
            yield Finding(
                found.location,
                "imports something that is named by no literal, so nobody can tell what",
                ("import a module of the standard library by its literal name",),
            )
            continue
        top = found.module.partition(".")[0]
        missing = missing_versions(top, found.oldest, found.newest) if top else [found.oldest]
        if not top or len(missing) == found.newest[1] - found.oldest[1] + 1:
            own = top in project.config.packages or not top
            what = "its own package" if own else "a third-party module"
            shown = found.module or "."
            yield Finding(
                found.location,
                f"imports {what} '{shown}', which does not exist where {script.name} runs alone",
                ("move what needs it into another module of the package; this file may use the standard library only",),
            )
        elif missing:
            listed = ", ".join(f"{major}.{minor}" for major, minor in missing)
            yield Finding(
                found.location,
                f"imports '{found.module}', which the standard library of Python {listed} does not have",
                ("import it under `if sys.version_info >= (...):` and give the other versions a way of their own",),
            )


def mutants(project: Project) -> Iterator[Mutant]:
    for path in project.config.standalone:
        package = project.config.packages[0]
        yield Mutant(path, "own-package", with_first_line(project, path, f"import {package}.anything"))
        yield Mutant(path, "in-function", appended(project, path, "def _late():\n    import packaging.version\n"))
        yield Mutant(
            path,
            "import-module",
            appended(project, path, 'def _late():\n    import importlib\n    importlib.import_module("numpy")\n'),
        )
        yield Mutant(path, "dynamic", appended(project, path, "def _late(name):\n    return __import__(name)\n"))
        yield Mutant(
            path,
            "newer-syntax",
            appended(project, path, "def _late(value):\n    match value:\n        case 1:\n            pass\n"),
        )
        yield Mutant(path, "newer-module", with_first_line(project, path, "import tomllib"))


GUARD = Guard("leaf-stdlib-only", subjects, check, mutants)
