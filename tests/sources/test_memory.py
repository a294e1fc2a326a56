from __future__ import annotations

import gc
import weakref

import pytest

from pytest_actor_envs.project import Project, project_in_memory
from pytest_actor_envs.sources.memory import Memory

FILES = {
    "pyproject.toml": '[project]\nname = "p"\nversion = "1"\n[tool.pytest-actor-envs]\nleaf = "p/leaf.py"\n',
    "p/leaf.py": 'ACTOR_ENVIRONMENTS = {"p.work.A": None}\n',
}


def test_an_answer_is_made_once_until_it_is_forgotten() -> None:
    memory, made = Memory(), list[str]()

    def make(answer: str) -> str:
        made.append(answer)
        return answer

    assert [memory.of("a", lambda: make("1")), memory.of("a", lambda: make("2"))] == ["1", "1"]
    assert memory.of("b", lambda: make("3")) == "3"
    memory.forget_all_but(1)
    assert [memory.of("a", lambda: make("4")), memory.of("b", lambda: make("5"))] == ["1", "5"]
    assert made == ["1", "3", "5"]
    memory.forget_all_but(7)
    assert len(memory) == 2


def test_what_cannot_be_made_is_not_known() -> None:
    memory = Memory()
    with pytest.raises(KeyError, match="inner"):
        memory.of("a", lambda: {}["inner"])
    assert memory.of("a", lambda: 5) == 5


def test_a_changed_project_that_was_released_is_gone_without_a_collector() -> None:
    def overlay(of: Project) -> weakref.ref[Project]:
        changed = of.with_overlay({"p/leaf.py": 'ACTOR_ENVIRONMENTS = {"p.work.B": None}\n'})
        assert [entry.name for entry in changed.entries] == ["p.work.B"]
        changed.settled(lambda project: len(project.entries))
        changed.release()
        return weakref.ref(changed)

    project = project_in_memory(FILES)
    assert project.entries
    gc.disable()
    try:
        assert overlay(project)() is None
    finally:
        gc.enable()
