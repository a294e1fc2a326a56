"""The registry: the table as command lines, and what importing and looking up refuse."""

import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from nemo_rl.distributed import ray_actor_environment_registry as registry
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

ROOT = pathlib.Path(registry.__file__).parents[2]
LEAF = "nemo_rl/distributed/actor_environments.py"
DECLARED = {"nemo-gym": "nemo_gym", "vllm": "vllm", "mcore": "mcore"}


@pytest.fixture
def small_project(tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of what the registry needs, outside the checkout."""
    for path in ("pyproject.toml", "nemo_rl/__init__.py", LEAF):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    for name in ("__init__", "py_executables", "ray_actor_environment_registry"):
        shutil.copy(ROOT / f"nemo_rl/distributed/{name}.py", tmp_path / "nemo_rl/distributed")
    return tmp_path


def run_in(project: pathlib.Path, code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(project)!r})\n{code}"]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60)


def replace(project: pathlib.Path, old: str, new: str) -> None:
    text = (project / LEAF).read_text(encoding="utf-8")
    assert old in text
    (project / LEAF).write_text(text.replace(old, new, 1), encoding="utf-8")


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


@pytest.mark.parametrize(("misspelt", "problem"), [("mcore2", "is not declared"), ("MCORE", "is spelt 'mcore'")])
def test_importing_rejects_an_extra_that_is_not_declared(
    misspelt: str, problem: str, small_project: pathlib.Path
) -> None:
    code = "import nemo_rl.distributed.ray_actor_environment_registry"
    assert run_in(small_project, code).returncode == 0
    replace(small_project, '["mcore"]', f'["{misspelt}"]')
    imported = run_in(small_project, code)
    assert imported.returncode == 1
    assert f"MegatronPolicyWorker: extra '{misspelt}' {problem}" in imported.stderr
    suggested = re.search(r"'(mcore)'", imported.stderr)
    assert suggested is not None
    replace(small_project, f'"{misspelt}"', f'"{suggested[1]}"')
    assert run_in(small_project, code).returncode == 0


def test_added_line_makes_the_actor_known(small_project: pathlib.Path) -> None:
    code = (
        "from nemo_rl.distributed.ray_actor_environment_registry import get_actor_python_env\n"
        "print(get_actor_python_env('nemo_rl.new.Actor'))"
    )
    refused = run_in(small_project, code)
    assert refused.returncode == 1
    line = refused.stderr.splitlines()[-1]
    assert line.strip().startswith('"nemo_rl.new.Actor": ["extra"],')
    first_key = '    "nemo_rl.models.generation.sglang'
    replace(small_project, first_key, line.replace('"extra"', '"vllm"') + "\n" + first_key)
    assert run_in(small_project, code).stdout == f"uv run --locked --extra vllm --directory {small_project}\n"


def test_changed_extras_change_the_command(small_project: pathlib.Path) -> None:
    replace(small_project, 'NemoGym": ["nemo_gym"]', 'NemoGym": ["vllm", "nemo_gym"]')
    code = (
        "from nemo_rl.distributed.ray_actor_environment_registry import get_actor_python_env\n"
        "print(get_actor_python_env('nemo_rl.environments.nemo_gym.NemoGym'))"
    )
    expected = f"uv run --locked --extra vllm --extra nemo_gym --directory {small_project}\n"
    assert run_in(small_project, code).stdout == expected
