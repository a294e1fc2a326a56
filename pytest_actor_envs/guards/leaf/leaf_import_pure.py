"""Executing the leaf only defines things: no output, no file, socket, process or thread, nothing changed around it.

Why it matters: everybody imports the leaf: the driver, every actor, the tests, a script in an image layer. What
importing it does besides, happens in all of them.

How to fix it: move what has an effect into a function that whoever needs the effect calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.edits import appended, with_first_line
from pytest_actor_envs.guards.leaf.readable import readable_script
from pytest_actor_envs.guards.observation import function_location, raised_finding
from pytest_actor_envs.model import Finding, Guard, Location, Mutant, Place
from pytest_actor_envs.observed import Raised
from pytest_actor_envs.project import Project, dotted

ADVICE = "move it into a function that whoever needs the effect calls"


def subjects(project: Project) -> Iterable[Place]:
    return [project.place(path) for path in project.config.standalone]


def check(project: Project, script: Place) -> Iterator[Finding]:
    readable_script(project, script.name)
    table = project.config.table
    arguments = {
        "module": dotted(script.name),
        "path": script.name,
        "table": table,
        "line": function_location(project, script.name, table).line,
    }
    observed = project.observe("import-effects", arguments)
    if isinstance(observed, Raised):
        yield raised_finding(observed, script.name, "executing the file")
        return
    for effect in observed:
        yield Finding(Location(script.name, effect["line"]), f"importing it {effect['effect']}", (ADVICE,))


EFFECTS = (
    ("prints", 'print("imported")'),
    ("environment", 'import os as _os; _os.environ["CHANGED_BY_IMPORT"] = "1"'),
    ("search-path", 'import sys as _sys; _sys.path.append("somewhere")'),
    ("writes", 'import os as _os; open(_os.devnull, "w").close()'),
    ("thread", "import threading as _threading; _threading.Thread(target=int).start()"),
    ("process", 'import subprocess as _subprocess; _subprocess.run(["true"])'),
    ("socket", "import socket as _socket; _socket.socket().close()"),
    ("folder", 'import os as _os; _os.chdir("/")'),
)


def mutants(project: Project) -> Iterator[Mutant]:
    for path in project.config.standalone:
        for shape, code in EFFECTS:
            yield Mutant(path, shape, with_first_line(project, path, code))
    leaf, table = project.config.leaf, project.config.table
    another = f'{table} = {{**{table}, "another.Actor": object()}}'
    yield Mutant(leaf, "other-table-each-time", appended(project, leaf, another))


GUARD = Guard("leaf-import-pure", subjects, check, mutants)
