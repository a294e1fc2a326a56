"""The pages of a project as subjects."""

from __future__ import annotations

from pytest_actor_envs.model import Place
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.docs import page_paths


def page_subjects(project: Project) -> list[Place]:
    """Each page that the configuration names."""
    return [project.place(path) for path in page_paths(project.tree, project.config.docs)]
