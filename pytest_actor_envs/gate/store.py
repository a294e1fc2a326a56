"""What the gate last found, in pytest's cache folder, with the state of everything that it was found from."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from pytest_actor_envs.gate.guard_sources import PLUGIN_FOLDER, own_sources
from pytest_actor_envs.gate.verdicts import LAYERS, Fate, MutantReport
from pytest_actor_envs.model import Guard
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.kept_files import write_into_place

RESULTS_FILE = Path(".pytest_cache", "d", "actor-envs", "gate.json")


@dataclass(frozen=True, slots=True)
class Stored:
    """Reports of earlier runs, by identity, each with the state that it was found in."""

    reports: dict[str, tuple[str, MutantReport]]

    def known(self, state: str) -> dict[str, MutantReport]:
        """The verdicts that hold in a state."""
        return {identity: report for identity, (found_in, report) in self.reports.items() if found_in == state}

    @property
    def killed(self) -> dict[str, set[str]]:
        """Killer -> identities. What a changed guard or test killed is a reason to run that again, never a verdict."""
        found: dict[str, set[str]] = {}
        for _, report in self.reports.values():
            for killer in report.killers:
                found.setdefault(killer, set()).add(report.identity)
        return found

    @property
    def code_killers(self) -> dict[str, tuple[str, ...]]:
        """Code mutant -> the tests that killed it, in whatever state: a reason to ask these first."""
        reports = (report for _, report in self.reports.values())
        return {report.identity: report.killers for report in reports if report.layer == 2 and report.killers}


def state_of(project: Project, guards: Sequence[Guard]) -> str:
    """A hash of the interpreter, what is installed, the plugin, all `guards`, and every file that these may read."""
    digest = hashlib.sha256("\0".join(versions()).encode())
    elsewhere = {path for guard in guards for path in own_sources(guard)}
    for path in sorted(elsewhere.union(PLUGIN_FOLDER.rglob("*.py"))):
        digest.update(f"\0{path}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    for name in project.tree.files():
        # A name need not be UTF-8.
        digest.update(os.fsencode(f"\0{name}\0") + hashlib.sha256(project.tree.read_bytes(name)).digest())
    return digest.hexdigest()


def versions() -> tuple[str, ...]:
    """The interpreter, and `name==version` of all that is installed, sorted."""
    return sys.version, *sorted(f"{found.name}=={found.version}" for found in metadata.distributions())


def load(root: Path) -> Stored:
    """What was stored, nothing where there is none or it cannot be read."""
    try:
        rows = json.loads((root / RESULTS_FILE).read_bytes())
        return Stored({row["report"]["identity"]: (str(row["state"]), _report(row["report"])) for row in rows})
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Stored({})


def _report(row: dict[str, Any]) -> MutantReport:
    """A report as it was stored. Raises KeyError, TypeError or ValueError for what no run of this version stores."""
    texts = (row[name] for name in ("identity", "claimed_by", "subject", "shape", "diff", "reason"))
    if not all(isinstance(text, str) for text in (*texts, *row["killers"])) or row["layer"] not in LAYERS:
        raise ValueError(row)
    return MutantReport(**{**row, "fate": Fate(row["fate"]), "killers": tuple(row["killers"])})


def save(root: Path, state: str, reports: Sequence[MutantReport], before: Stored) -> None:
    """Stores the reports over those of `before`; written aside and moved into place."""
    kept = {**before.reports, **{report.identity: (state, report) for report in reports}}
    rows = [
        {"state": found_in, "report": {**asdict(report), "fate": report.fate.value}}
        for _, (found_in, report) in sorted(kept.items())
    ]
    _make_cache_folder(root / RESULTS_FILE.parts[0])
    write_into_place(root / RESULTS_FILE, json.dumps(rows))


def _make_cache_folder(folder: Path) -> None:
    """pytest keeps its folder from git when it makes it, and only then."""
    if not folder.exists():
        folder.mkdir()
        (folder / ".gitignore").write_text("# Made by pytest-actor-envs.\n*\n", encoding="utf-8")
