"""The command lines that start actors, and the flag that replaces them all."""

import pathlib
import shlex
import sys

import pytest

from nemo_rl.distributed import py_executables
from nemo_rl.distributed.actor_environments import ACTOR_ENVIRONMENTS
from nemo_rl.distributed.driver_settings import system_flag_is_set
from nemo_rl.distributed.py_executables import PY_EXECUTABLES, py_executable_for

ROOT = pathlib.Path(py_executables.__file__).parents[2]
FLAG = "NEMO_RL_PY_EXECUTABLES_SYSTEM"


@pytest.fixture(autouse=True)
def flag_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FLAG, raising=False)


def test_command_gives_the_extras_in_order_and_the_project_folder() -> None:
    assert py_executable_for(["b", "a"]) == f"uv run --locked --extra b --extra a --directory {ROOT}"
    assert py_executable_for([]) == f"uv run --locked --directory {ROOT}"


def test_command_of_no_environment_is_the_drivers_interpreter() -> None:
    assert py_executable_for(None) == sys.executable


def test_folder_with_a_space_stays_one_word_for_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(py_executables, "PROJECT_ROOT", pathlib.Path("/some where/project"))
    assert shlex.split(py_executable_for(["a"]))[-2:] == ["--directory", "/some where/project"]


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("0", False), ("", False)])
def test_flag_is_read_at_each_call(value: str, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert system_flag_is_set() is False
    monkeypatch.setenv(FLAG, value)
    assert system_flag_is_set() is expected
    assert (py_executable_for(["a"]) == sys.executable) is expected


@pytest.mark.parametrize("value", ["true", "yes", "2"])
def test_flag_with_another_value_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FLAG, value)
    with pytest.raises(ValueError) as refusal:
        py_executable_for(["a"])
    assert str(refusal.value) == (
        f"{FLAG} is '{value}'; set it to 1 for the driver's interpreter, or to 0, or unset it"
    )


def test_every_ordered_set_of_extras_has_its_constant() -> None:
    constants = {name: value for name, value in vars(PY_EXECUTABLES).items() if name.isupper()}
    sets = {tuple(extras) for extras in ACTOR_ENVIRONMENTS.values() if extras is not None}
    expected = {"_".join(extras).upper(): py_executable_for(extras) for extras in sets}
    assert constants == {"SYSTEM": sys.executable, "BASE": py_executable_for([]), **expected}
