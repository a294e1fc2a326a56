"""A driver that launches the small project's actors on a cluster of three nodes and writes down what it finds.

``launch_driver.py FOLDER``: the project goes into FOLDER, what was found into ``FOLDER/found.json``. The head has two
CPUs; of two nodes without CPUs one has a folder of its own for environments, and the other a folder that is too small.
"""

import importlib
import importlib.util
import json
import os
import pathlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

import ray
from nodes_with_own_folders import add_node, can_hide
from ray.cluster_utils import Cluster
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
from small_project import write_small_project

from nemo_rl.distributed.worker_groups import launch
from nemo_rl.utils.actor_project import ActorProject

STORE_BYTES = 80 * 1024 * 1024
NODE: dict[str, Any] = {"object_store_memory": STORE_BYTES, "include_dashboard": False}
IMPORTS = {"MarkupReader": "toml", "MarkupWriter": "xmltodict", "OldDecorator": "decorator"}


def answers(handle: Any, module: str) -> dict[str, Any]:
    """What one actor says of itself."""
    return {
        "interpreter": ray.get(handle.interpreter.remote()),
        "prefix": ray.get(handle.prefix.remote()),
        "distributions": ray.get(handle.distributions.remote()),
        "file": ray.get(handle.file_of.remote(module)),
        "VIRTUAL_ENV": ray.get(handle.variable.remote("VIRTUAL_ENV")),
        "UV_PROJECT_ENVIRONMENT": ray.get(handle.variable.remote("UV_PROJECT_ENVIRONMENT")),
        "node": ray.get(handle.node.remote()),
    }


def main(folder: pathlib.Path) -> None:
    # Its handlers at exit can only be set by the main thread, and nodes are started by others.
    cluster = Cluster(initialize_head=True, shutdown_at_exit=False, head_node_args={"num_cpus": 2, **NODE})
    try:
        found = explore(folder, cluster)
    finally:
        ray.shutdown()
        cluster.shutdown()  # type: ignore[no-untyped-call]
    (folder / "found.json").write_text(json.dumps(found, indent=2))


def explore(folder: pathlib.Path, cluster: Cluster) -> dict[str, Any]:
    project = write_small_project(folder, dependencies=f'"ray=={ray.__version__}"')
    sys.path.insert(0, str(project.root))
    actors, exports = importlib.import_module("small.actors"), importlib.import_module("small.exports")

    found: dict[str, Any] = {"driver": sys.executable, "environments": str(project.environments)}
    found["driver can import"] = [name for name in IMPORTS.values() if importlib.util.find_spec(name)]

    def error_of(actor: Any, options: Mapping[str, Any] | None = None) -> str:
        try:
            launch(actor, project=project, options=options)
        except (RuntimeError, ValueError, TypeError) as error:
            return f"{type(error).__name__}: {error}"
        return "no error"

    ray.init(address=cluster.address, log_to_driver=False)
    found["job runtime_env"] = dict(ray.get_runtime_context().runtime_env)
    handles = {name: launch(f"small.actors.{name}", project=project, options={"num_cpus": 0}) for name in IMPORTS}
    for name, module in IMPORTS.items():
        found[name] = answers(handles[name], module)
        ray.kill(handles[name])
    variables = {"KEPT": "yes", "VIRTUAL_ENV": "replaced"}
    handle = launch(exports.MarkupReader, project=project, options={"runtime_env": {"env_vars": variables}})
    found["re-exported"] = answers(handle, "toml") | {"KEPT": ray.get(handle.variable.remote("KEPT"))}
    ray.kill(handle)
    # The project is not installed beside the driver, as nemo_rl is.
    beside_driver = {"num_cpus": 0, "runtime_env": {"env_vars": {"PYTHONPATH": str(project.root)}}}
    found["on driver"] = answers(launch(actors.OnDriver, project=project, options=beside_driver), "ray")

    found["no such node"] = error_of(actors.Colourful, {"num_gpus": 1})
    found["unregistered"] = error_of(actors.Unregistered)
    found["unregistered name"] = error_of("small.actors.Colorful")
    found["interpreter chosen"] = error_of(actors.Colourful, {"runtime_env": {"py_executable": "python"}})
    found["no actor class"] = error_of(actors.NewDecoratorImpl)

    os.environ["NEMO_RL_PY_EXECUTABLES_SYSTEM"] = "1"
    found["system flag"] = answers(launch(actors.MarkupReader, project=project, options=beside_driver), "ray")
    del os.environ["NEMO_RL_PY_EXECUTABLES_SYSTEM"]
    if can_hide(folder):
        found |= explore_nodes_apart(project, cluster, actors, error_of)
    return found


def explore_nodes_apart(
    project: ActorProject, cluster: Cluster, actors: Any, error_of: Callable[..., str]
) -> dict[str, Any]:
    """What is found with nodes that do not share the head's folder."""
    actor = "small.exports.NewDecorator"
    found: dict[str, Any] = {}
    apart = add_node(cluster, project.environments, "2g", num_cpus=0, resources={"apart": 1}, **NODE)
    found["apart"] = apart.node_id
    there = NodeAffinitySchedulingStrategy(apart.node_id, soft=False)
    handle = launch(actors.NewDecorator, project=project, options={"scheduling_strategy": there})
    found["NewDecorator"] = answers(handle, "decorator")
    ray.kill(handle)
    found["built on the head after launch elsewhere"] = project.interpreter_of(actor).exists()
    ray.kill(launch(actors.NewDecorator, project=project))
    found["built on the head after launch anywhere"] = project.interpreter_of(actor).exists()
    found["default actor cannot run there"] = error_of(actors.Colourful, {"scheduling_strategy": there})

    cramped = add_node(cluster, project.environments, "2m", num_cpus=0, resources={"cramped": 1}, **NODE)
    found["cramped"] = cramped.node_id
    found["cramped error"] = error_of(actors.NewDecorator)
    return found


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
