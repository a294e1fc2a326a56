"""An entry of the table that a page quotes is the table's.

Why it matters: the example in the documentation is what the next actor's author copies. One with the extras of last
year gives an environment that lacks what the actor imports.

What is a quote: `"package.module.Class": ["extra"]` or `: None` as in the leaf, a row as its script prints it, and a
row of a table that has a column of extras and the actor, in code, in its first column. Names of other packages and
lists with `...` are none, nor is what stands in a block marked as an example of an error (see docs-name-real-things).

How to fix it: copy the entry from the leaf.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from pytest_actor_envs.guards.docs.pages import page_subjects
from pytest_actor_envs.guards.edits import with_extras, written_extras
from pytest_actor_envs.model import Finding, Guard, Mutant, MutantDoesNotApply, Place
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.docs import Page
from pytest_actor_envs.sources.quoted_entries import Quote, quotes_in
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Place]:
    return page_subjects(project)


def check(project: Project, subject: Place) -> Iterator[Finding]:
    page = project.page(subject.name)
    for quote in quotes_of(project, page):
        if not page.is_free(quote.start):
            yield from wrong_quote(project, page, quote)


def quotes_of(project: Project, page: Page) -> tuple[Quote, ...]:
    """The quotes of a page, read once for each text."""
    return project.of_page(quotes_in, page)


def wrong_quote(project: Project, page: Page, quote: Quote) -> Iterator[Finding]:
    """What one quote says that the table does not. Raises Blocked where the table cannot be read."""
    entries = [entry for entry in project.entries if quote.name in (entry.name, entry.class_name)]
    if not entries:
        if quote.form != "cell" and quote.name.split(".")[0] in project.config.packages:
            close = difflib.get_close_matches(quote.name, [entry.name for entry in project.entries])
            mend = f"did you mean '{close[0]}'?" if close else "quote an entry that is there"
            yield Finding(page.at(quote.start), f"quotes {quote.name}, which the table does not have", (mend,))
        return
    entry = entries[0]
    extras = project.extras_of(entry)
    if quote.extras != extras or (quote.stage is not None and quote.stage != entry.stage):
        said, right = _written(quote, quote.extras, quote.stage), _written(quote, extras, entry.stage)
        message = f"quotes {entry.class_name} with {said}, the table has {right or 'nothing'}"
        yield Finding(
            page.at(quote.value_start), message, ("write it as the table has it:", f"    {_paste(quote, right)}")
        )


def _written(quote: Quote, extras: tuple[str, ...] | str | None, stage: str | None) -> str:
    if isinstance(extras, str):
        return extras
    if quote.form == "entry":
        return written_extras(extras)
    if quote.form == "cell":
        return " ".join(extras or ()) or "-"
    return " ".join([str(stage), *(f"--extra {extra}" for extra in extras)]) if extras else ""


def _paste(quote: Quote, right: str) -> str:
    if quote.form == "entry":
        return f'"{quote.name}": {right},'
    if quote.form == "cell":
        return right
    return "\t".join([quote.name, *right.split(maxsplit=1)])


def mutants(project: Project) -> Iterator[Mutant]:
    if not project.entries:
        raise MutantDoesNotApply("the table has no entry that a page could quote")
    first = project.entries[0]
    for path in (subject.name for subject in subjects(project)):
        page = project.page(path)
        wrong = written_extras([*(first.extras or ()), "no_such_extra"])
        for shape, text in (
            ("wrong-entry", f'"{first.name}": {wrong}'),
            ("wrong-entry-in-code", f"`'{first.name}': {wrong}`"),
            ("wrong-row", f"{first.name}\tdeps\t--extra no_such_extra"),
            ("unknown-entry", f'"{first.name}_gone": None'),
        ):
            yield Mutant(path, shape, {path: f"{page.text}\n\n{text}\n"})
        for quote in quotes_of(project, page):
            entries = [entry for entry in project.entries if quote.name in (entry.name, entry.class_name)]
            for quoted in entries if not page.is_free(quote.start) else ():
                yield from _changed(project, page, quote, quoted)


def _changed(project: Project, page: Page, quote: Quote, quoted: Entry) -> Iterator[Mutant]:
    """One quote changed, and the entry that it quotes."""
    new = [*(quoted.extras or ()), "no_such_extra"]
    changed = _written(quote, tuple(new), quoted.stage)
    text = page.text[: quote.value_start] + changed + page.text[quote.value_end :]
    yield Mutant(page.path, "quote-changed", {page.path: text})
    yield Mutant(page.path, "table-changed", with_extras(project, quoted, new))


GUARD = Guard("docs-quote-table", subjects, check, mutants)
