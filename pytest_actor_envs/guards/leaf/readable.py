"""The text of a standalone script, for guards that run it: whether it can be read at all is leaf-stdlib-only's."""

from __future__ import annotations

from pytest_actor_envs.model import Blocked
from pytest_actor_envs.project import Project


def readable_script(project: Project, path: str) -> str:
    """The script's text. Raises Blocked where it is no Python that can be parsed."""
    try:
        project.modules.parsed(path)
        return project.tree.read_text(path)
    except (SyntaxError, ValueError):
        raise Blocked("leaf-stdlib-only") from None
