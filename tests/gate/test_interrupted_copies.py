"""The copy that gate-full keeps, after a run that was ended at a bad moment, or with another configuration."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pytest_actor_envs.gate.mutmut_process import MutmutFailed
from pytest_actor_envs.gate.mutmut_results import CodeMutant, read_results
from tests.gate.conftest import interrupted
from tests.gate.test_kept_copy import ASKING, DOUBLED, FILES, TRIPLED, unchanged, write
from tools.kept_copy import kept_copy
from tools.kept_state import Asking

KILL = json.dumps([DOUBLED, "call", "tests/test_code.py::test_doubled"])
NOT_ASKED = json.dumps([TRIPLED, "not asked", "2"])
FUNCTIONS = {"doubled", "tripled", "status", "in_the_fork", "after_closing"}
ROOT = Path(__file__).resolve().parents[2]
COMMAND = """
import pathlib, signal, sys
from tools.kept_copy import kept_copy
from tools.kept_state import Asking
signal.signal(signal.SIGTERM, signal.default_int_handler)
with kept_copy(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), lambda path, content: content, Asking(1)):
    pass
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the project and the kept copy in which its mutants are made."""
    folder = tmp_path_factory.mktemp("made")
    write(folder / "root", FILES)
    look(folder)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "here"))


def look(folder: Path, asking: Asking = ASKING) -> Mapping[str, CodeMutant]:
    """The mutants by name, as a run finds them when it begins."""
    with kept_copy(folder / "root", folder / "kept", unchanged, asking) as project:
        return {mutant.name: mutant for mutant in read_results(project / "mutants").mutants}


def functions(folder: Path) -> set[str]:
    """The functions that have mutants, those in the mutated files and those in the records alike."""
    recorded = {name.rpartition(".x_")[2].partition("__mutmut_")[0] for name in look(folder)}
    texts = [path.read_text() for path in (folder / "kept/project/mutants/tiny").glob("*.py")]
    assert recorded == {name for name in FUNCTIONS if any(f"x_{name}__mutmut_1(" in text for text in texts)}
    return recorded


def note(folder: Path, statuses: Mapping[str, int], *lines: str) -> Path:
    """Writes verdicts as mutmut does; the record of their file."""
    mutants = folder / "kept/project/mutants"
    record = mutants / "tiny/code.py.meta"
    found = json.loads(record.read_text())
    found["exit_code_by_key"].update(statuses)
    record.write_text(json.dumps(found, indent=4))
    (mutants / "kills.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return record


def begun(mutated: Path) -> None:
    mutated.write_text("")


def without_spans(mutated: Path) -> None:
    mutated.with_suffix(".py.spans").unlink()


def with_half_of_the_spans(mutated: Path) -> None:
    spans = mutated.with_suffix(".py.spans")
    spans.write_bytes(spans.read_bytes()[:30])


def without_spans_and_with_half_of_the_record(mutated: Path) -> None:
    without_spans(mutated)
    record = mutated.with_suffix(".py.meta")
    record.write_bytes(record.read_bytes()[:30])


@pytest.mark.parametrize(
    "stopped", [begun, without_spans, with_half_of_the_spans, without_spans_and_with_half_of_the_record]
)
@pytest.mark.parametrize("changes", [{}, {"README.md": "new"}])
def test_mutants_that_were_being_made_are_made_anew(
    stopped: Callable[[Path], None], changes: Mapping[str, str], folder: Path
) -> None:
    stopped(folder / "kept/project/mutants/tiny/code.py")
    write(folder / "root", changes)
    assert functions(folder) == FUNCTIONS


def test_a_file_that_comes_to_be_mutated_gets_mutants(folder: Path) -> None:
    text = FILES["pyproject.toml"]
    write(folder / "root", {"pyproject.toml": text + 'do_not_mutate = ["tiny/forked.py"]\n'})
    assert functions(folder) == {"doubled", "tripled"}
    write(folder / "root", {"pyproject.toml": text})
    assert functions(folder) == FUNCTIONS


def test_a_file_that_cannot_be_mutated_is_an_error(folder: Path) -> None:
    write(folder / "root", {"tiny/code.py": "def doubled(number:\n"})
    with pytest.raises(MutmutFailed, match="mutmut could not make the mutants"):
        look(folder)


@pytest.mark.parametrize(("changes", "lasts"), [({}, {DOUBLED: 1, TRIPLED: 0}), ({"README.md": "new"}, {DOUBLED: 1})])
@pytest.mark.parametrize("length", [0, 40])
def test_of_a_record_that_was_being_written_what_tests_said_lasts(
    changes: Mapping[str, str], lasts: Mapping[str, int], length: int, folder: Path
) -> None:
    record = note(folder, {DOUBLED: 1, TRIPLED: 0}, KILL, NOT_ASKED)
    record.write_bytes(record.read_bytes()[:length])
    write(folder / "root", changes)
    found = look(folder)
    assert {name: mutant.status for name, mutant in found.items() if mutant.status is not None} == lasts
    assert json.loads(record.read_text())["hash_by_function_name"].keys() == {"x_doubled", "x_tripled"}


def test_a_kill_that_was_not_yet_in_the_record_counts(folder: Path) -> None:
    note(folder, {}, KILL)
    found = look(folder)
    assert {name: mutant.status for name, mutant in found.items() if mutant.status is not None} == {DOUBLED: 1}


@pytest.mark.parametrize(
    ("asking", "lasts"),
    [
        (Asking(20.0), {DOUBLED: 1, TRIPLED: 0}),
        (Asking(5.0), {DOUBLED: 1, TRIPLED: 0}),
        (Asking(60.0), {DOUBLED: 1}),
        (Asking(20.0, every_killer=True), {}),
    ],
)
def test_verdicts_last_that_asking_otherwise_would_not_change(
    asking: Asking, lasts: Mapping[str, int], folder: Path
) -> None:
    note(folder, {DOUBLED: 1, TRIPLED: 0}, KILL, NOT_ASKED)
    found = look(folder, asking)
    assert {name: mutant.status for name, mutant in found.items() if mutant.status is not None} == lasts
    assert {name for name, mutant in found.items() if mutant.failures} == lasts.keys()


def test_where_all_killers_are_wanted_the_first_one_of_a_mutant_is_no_verdict(folder: Path) -> None:
    look(folder, Asking(20.0, every_killer=True))
    note(folder, {}, KILL)
    assert look(folder, Asking(20.0, every_killer=True))[DOUBLED].status is None
    assert look(folder)[DOUBLED].status == 1


@pytest.mark.parametrize("state", ['{"tiny/code.py": "hash"}', "{", None])
def test_what_was_found_with_other_versions_or_nobody_knows_with_which_is_forgotten(
    state: str | None, folder: Path
) -> None:
    note(folder, {DOUBLED: 1}, KILL)
    file = folder / "kept/state.json"
    before = json.loads(file.read_text())
    file.write_text(json.dumps({**before, "versions": ["3"]}) if state is None else state)
    assert functions(folder) == FUNCTIONS
    assert look(folder)[DOUBLED] == CodeMutant(DOUBLED, "tiny/code.py", None)
    assert json.loads(file.read_text()) == before


def test_a_file_of_a_package_that_is_no_code_changes_as_well(folder: Path) -> None:
    for text in ("one", "two"):
        write(folder / "root", {"tiny/data.txt": text})
        look(folder)
        assert (folder / "kept/project/mutants/tiny/data.txt").read_text() == text


def test_an_interruption_while_mutants_are_made_leaves_no_process_and_the_next_run_makes_them(tmp_path: Path) -> None:
    many = "".join(f"def f{number}(a, b):\n    return a + b * {number}\n\n\n" for number in range(10000))
    write(tmp_path / "root", {**FILES, "tiny/many.py": many})
    begun = [tmp_path / "kept/project/mutants/tiny/code.py.meta"]
    command = [sys.executable, "-c", COMMAND, str(tmp_path / "root"), str(tmp_path / "kept")]
    done = interrupted(command, {**os.environ, "PYTHONPATH": str(ROOT)}, begun, signal.SIGTERM)
    assert done.stderr.endswith("KeyboardInterrupt\n")
    assert not (tmp_path / "kept/state.json").exists()
    write(tmp_path / "root", {"tiny/many.py": "def tripled(number):\n    return number * 3\n"})
    assert functions(tmp_path) == FUNCTIONS
