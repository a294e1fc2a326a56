"""What importing readers of the table does, in a new process and over small copies of the project."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from nemo_rl.distributed import py_executables

ROOT = pathlib.Path(py_executables.__file__).parents[2]
LEAF = "nemo_rl/distributed/actor_environments.py"
FLAG = "NEMO_RL_PY_EXECUTABLES_SYSTEM"


def in_new_process(code: str, flag: str | None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != FLAG}
    if flag is not None:
        environment[FLAG] = flag
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def small_project(tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of what the registry needs, outside the checkout."""
    for path in ("pyproject.toml", "nemo_rl/__init__.py", LEAF):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    for name in ("__init__", "driver_settings", "py_executables", "ray_actor_environment_registry"):
        shutil.copy(ROOT / f"nemo_rl/distributed/{name}.py", tmp_path / "nemo_rl/distributed")
    return tmp_path


def run_in(project: pathlib.Path, code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(project)!r})\n{code}"]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60)


def replace(project: pathlib.Path, old: str, new: str) -> None:
    text = (project / LEAF).read_text(encoding="utf-8")
    assert old in text
    (project / LEAF).write_text(text.replace(old, new, 1), encoding="utf-8")


def test_flag_gives_every_constant_and_every_entry_the_drivers_interpreter() -> None:
    code = (
        "import sys\n"
        "from nemo_rl.distributed.py_executables import PY_EXECUTABLES\n"
        "from nemo_rl.distributed.ray_actor_environment_registry import ACTOR_ENVIRONMENT_REGISTRY\n"
        "constants = {value for name, value in vars(PY_EXECUTABLES).items() if name.isupper()}\n"
        "print(len(ACTOR_ENVIRONMENT_REGISTRY), {*constants, *ACTOR_ENVIRONMENT_REGISTRY.values()} == {sys.executable})"
    )
    assert in_new_process(code, "1").stdout.split() == ["29", "True"]
    assert in_new_process(code, None).stdout.split() == ["29", "False"]


def test_modules_import_no_ray() -> None:
    code = (
        "import sys, nemo_rl.distributed.py_executables, nemo_rl.distributed.ray_actor_environment_registry\n"
        "print('nemo_rl.distributed.py_executables' in sys.modules, 'ray' in sys.modules)"
    )
    assert in_new_process(code, None).stdout.split() == ["True", "False"]


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
