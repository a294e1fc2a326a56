"""Extras that install nothing on an interpreter, because the markers of all their requirements exclude it.

uv takes such an extra without a word and installs nothing; the actor would miss its packages when it starts.
"""

import pathlib
import re
from collections.abc import Mapping, Sequence

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.project_metadata import project_metadata


class ExcludedExtraError(EnvironmentBuildError):
    """An extra installs nothing on the interpreter at hand; the message names what it needs."""


def markers_of(interpreter: str) -> dict[str, str]:
    """The marker variables that depend on the interpreter, of one described as ``CPython 3.12.1 /usr/bin/python3.12``.

    The others (operating system, processor) are the same for every interpreter of a machine.
    """
    implementation, version = interpreter.split()[:2]
    return {
        "implementation_name": implementation.lower(),
        "implementation_version": version,
        "platform_python_implementation": implementation,
        "python_full_version": version,
        "python_version": ".".join(version.split(".")[:2]),
    }


def needed(marker: Marker) -> str:
    """A marker without what selects extras, for a person."""
    return re.sub(r"\s*(and|or)?\s*extra\s*==\s*\"[^\"]*\"", "", str(marker)).strip() or str(marker)


def excluding_markers(
    extra: str, extras: Mapping[str, Sequence[str]], project: str, variables: Mapping[str, str], seen: frozenset[str]
) -> list[str] | None:
    """What the requirements of an extra would need, if the markers of all of them exclude the interpreter.

    Args:
        extra: a key of ``extras``.
        extras: ``[project.optional-dependencies]``, by normalized name.
        project: normalized name of the project, whose own extras may be required.
        variables: of :func:`markers_of`.
        seen: extras that led here, so that a cycle ends.

    Returns:
        ``requirement: marker`` for each requirement; ``None`` where something is installed or nothing is required.
    """
    reasons: list[str] = []
    for text in extras.get(extra, ()):
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate({**variables, "extra": extra}):
            reasons.append(f"{requirement.name} needs {needed(requirement.marker)}")
        elif canonicalize_name(requirement.name) == project and requirement.extras:
            for other in map(canonicalize_name, requirement.extras):
                if other in seen:
                    continue
                below = excluding_markers(other, extras, project, variables, seen | {extra})
                if below is None:
                    return None
                reasons.extend(below)
        else:
            return None
    return reasons or None


def reject_excluded_extras(root: pathlib.Path, wanted: Sequence[str], interpreter: str) -> None:
    """Raise :class:`ExcludedExtraError` where an extra would install nothing on an interpreter.

    Args:
        root: folder of ``pyproject.toml``.
        wanted: extras.
        interpreter: as :func:`nemo_rl.utils.environment_stamp.interpreter_of` describes it.
    """
    project = project_metadata(root)
    extras: dict[str, Sequence[str]] = {
        canonicalize_name(name): texts for name, texts in project.get("optional-dependencies", {}).items()
    }
    own_name, variables = canonicalize_name(project["name"]), markers_of(interpreter)
    for extra in wanted:
        reasons = excluding_markers(canonicalize_name(extra), extras, own_name, variables, frozenset())
        if reasons is not None:
            raise ExcludedExtraError(
                f"the extra {extra!r} installs nothing on {interpreter}: {', '.join(reasons)}\n"
                "    run the driver, and with it its actors, on a Python that fits; uv itself would not complain"
            )
