"""What `actor-envs explain` and `actor-envs list` show: data in, text out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_actor_envs.model import Guard, Mutant
from pytest_actor_envs.sources.table import Entry


def explanation_text(
    guard: Guard, subjects: Sequence[str], mutants: Sequence[Mutant], off: str | None, why_none: str
) -> str:
    """The guard's docstring, its subjects in this project, and the shapes of the mutants that prove it, or why none do."""
    lines = [guard.name, "", guard.explanation, ""]
    if off:
        return "\n".join([*lines, f"In this project: off, {off}."])
    lines.append(f"In this project, {len(subjects)} subject{'s' if len(subjects) != 1 else ''}:")
    lines.extend(f"    {subject}" for subject in subjects)
    if why_none:
        return "\n".join([*lines, "Nothing proves it in this project as it is:", *_indented(why_none)])
    shapes = Counter(mutant.shape for mutant in mutants)
    lines.append(f"Proven by {len(mutants)} mutants of this project, which it has to kill:")
    lines.extend(f"    {count:4} {shape}" for shape, count in sorted(shapes.items()))
    return "\n".join(lines)


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.split("\n")]


def list_text(entries: Sequence[Entry]) -> str:
    """One aligned line an actor: name, extras in order, stage."""
    rows = [(entry.name, " ".join(entry.extras or ()) or "-", entry.stage or "-") for entry in entries]
    widths = [max(len(row[column]) for row in [("ACTOR", "EXTRAS", "STAGE"), *rows]) for column in range(2)]
    return "\n".join(
        f"{name:{widths[0]}}  {extras:{widths[1]}}  {where}"
        for name, extras, where in [("ACTOR", "EXTRAS", "STAGE"), *rows]
    )
