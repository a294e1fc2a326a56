"""Extras of which one cannot tell at a glance that they install something.

Reading markers (:mod:`nemo_rl.utils.excluded_extras`) takes longer to import than uv takes for a small environment, and
few extras need it.
"""

import pathlib
import re
from collections.abc import Sequence

from nemo_rl.distributed.ray_actor_environment_registry import normalized
from nemo_rl.utils.project_metadata import project_metadata

NAME = re.compile(r"\s*([A-Za-z0-9._-]+)")


def installs_plainly(requirement: str, project: str) -> bool:
    """Whether a requirement has no marker and is not of the project itself, whose normalized name is given."""
    name = NAME.match(requirement)
    return ";" not in requirement and name is not None and normalized(name[1]) != project


def doubtful_extras(root: pathlib.Path, wanted: Sequence[str]) -> list[str]:
    """Those of the extras that have requirements, none of which is installed on every interpreter.

    Args:
        root: folder of ``pyproject.toml``.
        wanted: extras, in any spelling.

    Raises:
        EnvironmentBuildError: the project cannot be read.
    """
    project = project_metadata(root)
    own_name = normalized(project["name"])
    declared = {normalized(name): texts for name, texts in project.get("optional-dependencies", {}).items()}
    requirements = {extra: declared.get(normalized(extra)) for extra in wanted}
    return [
        extra
        for extra, texts in requirements.items()
        if texts and not any(installs_plainly(text, own_name) for text in texts)
    ]
