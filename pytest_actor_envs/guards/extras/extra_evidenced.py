"""Every extra of an entry has evidence: an import that only this extra provides, or a comment above the entry.

An import is evidence when the entry's environment has its distribution and would not have it without the extra. A
comment is evidence when it stands on whole lines directly above the entry and names the extra, in any case, as a word of
its own. A comment that names a declared extra which the entry lacks is stale.

Why it matters: guards that compare the readers of the table never notice that the table itself is wrong. An extra that
nobody can explain is one that was left behind, swapped or added by mistake, and each costs an environment gigabytes.

How to fix it: drop the extra, or say above the entry why it is needed. Mention an extra that the entry lacks only as
part of a longer name or a path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from pytest_actor_envs.guards.edits import Files, replaced_span, with_extras
from pytest_actor_envs.guards.extras.declarations import SPARE, with_spare_extra
from pytest_actor_envs.guards.extras.import_provided import own_modules
from pytest_actor_envs.model import Finding, Guard, Mutant
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.named_extras import named_extras
from pytest_actor_envs.sources.pyproject import normalized
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    own = own_modules(project, entry)
    extras = entry.extras or ()
    named = dict(named_extras(entry.comment, [extra.name for extra in project.pyproject.extras]))
    by_import = project.evidence.explained_by_imports(own, extras)
    for use in entry.uses or ():
        if use.name not in by_import and normalized(use.name) not in named:
            yield Finding(
                use.location,
                f"nothing explains why {entry.class_name} needs extra '{use.name}': "
                "no import needs it, and no comment above the entry names it",
                (f"drop it, or say why on a line above the entry: # {use.name}: ...",),
            )
    have = {normalized(extra) for extra in extras}
    for extra, place in named.items():
        if extra not in have:
            spelt = project.pyproject.extras_by_name[extra].name
            yield Finding(
                place,
                f"the comment above {entry.class_name} names extra '{spelt}', which the entry does not have",
                (
                    f"remove the name, or add '{spelt}' to the entry at {entry.value_location}",
                    "to mention it all the same, write it as part of a longer name or a path",
                ),
            )


def mutants(project: Project) -> Iterator[Mutant]:
    declared = [extra.name for extra in project.pyproject.extras]
    for entry in project.entries:
        own = project.evidence.own_modules(entry)
        if own is None:
            continue
        have = {normalized(extra) for extra in entry.extras or ()}
        named = {extra for extra, _ in named_extras(entry.comment, declared)}
        foreign = _foreign_extra(project, have | named)
        if foreign is not None:
            extra, declares = foreign
            more = (*(entry.extras or ()), extra)
            if extra not in project.evidence.explained_by_imports(own, more):
                yield Mutant(entry.name, "extra-added", {**declares, **with_extras(project, entry, more)})
            start = entry.key_span[0]
            comment = replaced_span(project, project.config.leaf, (start, start), f"# Needs {extra}.\n    ")
            yield Mutant(entry.name, "comment-stale", {**declares, **comment})
        for extra in sorted(named & have):
            yield from _without(project, entry, extra)


def _foreign_extra(project: Project, known: Set[str]) -> tuple[str, Files] | None:
    """A declared extra that is none of those, and what has to be changed for it: nothing, or one more declared."""
    for extra in project.pyproject.extras:
        if normalized(extra.name) not in known:
            return extra.name, {}
    spare = with_spare_extra(project)
    return None if spare is None else (SPARE, spare)


def _without(project: Project, entry: Entry, extra: str) -> Iterator[Mutant]:
    """The extra dropped from the entry while the comment still names it."""
    rest = [other for other in entry.extras or () if normalized(other) != extra]
    yield Mutant(entry.name, "extra-dropped", with_extras(project, entry, rest or None))


GUARD = Guard("extra-evidenced", subjects, check, mutants)
