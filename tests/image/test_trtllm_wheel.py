"""The script of the TensorRT-LLM wheel, where it has nothing to make; the rest is shown in the image."""

import pathlib
import subprocess

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "docker" / "trtllm_wheel.sh"


def run_on(list_file: pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", str(SCRIPT), str(list_file)], cwd=list_file.parent, capture_output=True, text=True)


def test_nothing_is_done_for_a_list_without_trtllm(tmp_path: pathlib.Path) -> None:
    list_file = tmp_path / "list.tsv"
    list_file.write_text("some.trtllm.Actor\tdeps\t--extra nemo_gym\n", encoding="utf-8")
    run = run_on(list_file)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_unreadable_list_is_an_error_and_no_list_without_trtllm(tmp_path: pathlib.Path) -> None:
    run = run_on(tmp_path / "no-list.tsv")
    assert run.returncode != 0
    assert "no-list.tsv" in run.stderr
