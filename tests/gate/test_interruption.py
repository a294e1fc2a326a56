"""What interrupts the gate: which signals, how often, and from the first moment on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from pytest_actor_envs import interruption
from pytest_actor_envs.gate import mutmut_diffs
from pytest_actor_envs.gate.mutmut_diffs import diffs_of
from pytest_actor_envs.interruption import SIGNALS, interruptible
from tests.gate.conftest import COMMAND


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_is_one_keyboard_interrupt_however_often_it_comes(number: signal.Signals) -> None:
    before = [signal.getsignal(each) for each in SIGNALS]
    with interruptible():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        for each in SIGNALS:
            os.kill(os.getpid(), each)
    assert [signal.getsignal(each) for each in SIGNALS] == before


def test_after_a_while_it_is_another_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interruption, "ONE_WISH", 0.0)
    with interruptible():
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)


def test_while_results_are_gathered_one_wish_is_answered_and_the_next_is_heard(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(interruption, "ONE_WISH", 0.0)
    with interruptible() as handler:
        handler.hold()
        signal.raise_signal(signal.SIGTERM)
        handler.hold()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    assert capfd.readouterr().err == interruption.SAID.decode()


def test_once_held_a_terminal_that_is_gone_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    monkeypatch.setattr(interruption, "STANDARD_ERROR", writer)
    with interruptible() as handler:
        handler.hold()
        os.kill(os.getpid(), signal.SIGHUP)
    os.close(writer)


def test_what_is_ignored_stays_so_as_nohup_and_background_jobs_want() -> None:
    for number in SIGNALS:
        previous = signal.signal(number, signal.SIG_IGN)
        try:
            with interruptible():
                os.kill(os.getpid(), number)
                assert signal.getsignal(number) is signal.SIG_IGN
        finally:
            signal.signal(number, previous)


def test_an_interruption_while_modules_are_imported_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "argparse.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "gate"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (5, "actor-envs: interrupted, so nothing is known\n")


def test_who_makes_diffs_is_not_reached_by_ctrl_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "group.py"
    script.write_text("import json, os, sys\njson.dump({'m': [str(os.getpgid(0)), os.getpid(), '']}, sys.stdout)\n")
    monkeypatch.setattr(mutmut_diffs, "SCRIPT", str(script))
    before = psutil.Process().children()  # mutmut's own, where it is mutmut that runs this
    change = diffs_of(tmp_path, [("m", "p")])["m"]
    assert change.diff == str(change.line)
    script.unlink()
    assert diffs_of(tmp_path, []) == {}
    assert set(psutil.Process().children()) <= set(before)
