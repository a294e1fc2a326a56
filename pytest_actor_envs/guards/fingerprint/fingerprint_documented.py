"""The page about version checks lists exactly the keys of the fingerprint.

Why it matters: whoever meets a mismatch looks the key up on that page. A key that the page does not know, or one that
only the page knows, sends them to the wrong file.

Which list it is: the list, or the table, of the page named by `fingerprint-page` that has the most keys as code at the
beginning of its items or rows. What else begins an item of that list as code has to be a key.

How to fix it: an item for each key, and none besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_actor_envs.guards.docs.pages import page_at
from pytest_actor_envs.guards.edits import appended
from pytest_actor_envs.guards.fingerprint.fingerprint_covers_file import WRAPPER, observation
from pytest_actor_envs.guards.observation import function_location
from pytest_actor_envs.model import Blocked, Finding, Guard, Location, Mutant, Place
from pytest_actor_envs.project import Project, Raised
from pytest_actor_envs.sources.docs import Cell, Page


def subjects(project: Project) -> Iterable[Place]:
    path, listed = project.config.fingerprint, listed_keys(project)
    if path is None or project.config.fingerprint_page is None:
        return []
    page = page_at(project, project.config.fingerprint_page)
    in_script = function_location(project, path, "fingerprint")
    places = {key: in_script for key in keys(project)} | {cell.code or "": page.at(cell.start) for cell in listed}
    return [Place(key, place) for key, place in places.items()]


def keys(project: Project) -> frozenset[str]:
    """The keys that the fingerprint has for the covered files and whatever else. Raises Blocked where it cannot run."""
    path = project.config.fingerprint
    observed = observation(project, path) if path else {"intact": {}}
    if isinstance(observed, Raised):
        raise Blocked("fingerprint-covers-file")
    return frozenset(observed["intact"])


def listed_keys(project: Project) -> Sequence[Cell]:
    """The items of the page's list of keys; none where no list has one. Raises Blocked as `keys` does."""
    if project.config.fingerprint_page is None:
        return ()
    page, known = page_at(project, project.config.fingerprint_page), keys(project)
    lists = [[row[0] for row in listing.rows if row[0].code is not None] for listing in page.listings]
    longest = max(lists, key=lambda cells: len(known & {cell.code for cell in cells}), default=[])
    return longest if known & {cell.code for cell in longest} else ()


def check(project: Project, key: Place) -> Iterator[Finding]:
    assert project.config.fingerprint_page is not None
    page, known, listed = page_at(project, project.config.fingerprint_page), keys(project), listed_keys(project)
    if key.name not in known:
        message = f"lists '{key.name}', which is no key of the fingerprint"
        yield Finding(key.location, message, (f"remove the item; keys: {', '.join(sorted(known))}",))
    elif key.name not in {cell.code for cell in listed}:
        place = page.at(listed[-1].start) if listed else Location(page.path)
        message = (
            f"the list of the fingerprint's keys lacks '{key.name}'" if listed else "no list of the fingerprint's keys"
        )
        yield Finding(place, message, ("add an item:", f"    - `{key.name}`"))


def mutants(project: Project) -> Iterator[Mutant]:
    path, script = project.config.fingerprint_page, project.config.fingerprint
    if path is None or script is None:
        return
    page = page_at(project, path)
    for cell in listed_keys(project):
        key, end = cell.code or "", cell.start + len(cell.code or "")
        yield Mutant(key, "not-listed", {path: _without_line(page, cell.start)})
        yield Mutant(key, "listed-misspelt", {path: f"{page.text[:end]}_gone{page.text[end:]}"})
        added = f"{page.text[: cell.start]}no/such/key` and `{page.text[cell.start :]}"
        yield Mutant("no/such/key", "listed-needlessly", {path: added})
    new = 'values["no/such/file"] = "0" * 32'
    yield Mutant("no/such/file", "key-added", appended(project, script, WRAPPER.format(change=new)))


def _without_line(page: Page, offset: int) -> str:
    start = page.text.rfind("\n", 0, offset) + 1
    end = page.text.find("\n", offset)
    return page.text[:start] + (page.text[end + 1 :] if end >= 0 else "")


GUARD = Guard("fingerprint-documented", subjects, check, mutants)
