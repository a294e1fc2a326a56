"""On which nodes an actor may start, and what is said of those that lack its environment; test_launch.py has real ones."""

import pathlib
import sys
from collections.abc import Collection, Mapping
from typing import Any

import pytest
from ray._raylet import PlacementGroupID
from ray.util.placement_group import PlacementGroup
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy, PlacementGroupSchedulingStrategy

from nemo_rl.distributed import cluster_nodes
from nemo_rl.distributed.cluster_nodes import (
    Node,
    NodesLackEnvironmentError,
    build_here,
    build_on,
    ensure_environment_on_nodes,
    group_of,
    nodes_that_can_run,
    required_resources,
)
from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_errors import EnvironmentBuildError

SMALL = Node("a" * 56, "small", {"CPU": 1.0, "memory": 10.0})
LARGE = Node("b" * 56, "large", {"CPU": 8.0, "GPU": 2.0, "memory": 100.0, "disk": 1.0, "accelerator_type:H100": 1.0})
BARE = Node("c" * 56, "bare", {"node:1": 1.0})
NODES = [SMALL, LARGE, BARE]
PROJECT = ActorProject(pathlib.Path("/project"), {"pkg.mod.One": ["a"]}, pathlib.Path("/environments"))
GROUP = PlacementGroup(PlacementGroupID.nil())


@pytest.mark.parametrize(
    ("options", "required"),
    [
        ({}, {"CPU": 1.0}),
        ({"num_cpus": None}, {"CPU": 1.0}),
        ({"num_cpus": 0}, {}),
        ({"num_cpus": 0, "num_gpus": 2, "memory": 5}, {"GPU": 2, "memory": 5}),
        ({"resources": {"disk": 1, "none": 0}}, {"CPU": 1.0, "disk": 1}),
        ({"num_cpus": 3, "accelerator_type": "H100"}, {"CPU": 3, "accelerator_type:H100": 0.001}),
        ({"num_gpus": None, "memory": None, "resources": None, "accelerator_type": None}, {"CPU": 1.0}),
    ],
)
def test_what_options_need_of_a_node(options: Mapping[str, Any], required: Mapping[str, float]) -> None:
    assert required_resources(options) == required


@pytest.mark.parametrize(
    ("options", "capable"),
    [
        ({}, [SMALL, LARGE]),
        ({"num_cpus": 0}, NODES),
        ({"num_cpus": 8}, [LARGE]),
        ({"num_cpus": 9}, []),
        ({"num_cpus": 0, "memory": 10}, [SMALL, LARGE]),
        ({"num_gpus": 1}, [LARGE]),
        ({"accelerator_type": "H100"}, [LARGE]),
        ({"scheduling_strategy": "SPREAD"}, [SMALL, LARGE]),
        ({"scheduling_strategy": NodeAffinitySchedulingStrategy(SMALL.identifier, soft=False)}, [SMALL]),
        ({"scheduling_strategy": NodeAffinitySchedulingStrategy(SMALL.identifier, soft=True)}, [SMALL, LARGE]),
        ({"scheduling_strategy": NodeAffinitySchedulingStrategy(BARE.identifier, soft=False)}, []),
    ],
)
def test_nodes_that_can_run_an_actor(options: Mapping[str, Any], capable: list[Node]) -> None:
    assert nodes_that_can_run(options, NODES) == capable


def test_an_actor_of_a_placement_group_runs_where_its_bundles_are(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[PlacementGroup] = []

    def table_of(group: PlacementGroup) -> dict[str, Any]:
        asked.append(group)
        return {"bundles_to_node_id": {0: LARGE.identifier, 1: BARE.identifier}}

    monkeypatch.setattr(cluster_nodes, "placement_group_table", table_of)
    strategy = PlacementGroupSchedulingStrategy(GROUP)
    for options in ({"scheduling_strategy": strategy}, {"placement_group": GROUP}):
        assert nodes_that_can_run(options, NODES) == [LARGE]
    assert asked == [GROUP, GROUP]


def test_where_a_placement_group_is_named() -> None:
    assert group_of({"scheduling_strategy": PlacementGroupSchedulingStrategy(GROUP)}) is GROUP
    assert group_of({"placement_group": GROUP}) is GROUP
    assert group_of({"placement_group": "default", "scheduling_strategy": "SPREAD"}) is None
    assert group_of({}) is None


def test_live_nodes_are_sorted_and_dead_ones_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    described = [
        {"NodeID": node.identifier, "NodeName": node.name, "Resources": node.resources, "Alive": node is not LARGE}
        for node in (BARE, LARGE, SMALL)
    ]
    monkeypatch.setattr(cluster_nodes.ray, "nodes", lambda: described)
    found = cluster_nodes.live_nodes()
    assert found == [SMALL, BARE]
    assert [(node.name, node.resources) for node in found] == [("small", SMALL.resources), ("bare", BARE.resources)]
    assert str(found[0]) == "small (aaaaaaaaaaaa)"


def test_a_build_that_fails_on_a_node_is_a_message_and_any_other_error_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[object, ...]] = []

    def ensure(project: ActorProject, actor: str, *, rebuild: bool, run: str) -> None:
        calls.append((project, actor, rebuild, run))
        if actor == "broken":
            raise EnvironmentBuildError("the disk is full")
        if actor == "bug":
            raise RuntimeError("a bug")

    monkeypatch.setattr(cluster_nodes, "ensure_environment", ensure)
    assert build_here(PROJECT, "whole", True, "run 1") is None
    assert build_here(PROJECT, "broken", False, "run 2") == "the disk is full"
    with pytest.raises(RuntimeError, match="a bug"):
        build_here(PROJECT, "bug", False, "run 3")
    assert calls[:2] == [(PROJECT, "whole", True, "run 1"), (PROJECT, "broken", False, "run 2")]


class Cluster:
    """Nodes that come one after another, and those of them on which builds fail."""

    def __init__(self, states: list[list[Node]], failing: Mapping[str, str] | None = None) -> None:
        self.states = states
        self.failing = failing or {}
        self.built: list[tuple[list[str], bool, str]] = []

    def live_nodes(self) -> list[Node]:
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

    def build_on(
        self, nodes: Collection[Node], project: ActorProject, actor: str, rebuild: bool, run: str
    ) -> dict[Node, str]:
        assert (project, actor) == (PROJECT, "pkg.mod.One")
        self.built.append(([node.name for node in nodes], rebuild, run))
        return {node: self.failing[node.name] for node in nodes if node.name in self.failing}


def cluster_of(
    monkeypatch: pytest.MonkeyPatch, *states: list[Node], failing: Mapping[str, str] | None = None
) -> Cluster:
    cluster = Cluster(list(states), failing)
    monkeypatch.setattr(cluster_nodes, "live_nodes", cluster.live_nodes)
    monkeypatch.setattr(cluster_nodes, "build_on", cluster.build_on)
    return cluster


def test_a_node_that_joins_meanwhile_gets_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = cluster_of(monkeypatch, [SMALL], [SMALL, LARGE])
    assert ensure_environment_on_nodes(PROJECT, "pkg.mod.One", {}, True, "run") == [SMALL, LARGE]
    assert cluster.built == [(["small"], True, "run"), (["large"], True, "run")]


def test_nodes_on_which_the_build_fails_are_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster_of(monkeypatch, NODES, failing={"large": "the disk is full"})
    with pytest.raises(NodesLackEnvironmentError) as error:
        ensure_environment_on_nodes(PROJECT, "pkg.mod.One", {}, False, "run")
    assert str(error.value) == (
        "1 of 2 nodes that can run pkg.mod.One lack its environment:\n  large (bbbbbbbbbbbb): the disk is full"
    )
    cluster_of(monkeypatch, NODES, failing={"large": "the disk is full", "small": "no uv"})
    with pytest.raises(NodesLackEnvironmentError) as error:
        ensure_environment_on_nodes(PROJECT, "pkg.mod.One", {}, False, "run")
    assert str(error.value) == (
        "2 of 2 nodes that can run pkg.mod.One lack its environment:\n"
        "  small (aaaaaaaaaaaa): no uv\n  large (bbbbbbbbbbbb): the disk is full"
    )


@pytest.mark.parametrize(
    ("options", "needs"), [({"num_gpus": 9}, "{'CPU': 1.0, 'GPU': 9}"), ({"num_cpus": 0}, "nothing")]
)
def test_where_no_node_can_run_it_all_are_listed(
    options: Mapping[str, Any], needs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster_of(monkeypatch, [SMALL, BARE] if needs != "nothing" else [])
    with pytest.raises(NodesLackEnvironmentError) as error:
        ensure_environment_on_nodes(PROJECT, "pkg.mod.One", options, False, "run")
    there = "small (aaaaaaaaaaaa) with {'CPU': 1.0, 'memory': 10.0}; bare (cccccccccccc) with {'node:1': 1.0}"
    expected = there if needs != "nothing" else ""
    assert str(error.value) == f"no live node can run pkg.mod.One, which needs {needs}; there are: {expected}"


class Tasks:
    """What stands for Ray's: keeps how each task was started, and answers by the node that it was started on."""

    def __init__(self, answers: Mapping[str, str | Exception | None]) -> None:
        self.answers = answers
        self.started: list[tuple[dict[str, Any], tuple[object, ...]]] = []
        self.chosen: dict[str, Any] = {}

    def task_of(self, function: object) -> "Tasks":
        assert function is build_here
        return self

    def options(self, **chosen: Any) -> "Tasks":
        self.chosen = chosen
        return self

    def remote(self, *arguments: object) -> str:
        self.started.append((self.chosen, arguments))
        node: str = self.chosen["scheduling_strategy"].node_id
        return node

    def get(self, task: str) -> str | None:
        # All of them are started before the first is waited for.
        assert len(self.started) == len(self.answers)
        answer = self.answers[task]
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_builds_are_started_on_all_nodes_at_once_and_failures_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = cluster_nodes.ray.exceptions.RayError("the node is gone")
    tasks = Tasks({SMALL.identifier: "the disk is full", LARGE.identifier: None, BARE.identifier: gone})
    monkeypatch.setattr(cluster_nodes.ray, "remote", tasks.task_of)
    monkeypatch.setattr(cluster_nodes.ray, "get", tasks.get)
    failures = build_on(NODES, PROJECT, "pkg.mod.One", True, "this run")
    assert failures == {SMALL: "the disk is full", BARE: "the node is gone"}
    assert list(failures) == [SMALL, BARE]
    for node, (options, arguments) in zip(NODES, tasks.started, strict=True):
        strategy = options.pop("scheduling_strategy")
        assert isinstance(strategy, NodeAffinitySchedulingStrategy)
        assert (strategy.node_id, strategy.soft) == (node.identifier, False)
        assert options == {
            "num_cpus": 0,
            "max_retries": 0,
            "runtime_env": {"py_executable": sys.executable},
            "name": "environment of pkg.mod.One",
        }
        assert arguments == (PROJECT, "pkg.mod.One", True, "this run")
