"""All guards, listed by family; other distributions add theirs through the entry points `actor_envs.guards`.

A family is imported when it is asked for: a project without a Dockerfile does not wait for the parsers of an image.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterable, Mapping, Sequence

from pytest_actor_envs.model import ConfigurationError, Guard
from pytest_actor_envs.project import Project

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "actors": (
        "actor_is_remote",
        "actor_launched_by_registry",
        "actor_name_unique",
        "actor_registered",
        "actor_resolves",
    ),
    "docs": (
        "docs_name_real_things",
        "docs_quote_table",
    ),
    "extras": (
        "extra_compatible",
        "extra_declared",
        "extra_evidenced",
        "extra_locked",
        "extra_used",
        "guarded_import_provided",
        "import_provided",
    ),
    "fingerprint": (
        "fingerprint_covers_file",
        "fingerprint_documented",
    ),
    "image": (
        "image_arg_in_scope",
        "image_copies_before_run",
        "image_env_set_once",
        "image_fails_fast",
        "image_links_in_one_layer",
        "image_list_checked",
        "image_lock_enforced",
        "image_skip_known",
    ),
    "leaf": (
        "leaf_import_pure",
        "leaf_not_shadowed",
        "leaf_runs_alone",
        "leaf_stdlib_only",
        "leaf_table_literal",
    ),
    "registry": (
        "executable_constant_used",
        "executable_matches_extras",
        "registry_mirrors_table",
        "registry_rejects_undeclared_extra",
        "system_flag_honoured",
    ),
    "script": (
        "script_mirrors_registry",
        "script_rejects_unknown_argument",
        "script_skips_by_extra",
        "script_stages_partition",
    ),
}
"""The files of each family's folder that hold a guard."""

ENTRY_POINTS = "actor_envs.guards"


def load_guards(families: Iterable[str] = tuple(FAMILIES)) -> tuple[Guard, ...]:
    """The guards of some families, and those of other distributions.

    Raises ConfigurationError for two of one name, and for one that cannot be imported.
    """
    own = [
        importlib.import_module(f"{__name__}.{family}.{name}").GUARD for family in families for name in FAMILIES[family]
    ]
    others = [_loaded(entry_point) for entry_point in importlib.metadata.entry_points(group=ENTRY_POINTS)]
    return checked((*own, *others))


def _loaded(entry_point: importlib.metadata.EntryPoint) -> Guard:
    try:
        guard: Guard = entry_point.load()
    except Exception as error:
        owner = entry_point.dist.name if entry_point.dist else "unknown"
        message = f"guard {entry_point.name} of the distribution {owner} cannot be imported: {error!r}"
        raise ConfigurationError(f"{message}\n    mend {entry_point.value}, or uninstall {owner}") from error
    return guard


def active_families(project: Project) -> tuple[str, ...]:
    """The families that the project has a source for."""
    off = {family for family, _ in inactive_families(project)}
    return tuple(family for family in FAMILIES if family not in off)


def checked(guards: Sequence[Guard]) -> tuple[Guard, ...]:
    """The guards, if each can be registered. Raises ConfigurationError for one without mutants or a name used twice."""
    seen: set[str] = set()
    for guard in guards:
        if not isinstance(guard, Guard):
            raise ConfigurationError(f"{guard!r} in the entry points {ENTRY_POINTS} is no Guard")
        if not callable(guard.mutants):
            raise ConfigurationError(
                f"guard {guard.name} has no mutants: a guard that is never seen to fail proves nothing"
            )
        if guard.name in seen:
            raise ConfigurationError(f"two guards are named {guard.name}")
        seen.add(guard.name)
    return tuple(guards)


def inactive_families(project: Project) -> tuple[tuple[str, str], ...]:
    """(family, reason) of the families whose source the project does not have."""
    config = project.config
    sources = (
        ("registry", config.registry, "no registry"),
        ("fingerprint", config.fingerprint, "no fingerprint script"),
        ("image", config.dockerfiles, "no Dockerfile"),
        ("docs", config.docs, "no documentation"),
        ("script", _is_script(project), "the leaf prints nothing"),
    )
    return tuple((family, reason) for family, source, reason in sources if not source)


def _is_script(project: Project) -> bool:
    leaf = project.tree.read_bytes(project.config.leaf)
    return b"def main(" in leaf or b"__main__" in leaf


def inactive_guards(project: Project) -> tuple[tuple[str, str], ...]:
    """(guard, reason) of the guards whose own source the project does not have, within families that it has one for."""
    sources = (
        ("extra-locked", project.lock_path, "no lock"),
        (
            "fingerprint-documented",
            project.config.fingerprint_page or not project.config.fingerprint,
            "no page",
        ),
    )
    return tuple((name, reason) for name, source, reason in sources if not source)


def active_guards(project: Project, guards: Iterable[Guard]) -> tuple[Guard, ...]:
    """The guards whose family, and whose own source, the project has."""
    off = {family for family, _ in inactive_families(project)}
    without = {name for name, _ in inactive_guards(project)}
    return tuple(guard for guard in guards if guard.family not in off and guard.name not in without)
