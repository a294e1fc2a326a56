"""The copy that gate-full keeps, with the real mutmut on a project of two functions."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_actor_envs.gate.code_mutants import CodeMutantsResult
from pytest_actor_envs.gate.mutmut_process import MutantNotFound, SuiteFails
from pytest_actor_envs.gate.mutmut_results import read_results
from pytest_actor_envs.gate.verdicts import Fate
from tools.asked_mutants import Selection, ask, selected
from tools.kept_copy import CopyInUse, kept_copy
from tools.kept_state import Asking

FILES: Mapping[str, str] = {
    "pyproject.toml": """\
[tool.mutmut]
source_paths = ["tiny"]
process_isolation = "forkserver"
pytest_add_cli_args = [
    "--maxfail=0", "--disable-plugin-autoload", "-p", "pytest_actor_envs.gate.kill_recorder", "-p",
    "pytest_actor_envs.gate.reach_recorder", "-p", "no:cacheprovider",
]
pytest_add_cli_args_test_selection = ["tests"]
""",
    "tiny/__init__.py": "",
    "tiny/code.py": "def doubled(number):\n    return number * 2\n\n\ndef tripled(number):\n    return number * 3\n",
    "tiny/forked.py": """\
import os


def status():
    child = os.fork()
    if child == 0:
        status = in_the_fork()
        os.closerange(3, 256)
        os._exit(status + after_closing())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_the_fork():
    return 7


def after_closing():
    return 1
""",
    "tests/test_code.py": "from tiny.code import doubled\n\n\ndef test_doubled():\n    assert doubled(3) == 6\n",
    "tests/test_tripled.py": "from tiny.code import tripled\n\n\ndef test_tripled():\n    tripled(3)\n",
    "tests/test_forked.py": "from tiny.forked import status\n\n\ndef test_status():\n    assert status() == 8\n",
}
ASKING = Asking(20.0)
DOUBLED, TRIPLED = "tiny.code.x_doubled__mutmut_1", "tiny.code.x_tripled__mutmut_1"


def write(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def unchanged(path: str, content: bytes) -> bytes:
    return content


def asked(folder: Path, *patterns: str) -> tuple[CodeMutantsResult, int]:
    """Reports of the mutants that fit, and how many of them had no verdict before."""
    with kept_copy(folder / "root", folder / "kept", unchanged, ASKING) as project:
        mutants = read_results(project / "mutants").mutants
        selection = selected(mutants, patterns, None, 1)
        open_before = sum(m.status is None for m in mutants if m.name in selection.names)
        return ask(project, selection, (), ASKING, lambda done, of: None, lambda result: None), open_before


def fates(result: CodeMutantsResult) -> dict[str, Fate]:
    return {report.identity: report.fate for report in result.reports}


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CodeMutantsResult]:
    """A folder with the project and the kept copy in which its two first functions were looked at; their reports."""
    folder = tmp_path_factory.mktemp("looked-at")
    write(folder / "root", FILES)
    found, before = asked(folder, "tiny.code.*")
    assert before == len(found.reports)
    return folder, found


@pytest.fixture
def folder(looked_at: tuple[Path, CodeMutantsResult], tmp_path: Path) -> Path:
    return Path(shutil.copytree(looked_at[0], tmp_path / "here"))


def test_a_second_run_asks_for_what_the_first_one_left(folder: Path, looked_at: tuple[Path, CodeMutantsResult]) -> None:
    first = looked_at[1]
    assert (fates(first)[DOUBLED], fates(first)[TRIPLED]) == (Fate.KILLED, Fate.SURVIVED)
    assert {path.name for path in (folder / "root").iterdir()} == {"pyproject.toml", "tiny", "tests"}
    second, before = asked(folder)
    assert before == len(second.reports) - len(first.reports) > 0
    assert fates(first).items() <= fates(second).items()
    in_the_fork = [report.killers for report in second.reports if report.shape == "in_the_fork"]
    assert in_the_fork and set(in_the_fork) == {("tests/test_forked.py::test_status",)}


def test_how_far_a_run_is_counts_the_mutants_that_were_asked_for_alone(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    with kept_copy(folder / "root", folder / "kept", unchanged, ASKING) as project:
        mutants = read_results(project / "mutants").mutants
        selection = selected(mutants, ["*doubled*", "*in_the_fork*"], None, 1)
        before = sum(mutant.status is not None for mutant in mutants if mutant.name in selection.names)
        ask(project, selection, (), ASKING, lambda done, of: seen.append((done, of)), lambda result: None)
    total = len(selection.names)
    assert 0 < before < total < len(mutants)
    assert {of for _, of in seen} == {total}
    assert before <= min(seen)[0] <= max(seen)[0] == total


@pytest.mark.parametrize(
    ("changes", "lasts"),
    [
        ({}, {DOUBLED, TRIPLED}),
        ({"README.md": "new"}, {DOUBLED}),
        ({"tests/test_code.py": FILES["tests/test_code.py"] + "\n"}, set()),
        ({"tests/conftest.py": ""}, set()),
        ({"tiny/code.py": FILES["tiny/code.py"] + "\n"}, set()),
    ],
)
def test_a_change_leaves_kills_whose_file_and_test_are_as_they_were(
    changes: Mapping[str, str], lasts: set[str], folder: Path
) -> None:
    write(folder / "root", changes)
    with kept_copy(folder / "root", folder / "kept", unchanged, ASKING) as project:
        known = {m.name: m for m in read_results(project / "mutants").mutants if m.name in (DOUBLED, TRIPLED)}
    assert {name for name, mutant in known.items() if mutant.status is not None} == lasts
    assert all(mutant.killers == () for name, mutant in known.items() if name not in lasts)


def test_a_test_that_is_new_is_asked_and_a_file_that_is_gone_is_gone(folder: Path) -> None:
    better = "from tiny.code import tripled\n\n\ndef test_it():\n    assert tripled(3) == 9\n"
    write(folder / "root", {"tests/test_better.py": better})
    for path in ("tests/test_tripled.py", "tiny/forked.py", "tests/test_forked.py"):
        (folder / "root" / path).unlink()
    found, _ = asked(folder)
    assert set(fates(found).values()) == {Fate.KILLED}
    assert {report.subject.partition(":")[0] for report in found.reports} == {"tiny/code.py"}


def test_tests_that_fail_without_a_mutant_are_named_with_what_they_say(folder: Path) -> None:
    write(folder / "root", {"tests/test_red.py": "def test_red():\n    assert 1 + 1 == 3\n"})
    with pytest.raises(
        SuiteFails, match=r"(?s)to kill fail:\ntests/test_red\.py::test_red: call\n.*assert 1 \+ 1 == 3"
    ):
        asked(folder)


def test_one_run_at_a_time_on_files_that_are_changed_on_the_way(folder: Path) -> None:
    def shouted(path: str, content: bytes) -> bytes:
        if path == "pyproject.toml":
            return content + b'do_not_mutate = ["tiny/forked.py"]\n'
        return content.replace(b"tripled", b"TRIPLED") if path == "tiny/code.py" else content

    with kept_copy(folder / "root", folder / "kept", shouted, ASKING) as project:
        names = [mutant.name for mutant in read_results(project / "mutants").mutants]
        with (
            pytest.raises(CopyInUse, match="--folder PATH"),
            kept_copy(folder / "root", folder / "kept", unchanged, ASKING),
        ):
            pass
    assert "tiny.code.x_TRIPLED__mutmut_1" in names and TRIPLED not in names
    assert {name.rpartition(".")[0] for name in names} == {"tiny.code"}


def test_what_is_no_file_is_not_copied(folder: Path) -> None:
    os.mkfifo(folder / "root/tiny/pipe")
    (folder / "root/tiny/link").symlink_to("nowhere")
    with kept_copy(folder / "root", folder / "kept", unchanged, ASKING) as project:
        assert {path.name for path in (project / "tiny").iterdir() if path.is_file()} == {
            "__init__.py",
            "code.py",
            "forked.py",
        }
        assert not (project / "tiny/pipe").exists()


def test_names_and_seeds_choose(folder: Path) -> None:
    mutants = read_results(folder / "kept/project/mutants").mutants
    total = len(mutants)
    assert selected(mutants, (), None, 1) == Selection(
        tuple(mutant.name for mutant in mutants), f"{total} code mutants", is_whole=True
    )
    named = selected(mutants, ("tiny.code.x_doubled*",), None, 1)
    assert named.words == f"{len(named.names)} of {total} code mutants, named tiny.code.x_doubled*"
    assert not named.is_whole and not named.is_drawn
    drawn = selected(mutants, ("tiny.*",), 4, 9)
    assert drawn.words == f"4 of {total} code mutants, named tiny.*, drawn with seed 9"
    assert drawn.is_drawn and {name.split(".")[1] for name in drawn.names} == {"code", "forked"}
    with pytest.raises(MutantNotFound, match="no code mutant is named other"):
        selected(mutants, ("other",), None, 1)
