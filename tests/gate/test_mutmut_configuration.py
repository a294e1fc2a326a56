"""`[tool.mutmut]` as it is read, and what it says where it lacks something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_actor_envs.gate.mutmut_configuration import (
    KILL_RECORDER,
    CodeMutantsNotConfigured,
    MutmutTableMissing,
    changed,
    check_files,
    narrowed,
    read_configuration,
)

ARGUMENTS = f'[tool.mutmut]\npytest_add_cli_args = ["-p", "{KILL_RECORDER}"]\n'
FULL = f"""\
{ARGUMENTS}
source_paths = ["pkg", "tools"]
only_mutate = ["pkg/*.py", "tools/b.py"]
pytest_add_cli_args_test_selection = ["tests"]
"""


def project(folder: Path, text: str) -> Path:
    for path in ("pkg/__init__.py", "pkg/in/a.py", "pkg/data.txt", "tools/a.py", "tools/b.py", "other/a.py"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("")
    (folder / "pyproject.toml").write_text(text)
    return folder


def test_all_of_it_is_read(tmp_path: Path) -> None:
    found = read_configuration(project(tmp_path, FULL))
    assert found.sources == ("pkg", "tools")
    assert found.patterns == ("pkg/*.py", "tools/b.py")
    assert found.arguments == ("-p", KILL_RECORDER)
    assert found.selection == ("tests",)
    assert found.mutated_files(tmp_path) == ("pkg/__init__.py", "pkg/in/a.py", "tools/b.py")


def test_without_patterns_every_file_is_mutated_and_without_sources_none(tmp_path: Path) -> None:
    found = read_configuration(project(tmp_path, f'{ARGUMENTS}source_paths = ["tools"]\n'))
    assert found.mutated_files(tmp_path) == ("tools/a.py", "tools/b.py")
    bare = read_configuration(project(tmp_path, ARGUMENTS))
    assert (bare.sources, bare.patterns, bare.selection) == ((), ("*.py",), ())
    assert bare.mutated_files(tmp_path) == ()


@pytest.mark.parametrize(
    ("excepted", "files"),
    [
        (["tools/*"], ["pkg/__init__.py", "pkg/in/a.py"]),
        (["pkg/in/*", "tools/b.py"], ["pkg/__init__.py"]),
        (["*"], []),
        (["PKG/*", "b.py"], ["pkg/__init__.py", "pkg/in/a.py", "tools/b.py"]),
        ([], ["pkg/__init__.py", "pkg/in/a.py", "tools/b.py"]),
    ],
)
def test_files_that_are_not_to_be_mutated_are_left_out(excepted: list[str], files: list[str], tmp_path: Path) -> None:
    root = project(tmp_path, f"{FULL}do_not_mutate = {json.dumps(excepted)}\n")
    found = read_configuration(root)
    assert found.exceptions == tuple(excepted)
    assert list(found.mutated_files(root)) == files
    assert list(narrowed(root, found, ["*"])) == files


@pytest.mark.parametrize("patterns", ["", "only_mutate = []", 'only_mutate = ["*"]'])
def test_no_pattern_is_every_file_and_a_source_may_be_a_file(patterns: str, tmp_path: Path) -> None:
    text = f'{ARGUMENTS}source_paths = ["tools/a.py", "pkg/in", "pkg/data.txt", "nowhere"]\n{patterns}\n'
    root = project(tmp_path, text)
    assert read_configuration(root).mutated_files(root) == ("pkg/in/a.py", "tools/a.py")


MISSING = "[tool.mutmut] is missing, so there are no code mutants"
BELOW = "write its settings below a line [tool.mutmut]"


@pytest.mark.parametrize(
    ("text", "place", "first", "second"),
    [
        ("", "1:1", MISSING, 'add it, with source_paths = ["package"]'),
        ("[tool.other]\n", "1:1", MISSING, 'only_mutate = ["package/mod'),
        ("\n[tool.mutmut]\n", "2:2", "mutmut's runs do not say which test", f'[tool.mutmut]: "-p", "{KILL_RECORDER}"'),
        ("[tool.mutmut]\npytest_add_cli_args=[]\n", "2:1", "mutmut's runs do not say which test", f'"{KILL_RECORDER}"'),
        (
            f'{ARGUMENTS}do_not_mutate_patterns = ["x"]\n',
            "3:1",
            "do_not_mutate_patterns in [tool.mutmut] hides mutants wherever the pattern fits",
            "remove it; a comment at the line, with a reason, lets an equivalent mutant be",
        ),
        ("[tool]\nmutmut = 3\n", "2:1", "'mutmut' has to be a table, not 3", BELOW),
        ("[tool]\nmutmut = []\n", "2:1", "'mutmut' has to be a table, not []", BELOW),
        *(
            (
                f"{ARGUMENTS}{key} = {value}\n",
                "3:1",
                f"'{key}' has to be a list of strings, not {shown}",
                f"write {key} = [",
            )
            for key, value, shown in [
                ("source_paths", '"pkg"', "'pkg'"),
                ("only_mutate", "3", "3"),
                ("do_not_mutate", "[3]", "[3]"),
                ("do_not_mutate_patterns", '"x"', "'x'"),
                ("also_copy", "{ a = 1 }", "a table"),
                ("pytest_add_cli_args_test_selection", '"tests"', "'tests'"),
            ]
        ),
        ('[tool.mutmut]\npytest_add_cli_args = "-x"\n', "2:1", "'pytest_add_cli_args' has to be a list", "write pyt"),
        (
            f'{ARGUMENTS}process_isolation = "threads"\n',
            "3:1",
            "'process_isolation' is no way that mutmut has: 'threads'",
            "write one of forkserver, fork",
        ),
    ],
)
def test_what_is_missing_or_wrong_is_said_with_its_place_and_the_way_out(
    text: str, place: str, first: str, second: str, tmp_path: Path
) -> None:
    with pytest.raises(CodeMutantsNotConfigured) as raised:
        read_configuration(project(tmp_path, text))
    said, way_out = str(raised.value).split("\n")
    assert said.startswith(f"pyproject.toml:{place}: gate: {first}")
    assert way_out.startswith("    ")
    assert second in way_out
    assert isinstance(raised.value, MutmutTableMissing) is (first == MISSING)


@pytest.mark.parametrize("isolation", ["fork", "forkserver"])
def test_both_isolations_may_be_chosen(isolation: str, tmp_path: Path) -> None:
    read_configuration(project(tmp_path, f'{ARGUMENTS}process_isolation = "{isolation}"\n'))


@pytest.mark.parametrize(
    ("lines", "place", "said"),
    [
        ('source_paths = [\n  "pkg",\n  "gone",\n]', "5:3", "'source_paths' names what is not in the project: gone"),
        ('source_paths = ["../pkg"]', "3:17", "'source_paths' names what is not in the project: ../pkg"),
        ('source_paths = ["/"]', "3:17", "'source_paths' names what is not in the project: /"),
        ('source_paths = ["pkg"]\nonly_mutate = ["no.py"]', "4:1", "'only_mutate' names no Python file, so there are"),
        ('source_paths = ["pkg"]\ndo_not_mutate = ["*"]', "1:2", "'only_mutate' names no Python file, so there are"),
        ("", "1:2", "'source_paths' names no Python file, so there are no code mutants"),
    ],
)
def test_sources_that_are_not_there_are_said_with_their_place(
    lines: str, place: str, said: str, tmp_path: Path
) -> None:
    text = f"{ARGUMENTS}{lines}\n"
    root = project(tmp_path / "root", text)
    project(tmp_path, "")
    with pytest.raises(CodeMutantsNotConfigured) as raised:
        check_files(root, read_configuration(root))
    first, second = str(raised.value).split("\n")
    assert first.startswith(f"pyproject.toml:{place}: gate: {said}")
    assert second.startswith("    ")


def test_sources_that_are_there_are_fine(tmp_path: Path) -> None:
    root = project(tmp_path, FULL)
    check_files(root, read_configuration(root))


@pytest.mark.parametrize(
    ("names", "files"),
    [
        (["*"], ["pkg/__init__.py", "pkg/in/a.py", "tools/b.py"]),
        (["pkg.x_f__mutmut_1"], ["pkg/__init__.py"]),
        (["pkg.in.a.*"], ["pkg/in/a.py"]),
        (["pkg.in.a.xǁAǁf*", "tools.*"], ["pkg/in/a.py", "tools/b.py"]),
        (["pkg.i*"], ["pkg/in/a.py"]),
        (["pkg.in.ab.*"], []),
        ([], []),
    ],
)
def test_only_files_that_can_hold_the_names_are_mutated(names: list[str], files: list[str], tmp_path: Path) -> None:
    root = project(tmp_path, FULL)
    assert list(narrowed(root, read_configuration(root), names)) == files


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[tool.mutmut]\nb = 1\n", '[tool.mutmut]\na = ["x", "y"]\nb = 1\n'),
        ('[tool.mutmut]\na = ["z"]\nb = 1\n', '[tool.mutmut]\na = ["x", "y"]\nb = 1\n'),
        (
            'x = 1\n[tool.mutmut]\nc = 2\na = [\n  "z",\n]\nb = 1\n[next]\na = ["kept"]\n',
            'x = 1\n[tool.mutmut]\na = ["x", "y"]\nc = 2\nb = 1\n[next]\na = ["kept"]\n',
        ),
        ('[tool.mutmut]\nb = [\n  "a = [",\n]\n  a=["z"]\n', '[tool.mutmut]\na = ["x", "y"]\nb = [\n  "a = [",\n]\n'),
        ('[tool.mutmut]\na = [\n  "z",\n  # ]\n  "=",\n]\n', '[tool.mutmut]\na = ["x", "y"]\n'),
        ('[tool.mutmut]\na = ["z=1"]\n# [tool.mutmut]\n', '[tool.mutmut]\na = ["x", "y"]\n# [tool.mutmut]\n'),
        ("[tool.mutmut]\n[next]\n[tool.mutmut.more]\n", '[tool.mutmut]\na = ["x", "y"]\n[next]\n[tool.mutmut.more]\n'),
    ],
)
def test_lists_are_put_in_place_of_those_of_the_same_key(text: str, expected: str) -> None:
    assert changed(text, {"a": ("x", "y")}) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[tool.mutmut] # why\nb = 1\n[z]\n", '[tool.mutmut] # why\na = ["x", "y"]\nb = 1\n[z]\n'),
        ("  [ tool . mutmut ]\t\na = 1\n[z]\n", '  [ tool . mutmut ]\t\na = ["x", "y"]\n[z]\n'),
        ("[tool.mutmut]", '[tool.mutmut]\na = ["x", "y"]'),
        (
            "b = 1\r\n[tool.mutmut]\r\na = [\r\n1]\r\nc = 2\r\n[z]\r\n",
            'b = 1\r\n[tool.mutmut]\r\na = ["x", "y"]\r\nc = 2\r\n[z]\r\n',
        ),
        ("[tool.mutmut]\n  [z]\na = 1\n", '[tool.mutmut]\na = ["x", "y"]\n  [z]\na = 1\n'),
        (
            '[tool.mutmut]\nb = [\n[1],\n"a"]\n"a" = 1\n',
            '[tool.mutmut]\na = ["x", "y"]\nb = [\n[1],\n"a"]\n',
        ),
        (
            '[tool.mutmut]\nb = """\na = 1\n[z]\n"""\na.c = 1\na.d = 2\n',
            '[tool.mutmut]\na = ["x", "y"]\nb = """\na = 1\n[z]\n"""\n',
        ),
        ("[tool]\n[tool.mutmut] \n[[z]]\n", '[tool]\n[tool.mutmut] \na = ["x", "y"]\n[[z]]\n'),
    ],
)
def test_however_the_table_is_written_its_values_are_changed_and_no_others(text: str, expected: str) -> None:
    assert changed(text, {"a": ("x", "y")}) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[tool]\nmutmut.b = 1\n",
        "tool.mutmut.b = 1\n[z]\n",
        "[tool]\nmutmut = { b = 1 }\n",
        '["tool"."mutmut"]\nb = 1\n',
        "[tool.mutmut.more]\n",
        'text = """\n[tool.mutmut]\n"""\n[tool.mutmut]\nb = 1\n',
        "[tool.mutmut]\n[tool.mutmut.a]\n",
        "[z]\n",
        "z = 1\n",
    ],
)
def test_a_table_that_cannot_be_changed_is_an_error_that_says_how_to_write_it(text: str) -> None:
    with pytest.raises(CodeMutantsNotConfigured) as raised:
        changed(text, {"a": ("x", "y")})
    assert str(raised.value) == (
        "pyproject.toml:1:1: gate: a, which this run needs in [tool.mutmut], cannot be put there\n"
        "    write the table as a line [tool.mutmut] with its keys below, one a line"
    )


def test_all_keys_that_cannot_be_put_into_the_table_are_named_and_numbers_are_compared() -> None:
    assert changed("[tool.mutmut]\nb = 2\n", {"b": 1e6}) == "[tool.mutmut]\nb = 1000000.0\n"
    with pytest.raises(CodeMutantsNotConfigured, match=r": a, b, which this run needs"):
        changed("tool.mutmut.b = 1\n", {"a": (), "b": 2})


def test_several_lists_are_written_in_the_order_given() -> None:
    text = '[tool.mutmut]\nc = ["z"]\na = 1\n'
    expected = '[tool.mutmut]\nb = ["\\u00e9\\""]\nc = []\na = 1\n'
    assert changed(text, {"b": ['é"'], "c": ()}) == expected
