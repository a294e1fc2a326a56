"""Actors, launched on real Ray nodes, find in their interpreters what the table promises."""

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

from nemo_rl.utils import environment_lock, uv_command

pytestmark = pytest.mark.xdist_group("ray")

FOLDER = pathlib.Path(__file__).parent
ACTORS_AND_PACKAGES = {
    "MarkupReader": {"toml", "xmltodict"},
    "MarkupWriter": {"toml", "xmltodict"},
    "OldDecorator": {"decorator"},
}


def machine_environment() -> dict[str, str]:
    """Environment variables for a driver that uses the machine's own cache of uv, which has Ray already."""
    kept = {name: value for name, value in os.environ.items() if name != "UV_CACHE_DIR"}
    # A busy machine takes longer to start a node than Ray waits by default.
    return {"RAY_raylet_start_wait_time_s": "180", **kept}


@pytest.fixture(scope="session")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a driver found that launched the small project's actors on a cluster of its own.

    The driver runs once for all workers of pytest-xdist, whichever of them gets the tests.
    """
    shared = tmp_path_factory.getbasetemp()
    folder = (shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared) / "launch"
    with environment_lock.locked(folder.with_name("launch.lock"), lambda line: None):
        if not (folder / "found.json").exists():
            folder.mkdir(exist_ok=True)
            command = [sys.executable, str(FOLDER / "launch_driver.py"), str(folder)]
            run = subprocess.run(command, env=machine_environment(), capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
    answers: dict[str, Any] = json.loads((folder / "found.json").read_text())
    return answers


@pytest.fixture
def apart(found: dict[str, Any]) -> str:
    """Identifier of the node that has a folder of its own."""
    if "apart" not in found:
        pytest.skip("nodes with folders of their own need the right to mount, which this process lacks")
    return str(found["apart"])


@pytest.mark.parametrize("actor", ACTORS_AND_PACKAGES)
def test_an_actor_runs_on_the_interpreter_of_its_environment(found: dict[str, Any], actor: str) -> None:
    folder = f"{found['environments']}/small.actors.{actor}"
    assert found[actor]["interpreter"] == f"{folder}/bin/python"
    assert found[actor]["prefix"] == folder


@pytest.mark.parametrize("actor", ACTORS_AND_PACKAGES)
def test_an_actor_finds_the_packages_of_its_extras_and_no_others(found: dict[str, Any], actor: str) -> None:
    names = {name for name, _ in found[actor]["distributions"]}
    every_extra = set[str]().union(*ACTORS_AND_PACKAGES.values(), {"termcolor"})
    assert names & every_extra == ACTORS_AND_PACKAGES[actor]
    assert {"ray", "small-project"} <= {name.replace("_", "-") for name in names}


@pytest.mark.parametrize("actor", ACTORS_AND_PACKAGES)
def test_an_actor_imports_what_the_driver_cannot(found: dict[str, Any], actor: str) -> None:
    assert found["driver can import"] == []
    assert found[actor]["file"].startswith(found[actor]["prefix"])


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT"])
def test_the_variables_name_the_folder_of_the_environment_and_not_its_interpreter(
    found: dict[str, Any], variable: str
) -> None:
    assert found["MarkupReader"][variable] == f"{found['environments']}/small.actors.MarkupReader"


def test_a_class_is_found_by_its_definition_wherever_it_was_imported_from(found: dict[str, Any]) -> None:
    assert found["re-exported"]["prefix"] == f"{found['environments']}/small.actors.MarkupReader"


def test_a_callers_variables_are_kept_but_not_for_the_folder(found: dict[str, Any]) -> None:
    assert found["re-exported"]["KEPT"] == "yes"
    assert found["re-exported"]["VIRTUAL_ENV"] == f"{found['environments']}/small.actors.MarkupReader"


def test_an_actor_without_extras_runs_on_the_drivers_interpreter(found: dict[str, Any]) -> None:
    assert found["on driver"]["interpreter"] == found["driver"]
    assert found["on driver"]["VIRTUAL_ENV"] is None


def test_the_system_flag_puts_every_actor_on_the_drivers_interpreter(found: dict[str, Any]) -> None:
    assert found["system flag"]["interpreter"] == found["driver"]


def test_an_actor_runs_on_a_node_without_cpus_in_an_environment_that_was_built_there(
    found: dict[str, Any], apart: str
) -> None:
    assert found["NewDecorator"]["node"] == apart != found["MarkupReader"]["node"]
    assert found["NewDecorator"]["prefix"] == f"{found['environments']}/small.exports.NewDecorator"
    assert ["decorator", "5.2.1"] in found["NewDecorator"]["distributions"]
    assert ["decorator", "5.1.1"] in found["OldDecorator"]["distributions"]


def test_environments_are_built_on_the_nodes_that_can_run_the_actor_and_on_no_other(
    found: dict[str, Any], apart: str
) -> None:
    assert found["built on the head after launch elsewhere"] is False
    assert found["built on the head after launch anywhere"] is True


def test_nodes_that_lack_the_environment_are_named_and_nothing_is_launched(found: dict[str, Any], apart: str) -> None:
    error = found["cramped error"]
    assert "1 of 3 nodes that can run small.exports.NewDecorator lack its environment" in error
    assert found["cramped"][:12] in error and apart[:12] not in error
    assert "No space left on device" in error and "the disk is full" in error


def test_an_actor_that_no_node_can_run_is_an_error_that_lists_the_nodes(found: dict[str, Any], apart: str) -> None:
    assert "no live node can run small.actors.Colourful, which needs {'CPU': 1.0, 'GPU': 1}" in found["no such node"]
    assert "needs {'CPU': 1.0}" in found["default actor cannot run there"]
    assert apart[:12] in found["default actor cannot run there"]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (
            "unregistered",
            "UnregisteredActorError: no environment is registered for the actor small.actors.Unregistered",
        ),
        ("unregistered name", "did you mean 'small.actors.Colourful'?"),
        ("interpreter chosen", "ValueError: runtime_env has py_executable, but the table gives small.actors.Colourful"),
        ("no actor class", "is no Ray actor class: decorate it with @ray.remote"),
    ],
)
def test_a_wrong_launch_is_explained(found: dict[str, Any], case: str, message: str) -> None:
    assert message in found[case]


DRIVER_UNDER_UV_RUN = """
import json
import ray
from ray._private.runtime_env.uv_runtime_env_hook import _get_uv_run_cmdline
import nemo_rl.distributed.worker_groups
ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=80 * 1024 * 1024)
print(json.dumps([_get_uv_run_cmdline(), dict(ray.get_runtime_context().runtime_env)]))
"""


def test_the_uv_run_hook_of_ray_stays_off_though_the_driver_was_started_by_uv_run(tmp_path: pathlib.Path) -> None:
    (tmp_path / "driver.py").write_text(DRIVER_UNDER_UV_RUN)
    environment = uv_command.cleaned(machine_environment())
    environment.pop("RAY_ENABLE_UV_RUN_RUNTIME_ENV", None)
    command = [uv_command.find_uv(), "run", "--no-project", "--python", sys.executable, "driver.py"]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    command_line_that_ray_sees, runtime_env = json.loads(run.stdout.splitlines()[-1])
    assert command_line_that_ray_sees[1] == "run"
    assert runtime_env == {}
