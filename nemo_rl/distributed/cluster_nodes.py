"""The nodes of a Ray cluster on which an actor may start, and building its environment on each of them."""

import dataclasses
import sys
from collections.abc import Collection, Mapping
from typing import Any

import ray
from ray.util.placement_group import PlacementGroup, placement_group_table
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy, PlacementGroupSchedulingStrategy

from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.venvs import ensure_environment

DEFAULT_ACTOR_CPUS = 1.0
"""What Ray wants of a node to start an actor that says nothing about CPUs."""


class NodesLackEnvironmentError(RuntimeError):
    """Not every node that can run an actor has its environment; the message names those that lack it, and why."""


@dataclasses.dataclass(frozen=True)
class Node:
    """One live node: Ray's identifier, its name for a person, and all of its resources, used or not."""

    identifier: str
    name: str
    resources: Mapping[str, float] = dataclasses.field(compare=False)

    def __str__(self) -> str:
        return f"{self.name} ({self.identifier[:12]})"


def live_nodes() -> list[Node]:
    """The live nodes of the cluster, sorted by identifier."""
    described = ray.nodes()  # type: ignore[no-untyped-call]
    nodes = [Node(node["NodeID"], node["NodeName"], node["Resources"]) for node in described if node["Alive"]]
    return sorted(nodes, key=lambda node: node.identifier)


def required_resources(options: Mapping[str, Any]) -> dict[str, float]:
    """What an actor with these Ray options needs of a node to start there, by Ray's names of resources."""
    cpus = options.get("num_cpus")
    required = {
        "CPU": DEFAULT_ACTOR_CPUS if cpus is None else cpus,
        "GPU": options.get("num_gpus") or 0.0,
        "memory": options.get("memory") or 0.0,
        **(options.get("resources") or {}),
    }
    if options.get("accelerator_type"):
        required[f"accelerator_type:{options['accelerator_type']}"] = 0.001
    return {name: amount for name, amount in required.items() if amount > 0}


def group_of(options: Mapping[str, Any]) -> PlacementGroup | None:
    """The placement group that an actor with these options is to live in."""
    strategy = options.get("scheduling_strategy")
    if isinstance(strategy, PlacementGroupSchedulingStrategy):
        return strategy.placement_group
    group = options.get("placement_group")
    return group if isinstance(group, PlacementGroup) else None


def nodes_that_can_run(options: Mapping[str, Any], nodes: Collection[Node]) -> list[Node]:
    """Those of the nodes on which Ray could start an actor with these options, now or once others have ended."""
    required = required_resources(options)
    capable = [node for node in nodes if all(node.resources.get(name, 0) >= n for name, n in required.items())]
    strategy = options.get("scheduling_strategy")
    if isinstance(strategy, NodeAffinitySchedulingStrategy) and not strategy.soft:
        return [node for node in capable if node.identifier == strategy.node_id]
    group = group_of(options)
    if group is not None:
        members = set(placement_group_table(group)["bundles_to_node_id"].values())
        return [node for node in capable if node.identifier in members]
    return capable


def build_here(project: ActorProject, actor: str, rebuild: bool, run: str) -> str | None:
    """Make sure of an environment on the node that this runs on; returns the message of a failed build."""
    try:
        ensure_environment(project, actor, rebuild=rebuild, run=run)
    except EnvironmentBuildError as error:
        return str(error)
    return None


def build_on(nodes: Collection[Node], project: ActorProject, actor: str, rebuild: bool, run: str) -> dict[Node, str]:
    """Make sure of an environment on each of these nodes, at once; returns what failed, and why.

    Nodes that share a file system share its lock and its stamp, so one of them builds and the others find it done.
    """
    tasks = {
        ray.remote(build_here)
        .options(
            num_cpus=0,
            max_retries=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node.identifier, soft=False),
            runtime_env={"py_executable": sys.executable},
            name=f"environment of {actor}",
        )
        .remote(project, actor, rebuild, run): node
        for node in nodes
    }
    failures = {}
    for task, node in tasks.items():
        try:
            message = ray.get(task)
        except ray.exceptions.RayError as error:
            message = str(error)
        if message is not None:
            failures[node] = message
    return failures


def ensure_environment_on_nodes(
    project: ActorProject, actor: str, options: Mapping[str, Any], rebuild: bool, run: str
) -> list[Node]:
    """Make sure that every live node which can run an actor has its environment, also nodes that join meanwhile.

    Args:
        project: whose actor it is.
        actor: fully-qualified name.
        options: Ray options that the actor will be started with.
        rebuild: build even what is complete, once for this ``run``.
        run: see :func:`nemo_rl.utils.venvs.ensure_environment`.

    Returns:
        The nodes.

    Raises:
        NodesLackEnvironmentError: no live node can run the actor, or not all that can have its environment now.
    """
    ready: dict[str, Node] = {}
    while True:
        capable = nodes_that_can_run(options, live_nodes())
        if not capable:
            raise NodesLackEnvironmentError(
                f"no live node can run {actor}, which needs {required_resources(options) or 'nothing'}; there are: "
                + "; ".join(f"{node} with {dict(node.resources)}" for node in live_nodes())
            )
        missing = [node for node in capable if node.identifier not in ready]
        if not missing:
            return list(ready.values())
        failures = build_on(missing, project, actor, rebuild, run)
        if failures:
            raise NodesLackEnvironmentError(
                f"{len(failures)} of {len(capable)} nodes that can run {actor} lack its environment:\n"
                + "\n".join(f"  {node}: {message}" for node, message in failures.items())
            )
        ready.update((node.identifier, node) for node in missing)
