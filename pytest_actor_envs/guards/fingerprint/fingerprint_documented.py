"""The page about version checks lists exactly the keys of the fingerprint.

Why it matters: whoever meets a mismatch looks the key up on that page. A key that the page does not know, or one that
only the page knows, sends them to the wrong file.

Which list it is: the list, or the table, of the page named by `fingerprint-page` that has the most keys as code at the
beginning of its items or rows. What else begins an item of that list as code has to be a key.

How to fix it: an item for each key, and none besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pytest_actor_envs.guards.edits import appended
from pytest_actor_envs.guards.fingerprint.fingerprint_covers_file import WRAPPER, observation
from pytest_actor_envs.guards.observation import function_location
from pytest_actor_envs.model import Blocked, Finding, Guard, Location, Mutant, Place
from pytest_actor_envs.observed import Raised
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.docs import Cell, Page


def subjects(project: Project) -> Iterable[Place]:
    page, path = _page(project), project.config.fingerprint
    assert path is not None
    script = function_location(project, path, "fingerprint")
    in_script = {key: script for key in keys(project)}
    in_page = {key: page.at(cell.start) for key, cell in listed_keys(project).items()}
    return [Place(key, place) for key, place in (in_script | in_page).items()]


def _page(project: Project) -> Page:
    """The page that lists the keys; without one, this guard is off."""
    assert project.config.fingerprint_page is not None
    return project.page(project.config.fingerprint_page)


def keys(project: Project) -> frozenset[str]:
    """The keys that the fingerprint has for the covered files and whatever else. Raises Blocked where it cannot run."""
    assert project.config.fingerprint is not None
    observed = observation(project, project.config.fingerprint)
    if isinstance(observed, Raised):
        raise Blocked("fingerprint-covers-file")
    return frozenset(observed["intact"])


def listed_keys(project: Project) -> Mapping[str, Cell]:
    """Key -> item of the page's list of keys; none where no list has one. Raises Blocked as `keys` does."""
    known = keys(project)
    lists = [
        {row[0].code: row[0] for row in listing.rows if row[0].code is not None} for listing in _page(project).listings
    ]
    longest = max(lists, key=lambda items: len(known & items.keys()), default={})
    return longest if known & longest.keys() else {}


def check(project: Project, key: Place) -> Iterator[Finding]:
    page, known, listed = _page(project), keys(project), listed_keys(project)
    if key.name not in known:
        message = f"lists '{key.name}', which is no key of the fingerprint"
        yield Finding(key.location, message, (f"remove the item; keys: {', '.join(sorted(known))}",))
    elif key.name not in listed:
        place, message = Location(page.path), "no list of the fingerprint's keys"
        if listed:
            place, message = (
                page.at([*listed.values()][-1].start),
                f"the list of the fingerprint's keys lacks '{key.name}'",
            )
        yield Finding(place, message, ("add an item:", f"    - `{key.name}`"))


def mutants(project: Project) -> Iterator[Mutant]:
    page, script = _page(project), project.config.fingerprint
    assert script is not None
    for key, cell in listed_keys(project).items():
        before, behind = page.text[: cell.start], page.text[cell.start + len(key) :]
        yield Mutant(key, "not-listed", {page.path: _without_line(page, cell.start)})
        yield Mutant(key, "listed-misspelt", {page.path: f"{before}{key}_gone{behind}"})
        yield Mutant("no/such/key", "listed-needlessly", {page.path: f"{before}no/such/key` and `{key}{behind}"})
    new = 'values["no/such/file"] = "0" * 32'
    yield Mutant("no/such/file", "key-added", appended(project, script, WRAPPER.format(change=new)))


def _without_line(page: Page, offset: int) -> str:
    lines = page.text.split("\n")
    del lines[page.text[:offset].count("\n")]
    return "\n".join(lines)


GUARD = Guard("fingerprint-documented", subjects, check, mutants)
