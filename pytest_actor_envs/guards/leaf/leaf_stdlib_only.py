"""A standalone script imports only the standard library, of every Python that it may meet, and is valid for the oldest.

Why it matters: the leaf runs as a script in an image layer where neither the project nor any package exists, under
whatever `python3` the base image has. One import inside a function that is rarely called is enough to break a build.

How to fix it: move what needs the import out of the script; for a module that only newer versions have, put the
import under a test of `sys.version_info`, with a way for the older ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import appended, with_first_line
from pytest_actor_envs.model import Blocked, Finding, Guard, Location, Mutant, Place
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.standalone_imports import UnsupportedSyntax, standalone_imports
from pytest_actor_envs.sources.standard_library import NEWEST_KNOWN, ever_in_standard_library, missing_versions


def subjects(project: Project) -> Iterable[Place]:
    return [project.place(path) for path in project.config.standalone]


def check(project: Project, script: Place) -> Iterator[Finding]:
    oldest = project.config.leaf_python
    try:
        text = project.tree.read_text(script.name)
        imports = standalone_imports(project.files, script.name, text, oldest, NEWEST_KNOWN)
    except UnicodeDecodeError as error:
        if script.name == project.config.leaf:
            raise Blocked("leaf-table-literal") from None
        line = project.tree.read_bytes(script.name)[: error.start].count(b"\n") + 1
        yield Finding(Location(script.name, line), f"not UTF-8: {error.reason}", ("save it as UTF-8",))
        return
    except UnsupportedSyntax as error:
        if script.name == project.config.leaf and not project.table.readable:
            raise Blocked("leaf-table-literal") from None
        message = f"not valid for Python {_shown(oldest)}: {error}"
        yield Finding(error.location, message, (WRITE_FOR_OLDEST,))
        return
    for found in imports:
        if found.module is None:
            yield Finding(found.location, UNNAMED, (NAME_IT,))
            continue
        top = found.module.partition(".")[0]
        missing = missing_versions(top, found.oldest, found.newest)
        if not missing:
            continue
        if ever_in_standard_library(top):
            listed = ", ".join(map(_shown, missing))
            message = f"imports '{found.module}', which the standard library of Python {listed} does not have"
            yield Finding(found.location, message, (IMPORT_BY_VERSION,))
        else:
            what = "its own package" if top in ("", *project.config.packages) else "a third-party module"
            message = f"imports {what} '{found.module}', which does not exist where {script.name} runs alone"
            yield Finding(found.location, message, (MOVE_IT,))


def _shown(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


UNNAMED = "imports something that is named by no literal, so nobody can tell what"
NAME_IT = "import a module of the standard library by its literal name"
WRITE_FOR_OLDEST = "write it so that the oldest Python reads it, or raise leaf-python in [tool.pytest-actor-envs]"
IMPORT_BY_VERSION = "import it under `if sys.version_info >= (...):` and give the other versions a way of their own"
MOVE_IT = "move what needs it into another module of the package; this file may use the standard library only"

IN_A_FUNCTION = (
    ("in-function", "def _late():\n    import packaging.version\n"),
    ("import-module", 'def _late():\n    import importlib\n    importlib.import_module("numpy")\n'),
    ("dynamic", "def _late(name):\n    return __import__(name)\n"),
)
NEWER = (
    ("newer-syntax", (3, 10), "def _late(value):\n    match value:\n        case 1:\n            pass\n"),
    ("newer-module", (3, 11), "import tomllib\n"),
)


def mutants(project: Project) -> Iterator[Mutant]:
    package, oldest = project.config.packages[0], project.config.leaf_python
    codes = [*IN_A_FUNCTION, *((shape, code) for shape, since, code in NEWER if oldest < since)]
    for path in project.config.standalone:
        yield Mutant(path, "own-package", with_first_line(project, path, f"import {package}.anything"))
        for shape, code in codes:
            yield Mutant(path, shape, appended(project, path, code))


GUARD = Guard("leaf-stdlib-only", subjects, check, mutants)
