"""Changes every fact of the table, one at a time, and prints which guards notice; a survivor makes the exit code 1.

Without arguments it looks at the project in the current folder.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_actor_envs.evaluation import Evaluation
from pytest_actor_envs.guards import active_guards, load_guards
from pytest_actor_envs.guards.edits import Files, renamed_entry, with_extras, without_entry
from pytest_actor_envs.model import Guard, Verdict
from pytest_actor_envs.project import Project, open_project
from pytest_actor_envs.sources.table import Entry

STATIC_FAMILIES = ("leaf", "actors", "extras")
RUNNING_GUARDS = ("leaf-runs-alone", "leaf-import-pure")


def single_fact_mutants(project: Project) -> Iterator[tuple[str, str, Files]]:
    """(kind, description, files) of every change of one fact of one entry."""
    declared = [extra.name for extra in project.pyproject.extras]
    for entry in project.entries:
        yield from _of_extras(project, entry, declared)
        yield "entry removed", entry.name, without_entry(project, entry)
        parts = entry.name.split(".")
        for index, part in enumerate(parts):
            kind = "class misspelt" if index == len(parts) - 1 else "module misspelt"
            name = ".".join([*parts[:index], f"{part}x", *parts[index + 1 :]])
            yield kind, name, renamed_entry(project, entry, name)


def _of_extras(project: Project, entry: Entry, declared: Sequence[str]) -> Iterator[tuple[str, str, Files]]:
    def changed(kind: str, extras: Sequence[str] | None) -> tuple[str, str, Files]:
        return kind, f"{entry.name} -> {extras}", with_extras(project, entry, extras)

    extras = entry.extras
    if extras is None:
        for extra in declared:
            yield changed("None to an extra", [extra])
        yield changed("None to []", [])
        return
    yield changed("list to None", None)
    for extra in extras:
        rest = [other for other in extras if other != extra]
        yield changed("extra dropped", rest)
        for other in declared:
            if other not in extras:
                yield changed("extra swapped", [other if found == extra else found for found in extras])
    for other in declared:
        if other not in extras:
            yield changed("extra added", [*extras, other])


def killers(project: Project, guards: Sequence[Guard], files: Files) -> list[str]:
    """Names of the guards that are broken on the project with `files`."""
    evaluation = Evaluation(project.with_overlay(files), guards)
    return [
        guard.name
        for guard in guards
        if any(evaluation.outcome(case).verdict is Verdict.BROKEN for case in evaluation.cases(guard))
    ]


def explanations(project: Project) -> tuple[int, int]:
    """(pairs of entry and extra, how many of them stand on imports)."""
    pairs = on_imports = 0
    for entry in project.entries:
        own = project.evidence.own_modules(entry)
        pairs += len(entry.extras or ())
        if own is not None:
            on_imports += len(project.evidence.explained_by_imports(own, entry.extras or ()))
    return pairs, on_imports


def report(project: Project) -> int:
    """Prints the figures; the number of survivors."""
    guards = [
        guard
        for guard in active_guards(project, load_guards())
        if guard.family in STATIC_FAMILIES and guard.name not in RUNNING_GUARDS
    ]
    intact = killers(project, guards, {})
    if intact:
        print(f"the intact project breaks {', '.join(intact)}: mend it first")
        return 1
    total: Counter[str] = Counter()
    killed: Counter[str] = Counter()
    by_guard: Counter[tuple[str, str]] = Counter()
    survivors = []
    for kind, description, files in single_fact_mutants(project):
        names = killers(project, guards, files)
        total[kind] += 1
        killed[kind] += bool(names)
        by_guard.update((kind, name) for name in names)
        if not names:
            survivors.append(f"{kind}: {description}")
    mode = f"by {project.lock_path}" if project.lock_path else "without a lock"
    print(f"mutants of single facts of the table, {mode}")
    for kind in total:
        noticed = ", ".join(f"{name} {count}" for (of, name), count in sorted(by_guard.items()) if of == kind)
        print(f"  {kind:18} {killed[kind]:4}/{total[kind]:<4} {noticed}")
    print(f"  {'all':18} {sum(killed.values()):4}/{sum(total.values()):<4}")
    pairs, on_imports = explanations(project)
    print(f"of {pairs} pairs of entry and extra {on_imports} stand on imports, {pairs - on_imports} on comments")
    for survivor in survivors:
        print(f"survived: {survivor}")
    return len(survivors)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("root", nargs="?", type=Path, default=Path.cwd(), help="folder of the project")
    project = open_project(parser.parse_args(arguments).root.resolve())
    if project is None:
        print("no [tool.pytest-actor-envs] here", file=sys.stderr)
        return 2
    return 1 if report(project) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
