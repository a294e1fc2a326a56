"""What holds for every engine class: found from the table, so a new actor is looked at without a change."""

import importlib
import importlib.util
import inspect
import subprocess
import sys
from typing import Any

import pytest

from nemo_rl.distributed.actor_environments import ACTOR_ENVIRONMENTS
from nemo_rl.distributed.py_executables import py_executable_for
from nemo_rl.models.engine_owner import EngineOwner, cuda_device_count

WITH_ENVIRONMENT = sorted(name for name, extras in ACTOR_ENVIRONMENTS.items() if extras)
ENGINE_LIBRARIES = (
    "accelerate",
    "megatron",
    "modelopt",
    "nemo_automodel",
    "nemo_gym",
    "sglang",
    "tensorrt_llm",
    "torch",
    "transformers",
    "vllm",
)


def plain_class(name: str) -> type[Any]:
    """The class that Ray makes the actor of; where it only adds Ray to a plain class, that one."""
    module, _, attribute = name.rpartition(".")
    actor = getattr(importlib.import_module(module), attribute)
    modified = actor.__ray_metadata__.modified_class
    return next(base for base in inspect.getmro(modified) if base.__name__.endswith("Impl"))


ENGINE_OWNERS = [name for name in WITH_ENVIRONMENT if issubclass(plain_class(name), EngineOwner)]


def test_sixteen_of_the_twenty_own_an_engine() -> None:
    assert len(WITH_ENVIRONMENT) == 20
    assert len(ENGINE_OWNERS) == 16


@pytest.mark.parametrize("name", WITH_ENVIRONMENT)
def test_the_class_names_the_executable_of_its_extras(name: str) -> None:
    assert py_executable_for(ACTOR_ENVIRONMENTS[name]) == plain_class(name).DEFAULT_PY_EXECUTABLE


@pytest.mark.parametrize("name", ENGINE_OWNERS)
def test_requirements_name_the_extras_of_the_table(name: str) -> None:
    assert list(plain_class(name).REQUIREMENTS.extras) == ACTOR_ENVIRONMENTS[name]


@pytest.mark.parametrize("name", ENGINE_OWNERS)
def test_methods_are_named_and_documented_not_passed_through(name: str) -> None:
    owner = plain_class(name)
    assert not hasattr(owner, "__getattr__")
    assert inspect.getdoc(owner)
    for method_name, method in inspect.getmembers(owner, inspect.isfunction):
        if not method_name.startswith("_"):
            assert inspect.getdoc(method), method_name
            assert "return" in inspect.get_annotations(method), method_name


@pytest.mark.parametrize("name", ENGINE_OWNERS)
def test_the_first_error_says_what_this_interpreter_lacks(name: str) -> None:
    owner = unconfigured(plain_class(name))
    wanted = owner.REQUIREMENTS
    phrases = owner.missing_requirements()
    absent = [package for package in wanted.packages if importlib.util.find_spec(package.split(".")[0]) is None]
    assert [package for package in absent if f"the package '{package}'" not in phrases] == []
    if wanted.cuda_devices and cuda_device_count() == 0:
        assert f"{wanted.cuda_devices} CUDA device(s), of which this process sees 0" in phrases
    if not phrases:
        pytest.skip("this interpreter has everything that the engine needs")


def unconfigured(owner_class: type[Any]) -> EngineOwner[Any]:
    """An owner that asks for as many devices as its class does by default."""
    bare: type[Any] = type(
        owner_class.__name__, (owner_class,), {"required_cuda_devices": EngineOwner.required_cuda_devices}
    )
    owner: EngineOwner[Any] = bare.__new__(bare)
    return owner


def test_importing_every_class_needs_no_library_of_any_engine() -> None:
    modules = sorted({name.rpartition(".")[0] for name in WITH_ENVIRONMENT})
    code = "\n".join(
        [
            "import importlib, sys",
            f"libraries = {ENGINE_LIBRARIES!r}",
            "for library in libraries: sys.modules[library] = None",
            f"for module in {modules!r}: importlib.import_module(module)",
            "print('imported', len([m for m in sys.modules if m.startswith('nemo_rl.')]))",
        ]
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("imported ")
