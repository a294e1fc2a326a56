"""hadolint has nothing to say about the Dockerfile. It does not look into heredocs; the guards of the image do."""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "docker" / "Dockerfile"
HADOLINT = shutil.which("hadolint", path=str(pathlib.Path(sys.executable).parent)) or "hadolint"


def hadolint(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([HADOLINT, "--no-color", "-"], input=text, capture_output=True, text=True)


def test_dockerfile_is_clean() -> None:
    run = hadolint(DOCKERFILE.read_text(encoding="utf-8"))
    assert (run.returncode, run.stdout) == (0, "")


def test_a_fault_anywhere_in_the_file_is_noticed() -> None:
    run = hadolint(DOCKERFILE.read_text(encoding="utf-8") + "\nRUN cd /tmp && sudo true\n")
    assert run.returncode == 1
    assert "DL3003" in run.stdout and "DL3004" in run.stdout


def test_nothing_is_silenced() -> None:
    assert "hadolint ignore" not in DOCKERFILE.read_text(encoding="utf-8")
