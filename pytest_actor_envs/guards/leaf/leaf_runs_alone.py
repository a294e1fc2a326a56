"""Copied alone into an empty folder, the leaf prints what it prints in place; other scripts import there.

Why it matters: the layer that runs the leaf holds the leaf, and little else. A file that it reads, or a module that
it imports from beside it, exists in every checkout and not there.

How to fix it: keep everything that the script needs in its one file, and take paths as arguments.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import appended, in_folder, with_first_line
from pytest_actor_envs.guards.leaf.readable import readable_script
from pytest_actor_envs.guards.observation import UNKNOWN_STAGE, call, script_results
from pytest_actor_envs.model import Finding, Guard, Location, Mutant, Place
from pytest_actor_envs.observed import Raised
from pytest_actor_envs.project import Project

CALLS = (["all"], [UNKNOWN_STAGE])
ADVICE = "keep everything that it needs in this one file"
BLOCK = 'and end it with:   if __name__ == "__main__": raise SystemExit(main(sys.argv[1:]))'


def subjects(project: Project) -> Iterable[Place]:
    return [project.place(path) for path in project.config.standalone]


def check(project: Project, script: Place) -> Iterator[Finding]:
    calls = list(CALLS) if script.name == project.config.leaf else []
    text = readable_script(project, script.name)
    alone = project.observe("alone", {"path": script.name, "text": text, "calls": calls})
    if isinstance(alone, Raised):
        yield Finding(Location(script.name), f"cannot be run alone: {alone}", (ADVICE,))
        return
    if alone["error"]:
        place = Location(script.name, alone["error"]["line"] or 1)
        yield Finding(place, f"does not import alone in an empty folder: {alone['error']['error']}", (ADVICE,))
        return
    in_place = script_results(project) if calls else {}
    for index, there in enumerate(alone["runs"]):
        arguments = CALLS[index]
        here = call(in_place, arguments)
        for key, what in (("code", "exit status"), ("stdout", "output")):
            if there[key] != here[key]:
                message = (
                    f"as a script alone in an empty folder, `{arguments[0]}` gives the {what} {_shown(there[key])}, "
                    f"and {_shown(here[key])} from main() in place"
                )
                yield Finding(Location(script.name), message, (ADVICE, BLOCK))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


BESIDE = "beside_the_script.py"
READS = f'import pathlib as _pathlib\n_BESIDE = _pathlib.Path(__file__).with_name("{BESIDE}").read_text()\n'
PRINTS_NOTHING = 'if __name__ == "__main__":\n    main = lambda argv: 0\n'


def mutants(project: Project) -> Iterator[Mutant]:
    for path in project.config.standalone:
        beside = {in_folder(posixpath.dirname(path), BESIDE): "VALUE = 1\n"}
        imports = with_first_line(project, path, f"import {BESIDE.removesuffix('.py')}")
        yield Mutant(path, "imports-what-is-beside-it", {**imports, **beside})
        yield Mutant(path, "reads-what-is-beside-it", {**appended(project, path, READS), **beside})
    leaf = project.config.leaf
    yield Mutant(leaf, "prints-nothing-as-script", appended(project, leaf, PRINTS_NOTHING))


GUARD = Guard("leaf-runs-alone", subjects, check, mutants)
