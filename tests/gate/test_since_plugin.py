"""`--since` in a project that the plugin is part of: what a change of a guard, and of what guards share, affects."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_actor_envs

GUARD = "pytest_actor_envs/guards/extras/extra_declared.py"
SHARED = "pytest_actor_envs/guards/edits.py"
CORE = "pytest_actor_envs/evaluation.py"
AFFECTED = """
import json, sys
from pathlib import Path
from pytest_actor_envs.gate.changes import Changes
from pytest_actor_envs.gate.claims import claims_of
from pytest_actor_envs.gate.scope import affected_claims
from pytest_actor_envs.gate.subject_mutants import Bench
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.project import open_project

root, *paths = sys.argv[1:]
bench = Bench(open_project(Path(root)), load_guards())
claims = claims_of(bench.project, bench.guards)
other = next(claim.identity for claim in claims if claim.guard == "extra-used")
killed = {"extra-declared": [other], "actor-resolves": [claims[0].identity]}
found = {"all": claims, "other": [claim for claim in claims if claim.identity == other]}
for path in paths:
    changes = Changes({path: (Path(root) / path).read_text() + "# before"})
    found[path] = affected_claims(bench, claims, changes, killed)
print(json.dumps({path: [claim.identity for claim in of_path] for path, of_path in found.items()}))
"""
Affected = dict[str, list[str]]


@pytest.fixture
def affected(small: Path) -> Affected:
    """Identities of the mutants that a change of each file affects; also all, and one that extra-declared kills too."""
    plugin = Path(pytest_actor_envs.__file__).parent
    shutil.copytree(plugin, small / plugin.name, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-c", AFFECTED, str(small), GUARD, SHARED, CORE]
    environment = {**os.environ, "PYTHONPATH": str(small)}
    done = subprocess.run(command, cwd=small, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: Affected = json.loads(done.stdout)
    return found


def test_a_changed_guard_is_proven_again_by_all_that_it_claims_or_killed_and_a_changed_core_by_everything(
    affected: Affected,
) -> None:
    claimed = [identity for identity in affected["all"] if identity.startswith("extra-declared/")]
    assert len(claimed) > 1 and len(affected["other"]) == 1
    assert sorted(affected[GUARD]) == sorted([*claimed, *affected["other"]])
    assert affected[CORE] == affected["all"]
    assert affected[SHARED] == affected["all"]
