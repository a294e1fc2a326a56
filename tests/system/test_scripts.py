"""The scripts that run where nothing of the project is installed, each in a process of its own."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

from nemo_rl.distributed import actor_environments
from tools import generate_fingerprint

LEAF = pathlib.Path(actor_environments.__file__)
FINGERPRINT = pathlib.Path(generate_fingerprint.__file__)


def test_leaf_exits_with_the_code_of_main_and_needs_no_site_packages(tmp_path: pathlib.Path) -> None:
    alone = tmp_path / "leaf.py"
    alone.write_bytes(LEAF.read_bytes())
    listed = subprocess.run(
        [sys.executable, "-I", "-S", str(alone), "trtllm"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (listed.returncode, listed.stderr) == (0, "")
    assert listed.stdout == (
        "nemo_rl.models.generation.trtllm.trtllm_worker_async.TrtllmAsyncGenerationWorker\ttrtllm\t--extra trtllm\n"
    )
    refused = subprocess.run(
        [sys.executable, "-I", "-S", str(alone), "nightly"], capture_output=True, text=True, timeout=60
    )
    assert (refused.returncode, refused.stdout) == (2, "")


def test_fingerprint_script_runs_alone(tmp_path: pathlib.Path) -> None:
    (tmp_path / "tools").mkdir()
    shutil.copy(FINGERPRINT, tmp_path / "tools")
    (tmp_path / "pyproject.toml").write_bytes(b"pyproject")
    command = [sys.executable, "-I", "-S", str(tmp_path / "tools" / FINGERPRINT.name)]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == generate_fingerprint.fingerprint(tmp_path)
    refused = subprocess.run([*command, "--outptu", "x"], capture_output=True, text=True, timeout=60)
    assert (refused.returncode, refused.stdout) == (2, "")


def test_fingerprint_script_does_not_wait_for_a_pipe_in_a_submodule(tmp_path: pathlib.Path) -> None:
    (tmp_path / ".gitmodules").write_text('[submodule "a"]\n\tpath = a\n', "utf-8")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_bytes(b"1")
    without = generate_fingerprint.fingerprint(tmp_path)
    os.mkfifo(tmp_path / "a" / "pipe")
    command = [sys.executable, "-I", "-S", str(FINGERPRINT), "--root", str(tmp_path)]
    assert json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout) == without


def test_fingerprint_script_writes_to_standard_output_by_its_name_too(tmp_path: pathlib.Path) -> None:
    before = os.readlink("/dev/stdout")
    command = [sys.executable, "-I", "-S", str(FINGERPRINT), "--root", str(tmp_path)]
    printed = [
        subprocess.run([*command, *more], capture_output=True, check=True, timeout=60).stdout
        for more in ([], ["--output", "/dev/stdout"])
    ]
    assert printed[0] == printed[1] != b""
    assert os.readlink("/dev/stdout") == before
