from __future__ import annotations

import pytest

from pytest_actor_envs.evaluation import Evaluation
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.model import Verdict
from pytest_actor_envs.project import Project, config_of
from pytest_actor_envs.sources.answers import Answers, UntracedAnswers
from pytest_actor_envs.sources.runtime import run_in_process
from pytest_actor_envs.sources.tree import Tree

FILES = {
    "pyproject.toml": '[project]\nname = "p"\nversion = "1"\ndependencies = ["ray"]\n[project.optional-dependencies]\n'
    'a = ["six"]\n[tool.pytest-actor-envs]\nleaf = "p/leaf.py"\ndocs = []\n',
    "p/__init__.py": "",
    "p/leaf.py": 'ACTOR_ENVIRONMENTS = {\n    # a is unpickled\n    "p.work.A": ["a"],\n}\n',
    "p/work.py": "import ray\n\n\n@ray.remote\nclass A:\n    pass\n",
}


def evaluated(project: Project) -> dict[str, Verdict]:
    evaluation = Evaluation(project, load_guards(["actors", "extras"]))
    cases = [case for case in evaluation.all_cases() if case.guard.name != "extra-locked"]
    return {f"{case.guard.name} {case.name}": evaluation.outcome(case).verdict for case in cases}


def project_with(answers: Answers, files: dict[str, str]) -> Project:
    tree = Tree(None, files, answers)
    config = config_of(tree)
    assert config is not None
    return Project(tree, config, None, run_in_process)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("p/work.py", "@ray.remote\n", ""),
        ("p/work.py", "import ray\n", "import ray\nimport six, torch\n"),
        ("p/leaf.py", '["a"]', '["b"]'),
        ("pyproject.toml", "six", "torch"),
    ],
)
def test_an_overlay_believes_nothing_that_nobody_traced(path: str, old: str, new: str) -> None:
    changed = {**FILES, path: FILES[path].replace(old, new)}
    assert changed != FILES
    base = project_with(UntracedAnswers(), FILES)
    before = evaluated(base)
    after = evaluated(base.with_overlay({path: changed[path]}))
    assert after == evaluated(project_with(Answers(), changed))
    assert set(before.values()) == {Verdict.HOLDS}


def test_nothing_is_answered_twice_nor_traced() -> None:
    answers, made = UntracedAnswers(), []

    def make() -> int:
        answers.note(("bytes", "path"))
        made.append(1)
        return len(made)

    assert [answers.get("question", make), answers.get("question", make)] == [1, 1]
    assert answers.settled("other", lambda project: make()) == answers.settled("other", lambda project: make()) == 2
    assert not answers.keeps(answers.traced(make)[1])
    assert not Answers(answers).keeps(answers.traced(make)[1])
