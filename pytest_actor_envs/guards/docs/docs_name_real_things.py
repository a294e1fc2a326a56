"""The modules, classes, wrapper scripts and paths that a page names exist.

Why it matters: a page that names what was moved or never there costs each reader an hour, and a script that does not
exist is typed on a cluster.

What is a name: a dotted name that begins with a package of the project, and what an example imports from it; in code,
a class that is called nearly as one of the project's, or ends like an actor's; `python-` and a class; in code, a path
below a file or folder at the project's root; the target of a link. What git ignores, and what lies in a submodule, is
not judged.

How to fix it: write the name as it is now. A block of code that shows what goes wrong has a line of its own above it,
`<!-- actor-envs: example of an error -->` (`.. actor-envs: example of an error` in reStructuredText): what stands in
it is free. A mark with no block below it, or with one where all is right, is a finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.docs.docs_quote_table import quotes_of, wrong_quote
from pytest_actor_envs.guards.docs.existence import Existence
from pytest_actor_envs.guards.docs.pages import page_subjects
from pytest_actor_envs.model import Finding, Guard, Mutant, Place
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.docs import Page, Passage
from pytest_actor_envs.sources.documented_names import Name, names_in


def subjects(project: Project) -> Iterable[Place]:
    return page_subjects(project)


def check(project: Project, subject: Place) -> Iterator[Finding]:
    page = project.page(subject.name)
    existence = Existence(project, page.path)
    names = names_of(project, page)
    for name in names:
        if not page.is_free(name.start):
            yield from _finding(page, name, existence)
    for mark in page.marks:
        block = page.block_below(mark)
        if block is None:
            message = "this mark has no block of code below it"
            yield Finding(page.at(mark), message, ("put it on the line above the block, or remove it",))
        elif not _is_wrong(project, page, block, names, existence):
            message = "this block is marked as an example of an error, and all that it names is right"
            yield Finding(page.at(mark), message, ("remove the mark: it would hide the next error",))


def names_of(project: Project, page: Page) -> tuple[Name, ...]:
    """The names of a page, read once for each text."""
    return project.of_page(names_in, page, project.config.packages)


def _finding(page: Page, name: Name, existence: Existence) -> Iterator[Finding]:
    wrong = existence.wrong(name)
    if wrong is not None:
        message, mend = wrong
        yield Finding(page.at(name.start), message, (mend,))


def _is_wrong(project: Project, page: Page, block: Passage, names: tuple[Name, ...], existence: Existence) -> bool:
    inside = range(block.start, block.end)
    named = any(existence.wrong(name) for name in names if name.start in inside)
    quotes = (quote for quote in quotes_of(project, page) if quote.start in inside)
    return named or any(list(wrong_quote(project, page, quote)) for quote in quotes)


def mutants(project: Project) -> Iterator[Mutant]:
    package = project.config.packages[0]
    added = (
        ("dotted-name", f"{package}.no_such_module.Gone"),
        ("script", "python-NoSuchActorHere"),
        ("link", "[gone](no_such_page.md)"),
        ("path", f"``{project.config.leaf}/no_such_file.py``"),
        ("mark-alone", ".. actor-envs: example of an error"),
    )
    for path in (subject.name for subject in subjects(project)):
        page = project.page(path)
        shapes = [(shape, text) for shape, text in added if shape != "link" or path.endswith(".md")]
        for shape, text in shapes:
            yield Mutant(path, shape, {path: f"{page.text}\n\n{text}\n"})
        existence = Existence(project, path)
        for name in names_of(project, page):
            if name.kind in {"dotted", "script"} and not page.is_free(name.start) and not existence.wrong(name):
                end = _end_to_misspell(page, name)
                yield Mutant(path, "misspelt", {path: f"{page.text[:end]}_gone{page.text[end:]}"})


def _end_to_misspell(page: Page, name: Name) -> int:
    """Where the first part below the package ends; of what an import writes apart from its module, the name itself."""
    first, last = ".".join(name.text.split(".")[:2]), name.text.rpartition(".")[2]
    return name.start + len(first if page.text.startswith(name.text, name.start) else last)


GUARD = Guard("docs-name-real-things", subjects, check, mutants)
