"""The fingerprint's entry of a covered file is that file's hash, and one changed byte changes that entry alone.

Why it matters: the fingerprint tells a stale container from a fresh one. An entry that hashes another file, or a file
that has none, lets an environment with the old extras pass for a new one.

How to fix it: one key for each covered file, its value the md5, sha1 or sha256 of the file's bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pytest_actor_envs.guards.edits import appended
from pytest_actor_envs.guards.observation import function_location, raised_finding
from pytest_actor_envs.model import Finding, Guard, Mutant, Place
from pytest_actor_envs.observed import Raised
from pytest_actor_envs.project import Project, dotted

BYTE_BY_BYTE = "latin-1"
STAND_IN = b"stands in for a file that this checkout does not have\n"


def subjects(project: Project) -> Iterable[Place]:
    path = project.config.fingerprint
    if path is None:
        return []
    return [Place(file, function_location(project, path, "fingerprint")) for file in project.config.fingerprint_covers]


def check(project: Project, file: Place) -> Iterator[Finding]:
    path = project.config.fingerprint
    assert path is not None
    observed = project.once(observation, path)
    if isinstance(observed, Raised):
        yield raised_finding(observed, path, "the function fingerprint")
        return
    intact, changed = observed["intact"], observed["changed"][file.name]
    if file.name not in intact:
        keys = ", ".join(sorted(intact)) or "none"
        yield Finding(file.location, f"the fingerprint has no key {file.name}", (f"cover the file; keys: {keys}",))
        return
    if intact[file.name] not in observed["hashes"][file.name]:
        message = f"the entry {file.name} is not the hash of that file: {intact[file.name]}"
        yield Finding(file.location, message, ("hash the bytes of the file that the key names",))
    if changed.get(file.name) == intact[file.name]:
        message = f"a changed byte in {file.name} does not change its entry"
        yield Finding(file.location, message, ("hash the whole file",))
    for other in sorted(key for key in intact.keys() | changed.keys() if intact.get(key) != changed.get(key)):
        if other != file.name:
            message = f"a changed byte in {file.name} changes the entry {other}"
            yield Finding(file.location, message, ("hash only the file that the key names",))


def observation(project: Project, path: str) -> Any:
    """The fingerprints of a copy of the covered files, intact and with one byte more in each."""
    files = {
        file: (project.tree.read_bytes(file) if project.tree.exists(file) else STAND_IN).decode(BYTE_BY_BYTE)
        for file in project.config.fingerprint_covers
    }
    return project.observe("fingerprint", {"module": dotted(path), "path": path, "files": files})


WRAPPER = """\
_unbroken_fingerprint = fingerprint


def fingerprint(root):
    values = dict(_unbroken_fingerprint(root))
    {change}
    return values

"""


ALONE = (("key-lost", "values.pop({file!r}, None)"), ("constant", 'values[{file!r}] = "0" * 32'))
WITH_ANOTHER = (
    ("other-file", "values[{file!r}] = values[{other!r}]"),
    ("mixed", "values[{other!r}] = values[{file!r}][:16] + values[{other!r}][16:]"),
)


def mutants(project: Project) -> Iterator[Mutant]:
    path, covered = project.config.fingerprint, project.config.fingerprint_covers
    if path is None:
        return
    changes = (*ALONE, *WITH_ANOTHER) if covered[1:] else ALONE
    for index, file in enumerate(covered):
        for shape, change in changes:
            code = WRAPPER.format(change=change.format(file=file, other=covered[index - 1]))
            yield Mutant(file, shape, appended(project, path, code))


GUARD = Guard("fingerprint-covers-file", subjects, check, mutants)
