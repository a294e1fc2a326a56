"""Ctrl-C in the prefetch: one line that says what is built and what is not, at once, and the next run goes on."""

import os
import pathlib
import pickle
import signal
import subprocess
import sys
import time

import pytest

from nemo_rl.utils import prefetch_venvs
from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_lock import lock_file_of, locked
from nemo_rl.utils.prefetch_builds import build_all
from nemo_rl.utils.prefetch_progress import BuildsInterrupted, PlainProgress

COLOURFUL, READER, WRITER = "small.actors.Colourful", "small.actors.MarkupReader", "small.actors.MarkupWriter"
LINE = "prefetch_venvs: interrupted; built or found complete: {}; not yet: {}; the same command goes on from here\n"
CODE = (
    "import pickle, sys; from nemo_rl.utils.prefetch_venvs import leave, main\n"
    "leave(main(sys.argv[2:], pickle.loads(bytes.fromhex(sys.argv[1]))))"
)


def start(project: ActorProject, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", CODE, pickle.dumps(project).hex(), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def interrupt_after(process: "subprocess.Popen[str]", words: list[str]) -> tuple[int, str, str]:
    """Ctrl-C, as a terminal sends it to the whole group, when each of these words begins a line; what came of it."""
    assert process.stderr is not None
    waited_for = set(words)
    lines = []
    for line in process.stderr:
        lines.append(line)
        waited_for -= {word for word in waited_for if line.startswith(word)}
        if not waited_for:
            break
    os.killpg(process.pid, signal.SIGINT)
    out, rest = process.communicate(timeout=30)
    return process.returncode, out, rest


def test_what_is_built_and_what_is_not_is_said_in_one_line(small: ActorProject) -> None:
    with locked(lock_file_of(small.folder_of(READER)), lambda line: None):
        process = start(small, "Colourful", "MarkupReader", "MarkupWriter", "--jobs", "2")
        ended = interrupt_after(process, [f"built {COLOURFUL}", f"{READER}: "])
    assert ended == (130, "", LINE.format(COLOURFUL, f"{READER}, {WRITER}"))
    again = start(small, "Colourful", "MarkupReader")
    _, err = again.communicate()
    assert again.returncode == 0, err
    assert {line.rpartition(" (")[0] for line in err.splitlines() if " (" in line} == {
        f"reused {COLOURFUL}",
        f"built {READER}",
    }


def test_what_was_complete_before_is_said_as_well(small: ActorProject) -> None:
    assert prefetch_venvs.main(["Colourful"], small) == 0
    with locked(lock_file_of(small.folder_of(READER)), lambda line: None):
        ended = interrupt_after(start(small, "Colourful", "MarkupReader"), [f"{READER}: "])
    assert ended == (130, "", LINE.format(COLOURFUL, READER))


def test_a_uv_that_runs_ends_with_the_prefetch(bulky: ActorProject) -> None:
    actor = "bulky_project.actors.Worker"
    process = start(bulky, actor)
    code, out, err = interrupt_after(process, [f"{actor}: installing"])
    assert (code, out, err) == (130, "", LINE.format("none", actor))
    with locked(lock_file_of(bulky.folder_of(actor)), lambda line: None):
        assert prefetch_venvs.already_complete(bulky, [actor], "run") == {}
    assert prefetch_venvs.main([actor], bulky) == 0


def test_a_build_that_ended_unseen_before_the_interruption_counts(
    small: ActorProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nemo_rl.utils import prefetch_builds

    def interrupted_wait(running: object, seconds: float, until: str) -> None:
        while not prefetch_venvs.already_complete(small, [COLOURFUL], "run"):
            time.sleep(0.01)
        time.sleep(0.2)
        raise KeyboardInterrupt

    monkeypatch.setattr(prefetch_builds.concurrent.futures, "wait", interrupted_wait)
    with pytest.raises(BuildsInterrupted) as interruption:
        build_all(small, [COLOURFUL], "run", 1, PlainProgress(sys.stderr))
    assert [result.actor for result in interruption.value.results] == [COLOURFUL]


def test_nothing_is_shown_after_the_end(tmp_path: pathlib.Path) -> None:
    with (tmp_path / "shown").open("w") as stream:
        progress = PlainProgress(stream)
        progress.finished("built A")
        progress.close()
        progress.finished("FAILED B")
    assert (tmp_path / "shown").read_text() == "built A\n"


@pytest.mark.parametrize("arguments", [[], ["--list"], ["MathEnvironment"]])
def test_a_wrong_value_of_the_system_flag_is_exit_code_2(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "nemo_rl.utils.prefetch_venvs", *arguments]
    variables = {**os.environ, "NEMO_RL_PY_EXECUTABLES_SYSTEM": "true"}
    run = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        "prefetch_venvs: NEMO_RL_PY_EXECUTABLES_SYSTEM is 'true'; "
        "set it to 1 for the driver's interpreter, or to 0, or unset it\n"
    )
