"""F20, an extra that was added while the lock was not refreshed: on this project, and with the real uv on a small one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pytest_actor_envs.evaluation import Evaluation, guards_for
from pytest_actor_envs.model import Finding, Verdict
from pytest_actor_envs.project import Project, open_project

ROOT = Path(__file__).resolve().parents[2]
GUARD = "extra-locked"
VALUE, GYM = 'modelopt = ["nvidia-modelopt"]', "nemo_gym = [\"nemo-gym; python_version >= '3.12'\"]"


def recorded(requirement: Requirement, extra: str) -> str:
    own = f"({requirement.marker}) and " if requirement.marker else ""
    marker = json.dumps(f"{own}extra == '{extra.replace('_', '-')}'".replace('"', "'"))
    name = requirement.name.lower().replace("_", "-")
    return f'    {{ name = "{name}", marker = {marker}, specifier = "{requirement.specifier}" }},'


def locked(project: Project) -> Project:
    """The project with a lock that has recorded what pyproject.toml requires now, and installs nothing of it."""
    extras = project.pyproject.extras
    lines = [recorded(requirement, extra.name) for extra in extras for requirement in extra.requirements]
    names = json.dumps([extra.name.replace("_", "-") for extra in extras])
    text = "\n".join(
        [
            "version = 1\n\n[[package]]",
            f'name = "{project.pyproject.name}"\nversion = "0"\nsource = {{ editable = "." }}\n',
            "[package.metadata]\nrequires-dist = [",
            *lines,
            f"]\nprovides-extras = {names}\n",
        ]
    )
    brings = project.tree.read_text("pyproject.toml").replace("[tool.pytest-actor-envs.brings]", "[tool.unused]")
    return project.with_overlay({"uv.lock": text, "pyproject.toml": brings})


@pytest.fixture(scope="module")
def project() -> Project:
    found = open_project(ROOT)
    assert found is not None
    return locked(found)


def findings(project: Project) -> list[Finding]:
    evaluation = Evaluation(project, guards_for(project))
    outcomes = [evaluation.outcome(case) for case in evaluation.cases(evaluation.guards[GUARD])]
    assert len(outcomes) == len(project.pyproject.extras)
    assert {outcome.verdict for outcome in outcomes} <= {Verdict.HOLDS, Verdict.BROKEN}
    return [finding for outcome in outcomes for finding in outcome.findings]


@pytest.mark.parametrize(
    ("old", "new", "marked", "message"),
    [
        (VALUE, f'{VALUE}\nnewest = ["torch"]', "newest", "uv.lock does not know extra 'newest'"),
        (VALUE, f'{VALUE}\nnewest = ["nemo-rl[vllm]"]', "newest", "uv.lock does not know extra 'newest'"),
        (
            VALUE,
            'modelopt = ["nvidia-modelopt", "torch"]',
            "modelopt",
            "uv.lock does not have the requirement 'torch' of extra 'modelopt'",
        ),
        (
            GYM,
            GYM.replace("3.12", "3.13"),
            "nemo_gym",
            "uv.lock does not have the requirement 'nemo-gym; python_version >= \"3.13\"' of extra 'nemo_gym'",
        ),
    ],
)
def test_an_extra_that_was_added_or_changed_and_not_locked(
    project: Project, old: str, new: str, marked: str, message: str
) -> None:
    assert findings(project) == []
    text = project.tree.read_text("pyproject.toml")
    assert text.count(old) == 1
    changed = text.replace(old, new)
    broken = project.with_overlay({"pyproject.toml": changed})
    first = findings(broken)[0]
    line = changed[: changed.index(f"\n{marked} = ") + 1].count("\n") + 1
    assert (str(first.location), first.message) == (f"pyproject.toml:{line}:1", message)
    assert first.fix[0] == "refresh the lock: uv lock"
    assert findings(locked(broken)) == []


PYPROJECT = """\
[project]
name = "sample"
version = "1"
requires-python = ">=3.11"

[project.optional-dependencies]
old = []

[tool.pytest-actor-envs]
leaf = "leaf.py"
docs = []
"""


def test_the_real_uv_refuses_what_the_guard_reports_and_its_advice_mends_both(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "leaf.py").write_text('ACTOR_ENVIRONMENTS = {"leaf.A": None}\n')

    def uv(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "uv", *words], cwd=tmp_path, capture_output=True, text=True)

    def reported() -> list[str]:
        project = open_project(tmp_path)
        assert project is not None
        return [finding.message for finding in findings(project)]

    assert uv("lock").returncode == 0
    assert reported() == []
    (tmp_path / "pyproject.toml").write_text(PYPROJECT.replace("old = []\n", "old = []\nnewest = []\n"))
    export = ("export", "--frozen", "--extra", "newest")
    assert "is not defined" in uv(*export).stderr
    assert reported() == ["uv.lock does not know extra 'newest'"]
    assert uv("lock").returncode == 0
    assert (uv(*export).returncode, reported()) == (0, [])
