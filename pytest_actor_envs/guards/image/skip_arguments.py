"""Build arguments that say what is left out of the list of environments."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_actor_envs.guards.image.list_writing import LeafCall
from pytest_actor_envs.sources.image import CarriedOut
from pytest_actor_envs.sources.shell import AndOr, Case, If, Node, Variable, all_nodes, words_of
from pytest_actor_envs.sources.shell_steps import Step


def skip_arguments(call: LeafCall) -> frozenset[str]:
    """The build arguments that reach the words of a run of the leaf, by assignments and the conditions around them."""
    wanted = {variable.name for word in call.step.command.words for variable in word.variables}
    before = call.done.steps[: call.number]
    for _ in before:  # each round but the last finds what one more of them is given
        more = {name for step in before for name in _sources(step, wanted)} - wanted
        if not more:
            break
        wanted |= more
    return frozenset(wanted & call.done.state.arguments)


def _sources(step: Step, wanted: set[str]) -> Iterator[str]:
    """The variables that decide what a command gives to one that is wanted."""
    command = step.command
    given = {item.name for item in command.assignments}
    if command.name in {"read", "mapfile", "readarray"}:
        given = {word.value for word in command.words[1:] if word.value}
    if not given & wanted:
        return
    for word in words_of(command):
        yield from (variable.name for variable in word.variables)
    for context in step.contexts:
        for variable in _deciding(context.node):
            yield variable.name


def _deciding(node: Node) -> Iterator[Variable]:
    conditions: tuple[Node, ...] = ()
    if isinstance(node, If):
        conditions = tuple(part for condition, _ in node.branches for part in condition)
    elif isinstance(node, Case):
        yield from node.subject.variables
    elif isinstance(node, AndOr):
        conditions = (node.left,)
    for inner in all_nodes(conditions):
        for word in words_of(inner):
            yield from word.variables


def read_again(done: CarriedOut, names: frozenset[str]) -> Iterator[Variable]:
    """Where another RUN reads one of these arguments."""
    for step in done.steps:
        for word in words_of(step.command):
            yield from (variable for variable in word.variables if variable.name in names)
