"""Which interpreter starts which Ray actor: the table of ``actor_environments``, turned into command lines.

Importing this module checks the table against the extras that the project declares and raises
:class:`UndeclaredExtraError` where they disagree, so that a misspelt extra is noticed when a driver starts and not when
an environment is built on a cluster. It imports no Ray and reads one file, ``pyproject.toml``.
"""

import json
import pathlib
import re
import tomllib
from collections.abc import Collection, Mapping

from nemo_rl.distributed.actor_environments import ACTOR_ENVIRONMENTS, did_you_mean
from nemo_rl.distributed.driver_settings import PROJECT_ROOT
from nemo_rl.distributed.py_executables import py_executable_for

TABLE_FILE = "nemo_rl/distributed/actor_environments.py"
DISTRIBUTION = "nemo-rl"
EXTRA_FIELD = "Provides-Extra"


class UndeclaredExtraError(ValueError):
    """An entry of the table names an extra that the project does not declare, or does not spell like that."""


class UnregisteredActorError(ValueError):
    """An actor was looked up that the table has no entry for."""


def normalized(extra: str) -> str:
    """The name of an extra as PEP 685 compares it."""
    return re.sub(r"[-_.]+", "-", extra).lower()


def declared_extras(root: pathlib.Path) -> dict[str, str | None]:
    """The extras of the project in this folder: name as PEP 685 normalizes it -> spelling in ``pyproject.toml``.

    Without a ``pyproject.toml`` nemo_rl was installed as a wheel. Its metadata lists the normalized names only, so that
    no spelling is known (``None``). Raises ``importlib.metadata.PackageNotFoundError`` where there is no wheel either,
    and ``tomllib.TOMLDecodeError`` for a broken file.
    """
    pyproject = root / "pyproject.toml"
    if not pyproject.is_file():
        # Imported here: it takes longer to import than all the rest of this module.
        import importlib.metadata

        names = importlib.metadata.metadata(DISTRIBUTION).get_all(EXTRA_FIELD) or []
        return {normalized(name): None for name in names}
    project = tomllib.loads(pyproject.read_bytes().decode())["project"]
    return {normalized(name): name for name in project.get("optional-dependencies", {})}


def undeclared_extra_message(extra: str, declared: Mapping[str, str | None]) -> str:
    """Why this extra cannot be asked for; empty where it can.

    Filters that leave actors out compare names literally, so another spelling of a declared extra is wrong as well.
    """
    name = normalized(extra)
    if name not in declared:
        spellings = sorted(spelling or name for name, spelling in declared.items())
        return f"extra {extra!r} is not declared in pyproject.toml{did_you_mean(extra, spellings)}"
    spelling = declared[name]
    return "" if spelling in (extra, None) else f"extra {extra!r} is spelt {spelling!r} in pyproject.toml"


def reject_undeclared_extras(table: Mapping[str, Collection[str] | None], declared: Mapping[str, str | None]) -> None:
    """Raise :class:`UndeclaredExtraError` that names every extra of the table which is not declared, and what is."""
    messages = [
        f"    {name}: {message}"
        for name, extras in table.items()
        for extra in extras or ()
        if (message := undeclared_extra_message(extra, declared))
    ]
    if messages:
        heading = f"{TABLE_FILE} does not agree with [project.optional-dependencies] of pyproject.toml:"
        known = ", ".join(sorted(spelling or name for name, spelling in declared.items()))
        raise UndeclaredExtraError("\n".join([heading, *messages, f"    declared: {known}"]))


def unregistered_actor_message(name: str, table: Mapping[str, Collection[str] | None]) -> str:
    """What is wrong with a look-up of this name, which entries may be meant, and the line that would register it."""
    class_name = name.rpartition(".")[2]
    elsewhere = sorted(known for known in table if known.rpartition(".")[2] == class_name)
    lines = [f"no environment is registered for the actor {name}"]
    if elsewhere:
        lines.append(f"    {class_name} is registered as {' and as '.join(elsewhere)}; look it up by that name")
    else:
        # Imported here: a registered name does not need it.
        import difflib

        lines.extend(f"    did you mean {match!r}?" for match in difflib.get_close_matches(name, sorted(table)))
    lines.append(f"    to register it, add to {TABLE_FILE}:")
    lines.append(f'        {json.dumps(name)}: ["extra"],  # or None, for the driver\'s interpreter')
    return "\n".join(lines)


reject_undeclared_extras(ACTOR_ENVIRONMENTS, declared_extras(PROJECT_ROOT))

ACTOR_ENVIRONMENT_REGISTRY: dict[str, str] = {
    name: py_executable_for(extras) for name, extras in ACTOR_ENVIRONMENTS.items()
}


def get_actor_python_env(fqn: str) -> str:
    """The command line that starts the interpreter of the actor with this fully-qualified name.

    Raises :class:`UnregisteredActorError`, with close matches and the line to add, for a name the table does not have.
    """
    if fqn not in ACTOR_ENVIRONMENT_REGISTRY:
        raise UnregisteredActorError(unregistered_actor_message(fqn, ACTOR_ENVIRONMENTS))
    return ACTOR_ENVIRONMENT_REGISTRY[fqn]
