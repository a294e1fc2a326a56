"""Which entry of the table a class has, and what Ray is asked for with it; test_launch.py launches on real nodes."""

import os
import pathlib
import sys
import types
from collections.abc import Mapping
from typing import Any

import pytest
import ray
from ray._private import ray_constants
from ray.actor import ActorClass

from nemo_rl.distributed import worker_groups
from nemo_rl.distributed.actor_environments import ACTOR_ENVIRONMENTS
from nemo_rl.distributed.actor_names import (
    actor_class_named,
    checked,
    default_options,
    definition_of,
    names_that_mean,
    registered_name,
)
from nemo_rl.distributed.ray_actor_environment_registry import UnregisteredActorError
from nemo_rl.distributed.uv_run_hook import HOOK_VARIABLE, switch_off_uv_run_hook
from nemo_rl.distributed.worker_groups import actor_runtime_env, entry_of, has_environment, launch
from nemo_rl.utils.actor_project import ActorProject, this_project

MODULE = "workers_for_these_tests"
PROJECT = ActorProject(
    pathlib.Path("/project"),
    {f"{MODULE}.Plain": None, f"{MODULE}.Heavy": ["a"], f"{MODULE}.Renamed": ["a", "b"]},
    pathlib.Path("/environments"),
)


class Plain:
    pass


class Heavy:
    pass


class RenamedImpl:
    pass


class Stranger:
    pass


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A module with actor classes, which has the name that the table uses."""
    module = types.ModuleType(MODULE)
    for plain in (Plain, Heavy, RenamedImpl, Stranger):
        monkeypatch.setattr(plain, "__module__", MODULE)
    vars(module).update(
        Plain=ray.remote(Plain),
        Heavy=ray.remote(num_gpus=1, runtime_env={"env_vars": {"OF_CLASS": "1"}})(Heavy),
        Renamed=ray.remote(RenamedImpl),
        Stranger=ray.remote(Stranger),
        number=1,
    )
    monkeypatch.setitem(sys.modules, MODULE, module)
    return module


@pytest.mark.parametrize("actor", sorted(ACTOR_ENVIRONMENTS))
def test_every_class_of_the_table_is_found_by_itself(actor: str) -> None:
    assert registered_name(actor_class_named(actor), ACTOR_ENVIRONMENTS) == actor


def test_nemo_gym_installs_by_hard_links_since_uv_refuses_symlinks_without_a_cache() -> None:
    actor = "nemo_rl.environments.nemo_gym.NemoGym"
    variables = actor_runtime_env(this_project(), actor, {})["env_vars"]
    assert variables["UV_LINK_MODE"] == "hardlink"
    other = actor_runtime_env(
        this_project(), "nemo_rl.models.generation.sglang.sglang_worker.SGLangGenerationWorker", {}
    )
    assert "UV_LINK_MODE" not in other["env_vars"]


def test_a_class_is_found_by_its_name(workers: types.ModuleType) -> None:
    assert actor_class_named(f"{MODULE}.Plain") is workers.Plain
    for name, error, message in (
        ("Plain", ValueError, "'Plain' names no module; an actor's name is like package.module.Class"),
        (f"{MODULE}.Gone", ImportError, f"the module {MODULE} has no class Gone"),
        ("no_such_module.Plain", ImportError, "No module named 'no_such_module'"),
        (f"{MODULE}.number", TypeError, "1 is no Ray actor class: decorate it with @ray.remote, or give its name"),
    ):
        with pytest.raises(error) as raised:
            actor_class_named(name)
        assert str(raised.value) == message


def test_a_plain_class_is_no_actor_class(workers: types.ModuleType) -> None:
    assert checked(workers.Heavy) is workers.Heavy
    with pytest.raises(TypeError, match=r"Plain'> is no Ray actor class: decorate it with @ray\.remote"):
        checked(Plain)


def test_a_class_has_its_definition_and_the_options_of_its_decorator(workers: types.ModuleType) -> None:
    assert definition_of(workers.Renamed) == (MODULE, "RenamedImpl")
    assert default_options(workers.Plain).get("num_gpus") is None
    assert default_options(workers.Heavy)["num_gpus"] == 1
    assert default_options(types.SimpleNamespace()) == {}  # type: ignore[arg-type]


def test_the_names_of_a_class_are_those_under_which_it_is_found(
    workers: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = types.ModuleType("again")
    vars(again).update(Heavy=workers.Heavy, Plain=1)
    monkeypatch.setitem(sys.modules, "again", again)
    names = [f"{MODULE}.Plain", f"{MODULE}.Heavy", "again.Plain", "again.Heavy", "again.Gone", "never_imported.Other"]
    assert list(names_that_mean(workers.Heavy, names)) == ["again.Heavy", f"{MODULE}.Heavy"]
    with pytest.raises(ImportError, match="never_imported"):  # may hold the class, by its name
        list(names_that_mean(workers.Heavy, ["never_imported.Heavy"]))


def test_a_class_without_an_entry_is_named_by_its_definition(workers: types.ModuleType) -> None:
    assert registered_name(workers.Renamed, PROJECT.table) == f"{MODULE}.Renamed"
    with pytest.raises(UnregisteredActorError, match=f"no environment is registered for the actor {MODULE}.Stranger"):
        registered_name(workers.Stranger, PROJECT.table)


def test_an_actor_is_given_by_class_by_its_name_or_by_another_name_of_it(
    workers: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert entry_of(PROJECT, workers.Plain) == (f"{MODULE}.Plain", workers.Plain)
    assert entry_of(PROJECT, f"{MODULE}.Heavy") == (f"{MODULE}.Heavy", workers.Heavy)
    again = types.ModuleType("again")
    vars(again).update(Other=workers.Heavy)
    monkeypatch.setitem(sys.modules, "again", again)
    assert entry_of(PROJECT, "again.Other") == (f"{MODULE}.Heavy", workers.Heavy)
    for name in ("Plain", "no_such_module.Plain", f"{MODULE}.Plian", f"{MODULE}.Stranger"):
        with pytest.raises(UnregisteredActorError, match=f"no environment is registered for the actor {name}"):
            entry_of(PROJECT, name)
    with pytest.raises(TypeError, match="no Ray actor class"):
        entry_of(PROJECT, Plain)  # type: ignore[arg-type]


def test_extras_make_an_environment_unless_the_system_flag_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert has_environment(PROJECT, f"{MODULE}.Heavy") and not has_environment(PROJECT, f"{MODULE}.Plain")
    monkeypatch.setenv("NEMO_RL_PY_EXECUTABLES_SYSTEM", "1")
    assert not has_environment(PROJECT, f"{MODULE}.Heavy")
    with pytest.raises(UnregisteredActorError, match="did you mean"):
        has_environment(PROJECT, f"{MODULE}.Hevy")


FOLDER = f"/environments/{MODULE}.Heavy"
OWN = {"VIRTUAL_ENV": FOLDER, "UV_PROJECT_ENVIRONMENT": FOLDER}


@pytest.mark.parametrize(
    ("actor", "given", "runtime_env"),
    [
        ("Plain", {}, {"py_executable": sys.executable}),
        ("Plain", {"env_vars": {}}, {"env_vars": {}, "py_executable": sys.executable}),
        ("Plain", {"env_vars": {"A": "1"}}, {"env_vars": {"A": "1"}, "py_executable": sys.executable}),
        ("Heavy", {}, {"env_vars": OWN, "py_executable": f"{FOLDER}/bin/python"}),
        (
            "Heavy",
            {"env_vars": {"A": "1", "VIRTUAL_ENV": "/other"}, "working_dir": "/w"},
            {"env_vars": {"A": "1", **OWN}, "working_dir": "/w", "py_executable": f"{FOLDER}/bin/python"},
        ),
    ],
)
def test_the_runtime_env_has_the_interpreter_and_the_folder(
    actor: str, given: Mapping[str, Any], runtime_env: Mapping[str, Any]
) -> None:
    assert actor_runtime_env(PROJECT, f"{MODULE}.{actor}", given) == runtime_env


@pytest.mark.parametrize("key", ["py_executable", "pip", "uv", "conda", "container", "image_uri"])
def test_an_interpreter_is_not_the_callers_to_choose(key: str) -> None:
    with pytest.raises(ValueError) as error:
        actor_runtime_env(PROJECT, f"{MODULE}.Heavy", {key: "x", "working_dir": "/w"})
    assert str(error.value) == f"runtime_env has {key}, but the table gives {MODULE}.Heavy its interpreter"


def test_all_interpreters_that_were_chosen_are_named() -> None:
    with pytest.raises(ValueError, match="runtime_env has pip, uv, but the table gives"):
        actor_runtime_env(PROJECT, f"{MODULE}.Heavy", {"uv": "x", "pip": "y"})


class Asked:
    """What Ray was asked for, in place of a cluster."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ensured: list[tuple[Any, ...]] = []
        self.started: list[tuple[ActorClass[Any], dict[str, Any], tuple[object, ...], dict[str, object]]] = []
        monkeypatch.setattr(worker_groups, "ensure_environment_on_nodes", lambda *given: self.ensured.append(given))
        asked = self

        def options(actor_class: ActorClass[Any], **given: Any) -> Any:
            class Remote:
                def remote(self, *arguments: object, **keywords: object) -> str:
                    asked.started.append((actor_class, given, arguments, keywords))
                    return "handle"

            return Remote()

        monkeypatch.setattr(ActorClass, "options", options)


def test_a_launch_makes_sure_of_the_environment_and_starts_the_class(
    workers: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_groups, "this_run", lambda: "this run")
    asked = Asked(monkeypatch)
    given = {"name": "x", "num_cpus": 2, "runtime_env": {"env_vars": {"A": "1"}}}
    assert launch(f"{MODULE}.Heavy", 1, "two", options=given, project=PROJECT, key=3) == "handle"
    [(project, name, wanted, rebuild, run)] = asked.ensured
    assert (project, name, rebuild, run) == (PROJECT, f"{MODULE}.Heavy", False, "this run")
    assert (wanted["num_gpus"], wanted["num_cpus"], wanted["runtime_env"]) == (1, 2, {"env_vars": {"A": "1"}})
    runtime_env = {"env_vars": {"A": "1", **OWN}, "py_executable": f"{FOLDER}/bin/python"}
    [(started, options, arguments, keywords)] = asked.started
    assert started is workers.Heavy
    assert options == {"name": "x", "num_cpus": 2, "runtime_env": runtime_env}
    assert (arguments, keywords) == ((1, "two"), {"key": 3})


def test_a_launch_keeps_what_the_class_was_decorated_with_and_heeds_a_forced_rebuild(
    workers: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NRL_FORCE_REBUILD_VENVS", "true")
    asked = Asked(monkeypatch)
    launch(workers.Heavy, project=PROJECT)
    assert asked.ensured[0][3] is True
    assert asked.started[0][1]["runtime_env"]["env_vars"] == {"OF_CLASS": "1", **OWN}


def test_an_actor_without_extras_needs_no_environment(
    workers: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(monkeypatch)
    launch(workers.Plain, project=PROJECT)
    assert asked.ensured == []
    assert asked.started[0][1:] == ({"runtime_env": {"py_executable": sys.executable}}, (), {})


def test_without_a_project_it_is_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(monkeypatch)
    launch("nemo_rl.environments.math_environment.MathEnvironment")
    assert asked.started[0][1]["runtime_env"]["py_executable"] == sys.executable
    with pytest.raises(UnregisteredActorError, match=MODULE):
        launch(f"{MODULE}.Heavy")


def test_rays_own_environment_of_uv_run_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOOK_VARIABLE, "1")
    monkeypatch.setattr(ray_constants, "RAY_ENABLE_UV_RUN_RUNTIME_ENV", True)
    switch_off_uv_run_hook()
    assert os.environ[HOOK_VARIABLE] == "0"
    assert ray_constants.RAY_ENABLE_UV_RUN_RUNTIME_ENV is False
