"""The children of mutmut's fork server run what the server collected, and judge as a pytest of their own would."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest

from pytest_actor_envs.gate.kept_session import note_likely_killers
from pytest_actor_envs.gate.kill_recorder import (
    BYTES_OF_LATE_KILLS,
    EVERY_KILLER,
    KILLS_FILE,
    SECONDS,
    KillRecorder,
    pytest_collection_finish,
    pytest_configure,
)
from pytest_actor_envs.gate.verdicts import Fate, MutantReport
from tests.gate.conftest import run_code_mutants
from tests.gate.test_code_mutants import PYPROJECT

CODE = """\
def doubled(number):
    return number * 2


def looked_at(number):
    return number + 1
"""
TESTS = """\
import os
import subprocess
import sys

import pytest
from tiny.code import doubled, looked_at


@pytest.fixture(scope="session")
def of_the_session():
    return doubled(1)


@pytest.fixture(scope="module")
def of_the_module(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "number"
    path.write_text(str(doubled(2)))
    return path


def test_a_fixture_of_the_session(of_the_session):
    assert of_the_session == 2


def test_a_fixture_of_the_module(of_the_module):
    assert of_the_module.read_text() == "4"


def test_the_same_fixture_again(of_the_module):
    assert of_the_module.read_text() == "4"


@pytest.mark.parametrize("number", [3, 4], ids=["a::b", "two words"])
def test_arguments(number):
    assert doubled(number) == number + number


def test_what_is_printed(capsys):
    print(doubled(5))
    assert capsys.readouterr().out == "10\\n"


def test_what_a_process_prints(capfd):
    subprocess.run([sys.executable, "-c", f"print({doubled(5)})"], check=True)
    assert capfd.readouterr().out == "10\\n"


def test_a_folder_and_a_variable(tmp_path, monkeypatch):
    assert not list(tmp_path.iterdir())
    monkeypatch.setenv("TINY", str(doubled(6)))
    monkeypatch.chdir(tmp_path)
    assert os.environ["TINY"] == "12"


class TestGroup:
    def setup_method(self):
        self.number = doubled(7)

    def test_a_method(self):
        assert self.number == 14


def test_pytest_within_pytest(pytester):
    pytester.makepyfile(f"def test_it(): assert {doubled(8)} == 16")
    pytester.inline_run("-p", "no:cacheprovider").assertoutcome(passed=1)


def test_without_a_kill():
    looked_at(1)
"""
CONFTEST = """\
import os

pytest_plugins = ["pytester"]


def pytest_collection_finish(session):
    with open(os.environ["TINY_LOG"], "a") as log:
        log.write(os.environ["MUTANT_UNDER_TEST"] + "\\n")
"""
# Where mutmut's server collects, with -qqq, there is a test less.
CHANGING = """\
from tiny.code import doubled, looked_at


def pytest_generate_tests(metafunc):
    metafunc.parametrize("number", [0, 3] if metafunc.config.option.verbose > -3 else [0])


def test_doubled(number):
    assert doubled(number) == number + number
    looked_at(number)
"""


# The first test is the quicker one where mutmut times it, with no mutant.
SLOW = """\
import os
import time

from tiny.code import doubled, looked_at


def test_that_takes_long():
    looked_at(1)
    if "looked_at" in os.environ["MUTANT_UNDER_TEST"]:
        until = time.process_time() + 0.8
        while time.process_time() < until:
            pass


def test_that_would_kill():
    time.sleep(0.1)
    assert looked_at(1) == 2


def test_that_goes_on_for_ever():
    while doubled(1) != 2:
        pass


def test_that_waits_for_nobody():
    if doubled(2) != 4:
        time.sleep(1000)
"""


def project(folder: Path, tests: str, isolation: str) -> Path:
    pyproject = PYPROJECT.replace('"forkserver"', f'"{isolation}"').replace("timeout_multiplier = 1.0", "")
    files = {"pyproject.toml": pyproject, "tiny/__init__.py": "", "tiny/code.py": CODE}
    for path, text in {**files, "tests/test_code.py": tests, "tests/conftest.py": CONFTEST}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def judged(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, tests: str = TESTS, isolation: str = "forkserver"
) -> tuple[dict[str, MutantReport], list[str]]:
    """The reports with all killers by mutant, and the mutants for which tests were collected once more."""
    log = folder / "log"
    monkeypatch.setenv("TINY_LOG", str(log))
    result = run_code_mutants(
        project(folder / "project", tests, isolation), None, lambda done, of: None, lambda copy: {EVERY_KILLER: "1"}
    )
    collected = [line for line in log.read_text().splitlines() if "__mutmut_" in line]
    return {report.identity: report for report in result.reports}, collected


def test_kept_tests_judge_as_new_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, collected_again = judged(tmp_path / "kept", monkeypatch)
    new, collected = judged(tmp_path / "new", monkeypatch, isolation="fork")
    assert collected_again == []
    assert set(collected) == set(kept)
    verdicts = {name: (report.fate, set(report.killers)) for name, report in kept.items()}
    assert verdicts == {name: (report.fate, set(report.killers)) for name, report in new.items()}
    fates = {report.shape: (report.fate, len(report.killers)) for report in kept.values()}
    assert fates == {"doubled": (Fate.KILLED, 9), "looked_at": (Fate.SURVIVED, 0)}


def test_a_test_that_the_server_did_not_collect_is_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports, collected = judged(tmp_path, monkeypatch, tests=CHANGING)
    assert set(collected) == set(reports)
    assert {report.shape: report.killers for report in reports.values()} == {
        "doubled": ("tests/test_code.py::test_doubled[3]",),
        "looked_at": (),
    }


def test_a_mutant_whose_time_is_over_is_no_survivor_and_it_is_said_what_it_was_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TINY_LOG", str(tmp_path / "log"))
    folder = project(tmp_path / "project", SLOW, "forkserver")
    result = run_code_mutants(folder, ["tiny.code.*"], lambda done, of: None, lambda copy: {SECONDS: "0.6"})
    assert {(report.shape, report.fate, report.reason) for report in result.reports} == {
        ("looked_at", Fate.TIMED_OUT, "the limit of time ended before 1 further tests were run"),
        ("doubled", Fate.TIMED_OUT, "it was stopped at the limit of time"),
    }


@pytest.mark.parametrize("isolation", ["forkserver", "fork"])
def test_the_limit_holds_as_well_where_tests_have_to_be_collected(
    isolation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TINY_LOG", str(tmp_path / "log"))
    working = """
    until = time.process_time() + 3
    while "looked_at" in os.environ["MUTANT_UNDER_TEST"] and time.process_time() < until:
        pass
"""
    folder = project(tmp_path / "project", "import os, time\n" + CHANGING + working, isolation)
    result = run_code_mutants(folder, ["tiny.code.x_looked_at*"], lambda done, of: None, lambda copy: {SECONDS: "0.6"})
    assert {report.fate for report in result.reports} == {Fate.TIMED_OUT}


def test_what_is_no_test_and_raises_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINY_LOG", str(tmp_path / "log"))
    folder = project(tmp_path / "project", TESTS, "forkserver")
    hook = """

def pytest_runtest_protocol():
    if "__mutmut_" in os.environ["MUTANT_UNDER_TEST"]:
        raise RuntimeError("a broken hook")
"""
    conftest = folder / "tests/conftest.py"
    conftest.write_text(conftest.read_text() + hook)
    result = run_code_mutants(folder, ["tiny.code.x_doubled*"], lambda done, of: None)
    assert {report.fate for report in result.reports} == {Fate.CRASHED}
    for report in result.reports:
        assert report.reason.startswith("its tests could not be run to their end:\nTraceback")
        assert report.reason.endswith("RuntimeError: a broken hook\n")


def test_a_limit_that_is_none_keeps_pytest_from_starting(
    monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.setenv(SECONDS, "soon")
    with pytest.raises(pytest.UsageError, match=f"the variable {SECONDS} is no number of seconds above 0: 'soon'"):
        pytest_configure(pytestconfig)


ORDERED = """\
from pathlib import Path

from tiny.code import doubled, looked_at


def note(name):
    with open("LOG", "a") as log:
        log.write(name)


def test_a():
    assert looked_at(1) == 2
    note("a")
    assert doubled(1) == 2


def test_b():
    note("b")
    assert doubled(1) == 2


def test_c():
    note("c")
    assert doubled(1) == 2
"""


@pytest.mark.parametrize("likely", ["a", "b", "c"])
def test_a_test_that_is_likely_to_kill_is_asked_first(
    likely: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TINY_LOG", str(tmp_path / "log"))
    folder = project(tmp_path / "project", ORDERED.replace("LOG", str(tmp_path / "order")), "forkserver")

    def prepare(copy: Path) -> dict[str, str]:
        test = f"tests/test_code.py::test_{likely}"
        killers = {"tiny.code.x_doubled__mutmut_1": ["tests/test_code.py::test_gone", test]}
        return {EVERY_KILLER: "0", **note_likely_killers(tmp_path / "likely", killers)}

    result = run_code_mutants(folder, ["tiny.code.x_doubled__mutmut_1"], lambda done, of: None, prepare)
    (report,) = result.reports
    assert report.killers == (f"tests/test_code.py::test_{likely}",)
    assert (tmp_path / "order").read_text()[-1] == likely


def test_what_is_collected_is_no_longer_looked_at_for_garbage() -> None:
    kept = [object() for _ in range(10)]
    try:
        pytest_collection_finish()
        assert gc.get_freeze_count() > 0
        assert not any(found is kept for found in gc.get_objects())
    finally:
        gc.unfreeze()
    assert any(found is kept for found in gc.get_objects())


def test_kills_of_other_mutants_of_the_same_function_are_known_the_last_one_as_highest(tmp_path: Path) -> None:
    failures = [
        ("tiny.code.x_doubled__mutmut_1", "call", "test_a"),
        ("tiny.code.x_doubled__mutmut_2", "call", "test_b"),
        ("tiny.code.x_doubled__mutmut_3", "call", "test_b"),
        ("tiny.code.x_doubled__mutmut_4", "setup", "test_c"),
        ("tiny.code.x_doubled__mutmut_5", "call", "test_a"),
        ("tiny.code.x_doubled_again__mutmut_1", "call", "test_d"),
        ("tiny.code.x_other__mutmut_1", "call", "test_e"),
    ]
    file = tmp_path / KILLS_FILE
    file.write_text("".join(json.dumps(failure) + "\n" for failure in failures))
    recorder = KillRecorder(str(tmp_path), "tiny.code.x_doubled__mutmut_9", [], everything=False)
    assert recorder.kills_of_siblings() == {"test_a": 5, "test_b": 3}
    with file.open("a") as more:
        more.write(json.dumps(("tiny.code.x_other__mutmut_2", "call", "x" * BYTES_OF_LATE_KILLS)) + "\n")
    assert recorder.kills_of_siblings() == {}
    recorder.pytest_unconfigure()
