"""The registry: the table as command lines, and what importing and looking up refuse."""

import importlib.metadata
import pathlib

import pytest

from nemo_rl.distributed.actor_environments import ACTOR_ENVIRONMENTS
from nemo_rl.distributed.py_executables import py_executable_for
from nemo_rl.distributed.ray_actor_environment_registry import (
    ACTOR_ENVIRONMENT_REGISTRY,
    UndeclaredExtraError,
    UnregisteredActorError,
    declared_extras,
    get_actor_python_env,
    normalized,
    reject_undeclared_extras,
    undeclared_extra_message,
    unregistered_actor_message,
)

LEAF = "nemo_rl/distributed/actor_environments.py"
DECLARED = {"nemo-gym": "nemo_gym", "vllm": "vllm", "mcore": "mcore"}


def test_registry_gives_each_entry_the_command_of_its_extras() -> None:
    assert list(ACTOR_ENVIRONMENT_REGISTRY) == list(ACTOR_ENVIRONMENTS)
    for name, extras in ACTOR_ENVIRONMENTS.items():
        assert ACTOR_ENVIRONMENT_REGISTRY[name] == py_executable_for(extras)
        assert get_actor_python_env(name) == py_executable_for(extras)


def test_names_of_extras_are_normalized_as_pep_685_says() -> None:
    assert normalized("Nemo_-.Gym") == normalized("nemo-gym") == "nemo-gym"
    assert normalized("vLLM") == "vllm"


def test_declared_extras_are_those_of_pyproject_as_it_spells_them(tmp_path: pathlib.Path) -> None:
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text('[project]\nname = "ä"\n[project.optional-dependencies]\nNeMo_Gym = []\nb = ["x"]\n', "utf-8")
    assert declared_extras(tmp_path) == {"nemo-gym": "NeMo_Gym", "b": "b"}
    pyproject.write_text('[project]\nname = "x"\n', "utf-8")
    assert declared_extras(tmp_path) == {}


def test_extras_of_a_wheel_are_known_by_their_normalized_names(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site" / "nemo_rl-1.dist-info"
    installed.mkdir(parents=True)
    monkeypatch.syspath_prepend(installed.parent)
    metadata = "Metadata-Version: 2.4\nName: nemo-rl\nVersion: 1\n"
    (installed / "METADATA").write_text(f"{metadata}Provides-Extra: nemo-gym\nProvides-Extra: Nv_Rx\n", "utf-8")
    assert declared_extras(tmp_path) == {"nemo-gym": None, "nv-rx": None}
    (installed / "METADATA").write_text(metadata, "utf-8")
    assert declared_extras(tmp_path) == {}
    assert importlib.metadata.version("nemo-rl") == "1"


def test_message_tells_a_misspelt_extra_from_one_that_is_spelt_otherwise() -> None:
    assert undeclared_extra_message("nemo_gym", DECLARED) == ""
    assert undeclared_extra_message("nemo_gym", {"nemo-gym": None}) == ""
    assert undeclared_extra_message("NeMo-Gym", DECLARED) == "extra 'NeMo-Gym' is spelt 'nemo_gym' in pyproject.toml"
    assert undeclared_extra_message("mcore2", DECLARED) == (
        "extra 'mcore2' is not declared in pyproject.toml; did you mean 'mcore'?"
    )
    assert undeclared_extra_message("nemo_gim", DECLARED).endswith("; did you mean 'nemo_gym'?")
    assert undeclared_extra_message("nemo_gim", {"nemo-gym": None}).endswith("; did you mean 'nemo-gym'?")
    assert undeclared_extra_message("zzz", DECLARED) == "extra 'zzz' is not declared in pyproject.toml"


def test_rejection_names_every_undeclared_extra_at_once() -> None:
    reject_undeclared_extras({"p.A": ["vllm", "nemo_gym"], "p.B": None}, DECLARED)
    reject_undeclared_extras({"p.A": ["nemo_gym"]}, {"nemo-gym": None})
    with pytest.raises(UndeclaredExtraError) as refusal:
        reject_undeclared_extras({"p.A": ["vllm", "zzz"], "p.B": None, "p.C": ["nemo-gym"]}, DECLARED)
    assert str(refusal.value).splitlines() == [
        f"{LEAF} does not agree with [project.optional-dependencies] of pyproject.toml:",
        "    p.A: extra 'zzz' is not declared in pyproject.toml",
        "    p.C: extra 'nemo-gym' is spelt 'nemo_gym' in pyproject.toml",
        "    declared: mcore, nemo_gym, vllm",
    ]
    with pytest.raises(UndeclaredExtraError, match=r"declared: nemo-gym$"):
        reject_undeclared_extras({"p.A": ["zzz"]}, {"nemo-gym": None})


def test_unknown_name_is_answered_with_close_matches_and_the_line_to_add() -> None:
    table = {"p.a.Worker": ["a"], "p.a.Walker": None, "p.a.Worked": None, "p.a.Workers": ["b"], "q.Zzz": None}
    assert unregistered_actor_message("p.a.Worke", table).splitlines() == [
        "no environment is registered for the actor p.a.Worke",
        "    did you mean 'p.a.Worker'?",
        "    did you mean 'p.a.Worked'?",
        "    did you mean 'p.a.Workers'?",
        f"    to register it, add to {LEAF}:",
        '        "p.a.Worke": ["extra"],  # or None, for the driver\'s interpreter',
    ]


def test_right_class_in_a_wrong_module_is_recognised() -> None:
    table = {"q.b.Worker": ["a"], "p.a.Worker": None, "p.a.Workers": None}
    assert unregistered_actor_message("p.b.Worker", table).splitlines()[:2] == [
        "no environment is registered for the actor p.b.Worker",
        "    Worker is registered as p.a.Worker and as q.b.Worker; look it up by that name",
    ]
    assert "did you mean" not in unregistered_actor_message("p.b.Worker", table)


def test_look_up_of_an_unknown_name_raises_what_the_message_says() -> None:
    name = "nemo_rl.environments.NemoGym"
    with pytest.raises(UnregisteredActorError) as refusal:
        get_actor_python_env(name)
    assert str(refusal.value) == unregistered_actor_message(name, ACTOR_ENVIRONMENTS)
    assert "nemo_rl.environments.nemo_gym.NemoGym" in str(refusal.value)
