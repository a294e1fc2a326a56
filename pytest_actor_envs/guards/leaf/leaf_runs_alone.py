"""Copied alone into an empty folder, the leaf prints what it prints in place; every other standalone file imports there.

Why it matters: the layer that runs the leaf holds the leaf, and little else. A file that it reads, or a module that
it imports from beside it, exists in every checkout and not there.

How to fix it: keep everything that the script needs in its one file, and take paths as arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import appended, in_folder, with_first_line
from pytest_actor_envs.model import Finding, Guard, Location, Mutant, Place
from pytest_actor_envs.project import Project, Raised

CALLS = (["all"], ["no-such-stage"])


def subjects(project: Project) -> Iterable[Place]:
    return [project.place(path) for path in project.config.standalone]


def check(project: Project, script: Place) -> Iterator[Finding]:
    is_leaf = script.name == project.config.leaf
    text = project.tree.read_text(script.name)
    calls = [list(argv) for argv in CALLS] if is_leaf else []
    alone = project.observe("alone", {"path": script.name, "text": text, "calls": calls})
    if isinstance(alone, Raised):
        yield Finding(Location(script.name), f"cannot be run alone: {alone}", ("keep what it needs in this one file",))
        return
    if alone["import"]["code"] != 0:
        yield Finding(
            Location(script.name, alone["import"]["line"] or 1),
            f"does not import alone in an empty folder: {alone['import']['error']}",
            ("keep everything that it needs in this one file",),
        )
        return
    if not calls:
        return
    place = project.observe("main-block", {"path": script.name, "calls": calls})
    if isinstance(place, Raised):
        yield Finding(place.location or Location(script.name), f"cannot be run in place: {place}", ("mend the script",))
        return
    for argv, there, here in zip(calls, alone["runs"], place, strict=True):
        for what in ("code", "stdout", "stderr"):
            if there[what] != here[what]:
                yield Finding(
                    Location(script.name),
                    f"`{' '.join(argv)}` gives another {NAMES[what]} alone in an empty folder than in place: "
                    f"{_shown(there[what])} instead of {_shown(here[what])}",
                    ("let the output depend on nothing beside the script",),
                )


NAMES = {"code": "exit status", "stdout": "output", "stderr": "error output"}


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]!r}..."


def mutants(project: Project) -> Iterator[Mutant]:
    for path in project.config.standalone:
        folder = path.rpartition("/")[0]
        beside = {in_folder(folder, "beside_the_script.py"): "VALUE = 1\n"}
        imports = with_first_line(project, path, "import beside_the_script")
        yield Mutant(path, "imports-what-is-beside-it", {**imports, **beside})
        reads = "import pathlib as _pathlib\n_BESIDE = (_pathlib.Path(__file__).parent / \"no_such_file.txt\").read_text()\n"
        yield Mutant(path, "reads-what-is-beside-it", appended(project, path, reads))
    leaf = project.config.leaf
    depends = "import os as _os\nif len(_os.listdir(_os.path.dirname(_os.path.abspath(__file__)))) < 2:\n    ACTOR = {}.popitem()\n"
    yield Mutant(leaf, "depends-on-its-folder", appended(project, leaf, depends))


GUARD = Guard("leaf-runs-alone", subjects, check, mutants)
