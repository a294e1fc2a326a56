"""From a Ray actor class to its entry in the table, and back."""

import importlib
import sys
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ray.actor import ActorClass

from nemo_rl.distributed.ray_actor_environment_registry import UnregisteredActorError, unregistered_actor_message


def actor_class_named(name: str) -> ActorClass[Any]:
    """The Ray actor class of a fully-qualified name.

    Raises:
        ValueError: the name has no module.
        ImportError: its module cannot be imported by this interpreter, or has no such class.
        TypeError: it is no Ray actor class.
    """
    module_name, _, class_name = name.rpartition(".")
    if not module_name:
        raise ValueError(f"{name!r} names no module; an actor's name is like package.module.Class")
    found = getattr(importlib.import_module(module_name), class_name, None)
    if found is None:
        raise ImportError(f"the module {module_name} has no class {class_name}")
    return checked(found)


def checked(candidate: object) -> ActorClass[Any]:
    """The same object, if it is a Ray actor class. Raises ``TypeError``."""
    if not isinstance(candidate, ActorClass):
        raise TypeError(f"{candidate!r} is no Ray actor class: decorate it with @ray.remote, or give its name")
    return candidate


def definition_of(actor_class: ActorClass[Any]) -> tuple[str, str]:
    """Module and qualified name of the plain class that a Ray actor class was made from."""
    plain: type = vars(actor_class)["__ray_metadata__"].modified_class.__ray_actor_class__
    return plain.__module__, plain.__qualname__


def names_that_mean(actor_class: ActorClass[Any], table: Collection[str]) -> Iterator[str]:
    """The table's names under which this very class is found; modules are imported only for a class of that name.

    A class may be re-exported, and ``Name = ray.remote(NameImpl)`` gives it another name than its definition has.
    """
    _, defined_as = definition_of(actor_class)
    for name in sorted(table):
        module_name, _, class_name = name.rpartition(".")
        if module_name not in sys.modules and not defined_as.startswith(class_name):
            continue
        if getattr(importlib.import_module(module_name), class_name, None) is actor_class:
            yield name


def default_options(actor_class: ActorClass[Any]) -> Mapping[str, Any]:
    """The options that a Ray actor class was decorated with."""
    options: Mapping[str, Any] = vars(actor_class).get("_default_options") or {}
    return options


def registered_name(actor_class: ActorClass[Any], table: Mapping[str, Collection[str] | None]) -> str:
    """The name under which the table has a Ray actor class, found by the class's definition and not by how it was got.

    Raises:
        UnregisteredActorError: the table has no name for it; the message says how to add one.
    """
    name = next(names_that_mean(actor_class, table), None)
    if name is None:
        raise UnregisteredActorError(unregistered_actor_message(".".join(definition_of(actor_class)), table))
    return name
