"""Which mutants have to be looked at again after a change.

Of a file that was there before, those of the cases that were judged from it; of a new file, and of an entry of the table
that is new or says something else, those of the cases whose subject it is.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from pytest_actor_envs.evaluation import Evaluation
from pytest_actor_envs.gate.changes import Changes, changed_entries, differ_in_entries_only
from pytest_actor_envs.gate.claims import Claim, changed_lines, diff_of
from pytest_actor_envs.gate.guard_sources import PLUGIN_FOLDER, own_sources
from pytest_actor_envs.gate.mutmut_configuration import read_configuration
from pytest_actor_envs.gate.subject_mutants import Bench
from pytest_actor_envs.judgements import Case
from pytest_actor_envs.model import ConfigurationError
from pytest_actor_envs.project import Project, dotted


def affected_claims(
    bench: Bench, claims: Sequence[Claim], changes: Changes, killed: Mapping[str, Collection[str]]
) -> list[Claim]:
    """The claims that have to be proven again. `killed` is what each guard killed when the gate last ran."""
    root = bench.project.tree.root
    if root is None or _touches_core(root, changes):
        return list(claims)
    changed_guards = _changed_guards(bench, root, changes)
    again = {identity for guard in changed_guards for identity in killed.get(guard, ())}
    touched = _touched_cases(bench, changes)
    return [
        claim
        for claim in claims
        if claim.guard in changed_guards or claim.identity in again or _is_touched(bench, claim, touched)
    ]


def _is_touched(bench: Bench, claim: Claim, touched: Mapping[str, Collection[Case]]) -> bool:
    """Whether a claim's mutant belongs to one of the touched cases of its guard.

    Most mutants name the subject of their case. One that names no case's belongs to the cases at whose lines it changes
    something; where it changes the line of none, to all of them.
    """
    cases = touched.get(claim.guard)
    subject = claim.mutant.subject
    if not cases:
        return False
    if any(case.subject.name == subject for case in cases):
        return True
    own = bench.baseline.cases(bench.baseline.guards[claim.guard])
    if any(case.subject.name == subject for case in own):
        return False
    lines = set(changed_lines(diff_of(bench.project, claim.mutant)))
    there = [case for case in own if (case.subject.location.path, case.subject.location.line) in lines]
    return not there or any(case in cases for case in there)


def affected_code(bench: Bench, changes: Changes, killed: Mapping[str, Collection[str]]) -> list[str] | None:
    """Names, with `*`, of the code mutants that have to be made again; `None` for all."""
    root = bench.project.tree.root
    if root is None or _touches_core(root, changes) or "pyproject.toml" in changes.before:
        return None
    configuration = read_configuration(root)
    mutated = configuration.mutated_files(root)
    changed = [path for path, text in changes.before.items() if not _changes_entries_only(bench.project, path, text)]
    names = [f"{dotted(path)}.x*" for path in mutated if path in changed]
    guards = _changed_guards(bench, root, changes)
    killers = [path for path in changed if path not in mutated and _is_of_tests(path, configuration.selection)]
    if killers and not any("::" in killer for killer in killed):
        return None
    for killer, identities in killed.items():
        place, _, rest = killer.partition("::")
        is_helped = any(_helps(path, place) for path in killers)
        if rest and (is_helped or rest.partition("::")[0] in guards):
            names.extend(identities)
    return sorted(set(names))


def _changes_entries_only(project: Project, path: str, before: str | None) -> bool:
    """Whether a changed file is the leaf, and no function in it can be another than before."""
    if path != project.config.leaf or before is None:
        return False
    return differ_in_entries_only(project.with_overlay({path: before}), project)


def _is_of_tests(path: str, selection: Sequence[str]) -> bool:
    """Whether a file is Python below one of the folders that mutmut's tests are in; below any, if it is told of none."""
    folders = {place.partition("/")[0] for place in selection if "/" in place and not place.startswith("-")}
    return path.endswith(".py") and (not folders or path.partition("/")[0] in folders)


def _helps(changed: str, test: str) -> bool:
    """Whether a changed file is the one of a test, or one beside or above it that is no file of tests."""
    folder, _, name = changed.rpartition("/")
    return changed == test or (not name.startswith("test_") and bool(folder) and test.startswith(f"{folder}/"))


def _touches_core(root: Path, changes: Changes) -> bool:
    """Whether the plugin itself is part of the project and changed outside the files of single guards."""
    core = _inside(PLUGIN_FOLDER, root)
    if core is None:
        return False
    guards = {_inside(path, root) for path in _guard_files()}
    return any(path.startswith(f"{core}/") and path.endswith(".py") and path not in guards for path in changes.before)


def _guard_files() -> list[Path]:
    prefix = "pytest_actor_envs.guards."
    modules = [module for name, module in sys.modules.items() if name.startswith(prefix) and hasattr(module, "GUARD")]
    return [Path(module.__file__).resolve() for module in modules if module.__file__]


def _changed_guards(bench: Bench, root: Path, changes: Changes) -> set[str]:
    """The names of the guards whose own code is changed."""
    return {
        guard.name
        for guard in bench.guards
        if any(_inside(path, root) in changes.before for path in own_sources(guard))
    }


def _inside(path: Path, root: Path) -> str | None:
    return path.relative_to(root.resolve()).as_posix() if path.is_relative_to(root.resolve()) else None


def _touched_cases(bench: Bench, changes: Changes) -> dict[str, list[Case]]:
    """Guard -> those of its cases that would be looked at again, had the commit's project been judged before."""
    project, leaf = bench.project, bench.project.config.leaf
    known = {path: text for path, text in changes.before.items() if text is not None}
    touched: dict[str, list[Case]] = {}
    try:
        before = project.with_overlay(changes.before)
    except ConfigurationError:  # nothing was guarded there
        for case in bench.baseline.all_cases():
            touched.setdefault(case.guard.name, []).append(case)
        return touched
    entries = changed_entries(before, project)
    if leaf in known and differ_in_entries_only(before, project):
        del known[leaf]
    # What is judged is the project as it is; the changes of its existing files are followed by undoing them.
    undone = Evaluation(project.with_overlay(known), bench.guards, bench.baseline)
    for case in bench.baseline.all_cases():
        is_new = case.subject.name in entries or case.subject.location.path in changes.added
        if is_new or undone.is_looked_at_again(case):
            touched.setdefault(case.guard.name, []).append(case)
    return touched
