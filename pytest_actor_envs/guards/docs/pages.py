"""The pages of a project as subjects, each read once for each text."""

from __future__ import annotations

from pytest_actor_envs.model import Place
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.docs import Page, page_paths
from pytest_actor_envs.sources.page_reader import read_page


def page_subjects(project: Project) -> list[Place]:
    """Each page that the configuration names."""
    return [project.place(path) for path in page_paths(project.tree, project.config.docs)]


def page_at(project: Project, path: str) -> Page:
    """The page at a path; what is no UTF-8 in it is read as a sign that stands for nothing."""

    def read() -> Page:
        return read_page(path, project.tree.read_bytes(path).decode("utf-8", "replace"))

    return project.of_file("page", path, read)
