"""Build contexts: what git knows of this checkout, and the lock, which is written before and never committed."""

import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

SKIPPED = {
    "SKIP_VLLM_BUILD": "1",
    "SKIP_SGLANG_BUILD": "1",
    "SKIP_TRTLLM_BUILD": "1",
    "SKIP_EXTRAS": "fsdp automodel mcore modelopt",
}
"""Build arguments under which NemoGym and RolloutReassemblerActor remain."""

LEAF = "nemo_rl/distributed/actor_environments.py"


def make_context(folder: pathlib.Path) -> pathlib.Path:
    """Copy this project into a folder. Raises ``RuntimeError`` where there is no lock."""
    if not (ROOT / "uv.lock").is_file():
        raise RuntimeError("there is no uv.lock: run make lock (make test-image does)")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in [*filter(None, names), "uv.lock"]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder
