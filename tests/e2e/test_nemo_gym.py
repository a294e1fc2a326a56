"""NemoGym of this project, built from its real extra by the real builder and launched on real Ray: ``make e2e``.

Needs the package index (about 400 MB), ``uv.lock`` and an interpreter of ``actor-python``.
"""

import os
import pathlib
import subprocess

import pytest
from actor_python import ROOT, find_actor_python

from nemo_rl.utils import uv_command

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("ray")]

DRIVER = pathlib.Path(__file__).with_name("nemo_gym_driver.py")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a driver with base dependencies alone finds; printed, since it stands in docs/environments.md."""
    folder = tmp_path_factory.mktemp("e2e")
    python = find_actor_python(os.environ)
    uv = uv_command.find_uv()
    assert (ROOT / "uv.lock").exists(), "there is no uv.lock: make lock"
    variables = {
        **uv_command.cleaned(os.environ),
        "UV_PROJECT_ENVIRONMENT": str(folder / "driver"),
        "NEMO_RL_VENV_DIR": str(folder / "environments"),
        # A busy machine takes longer to start a node than Ray waits by default.
        "RAY_raylet_start_wait_time_s": "180",
        "PATH": f"{pathlib.Path(uv).parent}{os.pathsep}{os.environ['PATH']}",
    }
    sync = [uv, *uv_command.sync_arguments(ROOT, str(python), (), with_project=True)]
    made = subprocess.run(sync, env=variables, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    command = [str(folder / "driver" / "bin" / "python"), str(DRIVER), str(folder / "gym")]
    run = subprocess.run(command, env=variables, capture_output=True, text=True, cwd=folder)
    print(run.stdout)
    assert run.returncode == 0, run.stdout + run.stderr
    return dict(line.split(": ", 1) for line in run.stdout.splitlines() if ": " in line)


def test_the_actor_runs_in_an_environment_of_its_real_extra_which_the_driver_lacks(report: dict[str, str]) -> None:
    assert report["driver can import nemo_gym"] == "false"
    assert report["actor's interpreter is that of its environment"] == "true"
    assert report["actor's environment"] == "nemo_rl.environments.nemo_gym.NemoGym"
    assert report["nemo_gym comes from its environment"] == "true"
    assert report["UV_LINK_MODE"] == "hardlink"


def test_its_real_servers_judge_answers_and_run_rollouts(report: dict[str, str]) -> None:
    assert report["rewards of judged answers"] == "[1.0, 0.0, 0.0]"
    assert report["rewards of a rollout"] == "[1.0, 0.0, 1.0]"
