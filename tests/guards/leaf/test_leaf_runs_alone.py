from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.guards.leaf import leaf_runs_alone as guard

Sample = Callable[..., Any]
GUARD = "leaf-runs-alone"
LEAF, SCRIPT = "sample/actor_environments.py", "tools/generate_fingerprint.py"
BLOCK = 'if __name__ == "__main__":\n    raise SystemExit(main(sys.argv[1:]))\n'
ADVICE = "keep everything that it needs in this one file"


def test_each_standalone_file_is_a_subject(sample: Sample) -> None:
    assert sorted(sample().outcomes(GUARD)) == [LEAF, SCRIPT]


def test_a_file_that_is_read_from_beside_the_leaf(sample: Sample) -> None:
    code = "import sys\nimport pathlib\n\nTEXT = pathlib.Path(__file__).with_name('words.txt').read_text()\n"
    [finding] = sample({LEAF: ("import sys\n", code)}).findings(GUARD)
    assert str(finding.location) == f"{LEAF}:6:1"
    assert finding.message.startswith("does not import alone in an empty folder: FileNotFoundError: ")
    assert finding.fix == (ADVICE,)


def test_a_neighbour_that_is_imported(sample: Sample) -> None:
    edits = {SCRIPT: ("import hashlib\n", "import hashlib\n\nimport neighbour\n"), "tools/neighbour.py": ""}
    broken = sample({path: edit for path, edit in edits.items() if path == SCRIPT})
    assert broken.messages(GUARD) == [
        f"{SCRIPT}:5:1: does not import alone in an empty folder: ModuleNotFoundError: No module named 'neighbour'"
    ]


def test_a_file_that_ends_its_process(sample: Sample) -> None:
    broken = sample(
        {LEAF: ("import sys\n", "import os\nimport sys\n\nif len(os.listdir('.')) == 1:\n    os._exit(7)\n")}
    )
    assert broken.messages(GUARD) == [f"{LEAF}:1:1: does not import alone in an empty folder: its process ended with 7"]


def test_a_script_without_its_last_lines_prints_nothing(sample: Sample) -> None:
    broken = sample({LEAF: (BLOCK, "")})
    messages = broken.messages(GUARD)
    assert messages[0] == (
        f"{LEAF}:1:1: as a script alone in an empty folder, `all` gives the output '', "
        f"and 'sample.workers.First\\tdeps\\t--extra beta --extra alpha\\n... from main() in place"
    )
    assert messages[1].endswith("`no-such-stage` gives the exit status 0, and 2 from main() in place")
    fix = broken.findings(GUARD)[0].fix
    assert fix[0] == ADVICE
    statement = fix[1].partition(":   ")[2]
    ast.parse(statement)
    assert sample({LEAF: (BLOCK, f"{statement}\n")}).not_green() == {}


def test_a_script_that_loses_an_argument(sample: Sample) -> None:
    broken = sample({LEAF: ("sys.argv[1:]", "sys.argv[2:]")})
    assert (
        f"{LEAF}:1:1: as a script alone in an empty folder, `all` gives the exit status 2, and 0 from main() in place"
        in (broken.messages(GUARD))
    )


def test_a_script_that_hangs_is_reported_within_the_time_limit(sample: Sample) -> None:
    edits = {
        SCRIPT: ("import hashlib\n", "import hashlib\n\nwhile __name__ == 'alone':\n    pass\n"),
        "pyproject.toml": ("docs = []", "docs = []\ntime-limit = 1"),
    }
    [message] = sample(edits).messages(GUARD)
    assert message.startswith(f"{SCRIPT}:1:1: cannot be run alone: TimeoutExpired: ")
    assert sample(edits).findings(GUARD)[0].fix == (ADVICE,)


def test_a_file_that_does_not_parse_is_reported_by_another_guard(sample: Sample) -> None:
    broken = sample({SCRIPT: ("import hashlib\n", "import hashlib\n\nx = = 1\n")})
    assert broken.outcomes(GUARD)[SCRIPT].reason == "leaf-stdlib-only"
    assert broken.outcomes("leaf-import-pure")[SCRIPT].reason == "leaf-stdlib-only"
    [finding] = broken.findings("leaf-stdlib-only")
    assert str(finding.location).startswith(f"{SCRIPT}:5:")


def test_a_leaf_that_raises_in_place_only_is_reported_by_the_scripts_own_guard(sample: Sample) -> None:
    broken = sample(
        {LEAF: ("import sys\n\n", "import sys\n\nif __name__.startswith('sample'):\n    raise OSError('no')\n")}
    )
    assert broken.outcomes(GUARD)[LEAF].reason == "script-mirrors-registry"
    assert broken.outcomes(GUARD)[SCRIPT].verdict.value == "holds"
    assert broken.messages("script-mirrors-registry") == [f"{LEAF}:6:1: executing the script raised OSError: no"]


def test_a_dataclass_finds_the_module_that_it_is_in(sample: Sample) -> None:
    code = "import dataclasses\nimport hashlib\n\n\n@dataclasses.dataclass\nclass Stamp:\n    kind: 'str'\n"
    assert not sample({SCRIPT: ("import hashlib\n", code)}).findings(GUARD)


@pytest.mark.parametrize(("length", "shown"), [(58, "'" + 58 * "x" + "'"), (59, "'" + 56 * "x" + "...")])
def test_long_output_is_shown_by_its_beginning(length: int, shown: str) -> None:
    assert guard._shown(length * "x") == shown


def test_its_mutants(sample: Sample) -> None:
    reads = '_BESIDE = _pathlib.Path(__file__).with_name("beside_the_script.py").read_text()'
    expected = []
    for path, folder, last in ((LEAF, "sample", 31), (SCRIPT, "tools", 11)):
        beside = f"{folder}/beside_the_script.py:1: +VALUE = 1"
        expected += [f"{path}, imports-what-is-beside-it", f"{path}:2: +import beside_the_script", beside]
        expected += [f"{path}, reads-what-is-beside-it", f"{path}:{last}: +import pathlib as _pathlib"]
        expected += [f"{path}:{last + 1}: +{reads}", beside]
    expected += [f"{LEAF}, prints-nothing-as-script", f"{LEAF}:32: +    main = lambda argv: 0"]
    assert sample().changes(GUARD) == [*expected, f'{LEAF}:34: +if __name__ == "__main__":']
