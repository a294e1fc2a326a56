"""Which interpreter starts which Ray actor: the table of ``actor_environments``, turned into command lines.

Importing this module checks the table against the extras that the project declares and raises
:class:`UndeclaredExtraError` where they disagree, so that a misspelt extra is noticed when a driver starts and not when
an environment is built on a cluster. It imports no Ray and reads one file, ``pyproject.toml``.
"""

import difflib
import importlib.metadata
import json
import pathlib
import re
import tomllib
from collections.abc import Collection, Mapping

from nemo_rl.distributed.actor_environments import ACTOR_ENVIRONMENTS, did_you_mean
from nemo_rl.distributed.py_executables import PROJECT_ROOT, py_executable_for

TABLE_FILE = "nemo_rl/distributed/actor_environments.py"


class UndeclaredExtraError(ValueError):
    """An entry of the table names an extra that the project does not declare, or does not spell like that."""


class UnregisteredActorError(ValueError):
    """An actor was looked up that the table has no entry for."""


def normalized(extra: str) -> str:
    """The name of an extra as PEP 685 compares it."""
    return re.sub(r"[-_.]+", "-", extra).lower()


def declared_extras(root: pathlib.Path) -> list[str]:
    """The extras of the project in this folder, sorted, as ``pyproject.toml`` spells them.

    Without a ``pyproject.toml`` nemo_rl was installed as a wheel, and the wheel's metadata answers, which lists the
    names as PEP 685 normalizes them. Raises ``importlib.metadata.PackageNotFoundError`` where there is no wheel either,
    and ``tomllib.TOMLDecodeError`` for a broken file.
    """
    pyproject = root / "pyproject.toml"
    if not pyproject.is_file():
        return sorted(importlib.metadata.metadata("nemo-rl").get_all("Provides-Extra") or [])
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return sorted(project.get("optional-dependencies", {}))


def undeclared_extra_messages(table: Mapping[str, Collection[str] | None], declared: Collection[str]) -> list[str]:
    """One message for each extra of the table that is not, letter by letter, a declared one.

    Filters that leave actors out compare names literally, so another spelling of a declared extra is wrong as well.
    """
    spelling = {normalized(extra): extra for extra in declared}
    messages = []
    for name, extras in table.items():
        for extra in extras or ():
            if extra in declared:
                continue
            same = spelling.get(normalized(extra))
            reason = f"is spelt {same!r} in pyproject.toml" if same else "is not declared in pyproject.toml"
            messages.append(f"{name}: extra {extra!r} {reason}" + ("" if same else did_you_mean(extra, sorted(declared))))
    return messages


def reject_undeclared_extras(table: Mapping[str, Collection[str] | None], declared: Collection[str]) -> None:
    """Raise :class:`UndeclaredExtraError` that names every extra of the table which is not declared, and what is."""
    messages = undeclared_extra_messages(table, declared)
    if messages:
        raise UndeclaredExtraError(
            "\n".join(
                [
                    f"{TABLE_FILE} does not agree with [project.optional-dependencies] of pyproject.toml:",
                    *("    " + message for message in messages),
                    f"    declared: {', '.join(sorted(declared))}",
                ]
            )
        )


def unregistered_actor_message(name: str, table: Mapping[str, Collection[str] | None]) -> str:
    """What is wrong with a look-up of this name, which entries may be meant, and the line that would register it."""
    class_name = name.rpartition(".")[2]
    elsewhere = sorted(known for known in table if known.rpartition(".")[2] == class_name)
    lines = [f"no environment is registered for the actor {name}"]
    if elsewhere:
        lines.append(f"    the class {class_name} is registered as {' and as '.join(elsewhere)}; look it up by that name")
    else:
        lines.extend(f"    did you mean {match!r}?" for match in difflib.get_close_matches(name, sorted(table), n=3))
    lines.append(f"    to register it, add to {TABLE_FILE}: {json.dumps(name)}: [\"extra\"],  # or None: the driver's interpreter")
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
