"""The edits that mutants are made with: each changes exactly what it says and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.guards import edits
from pytest_actor_envs.model import MutantDoesNotApply
from pytest_actor_envs.project import Project

Sample = Callable[..., Any]
LEAF = "sample/actor_environments.py"
FIRST = '"sample.workers.First": ["beta", "alpha"]'


def edited(project: Project, files: edits.Files, path: str = LEAF) -> list[str]:
    """The lines of a file that an edit removes (`-`) and adds (`+`)."""
    assert list(files) == [path]
    before, after = project.tree.read_text(path).split("\n"), str(files[path]).split("\n")
    return [
        *(f"-{line}" for line in before if before.count(line) > after.count(line)),
        *(f"+{line}" for line in after if after.count(line) > before.count(line)),
    ]


def test_the_first_occurrence_of_a_text_is_replaced(sample: Sample) -> None:
    project = sample({"sample/x.py": "a b a\n"}).project
    assert edits.replaced_text(project, "sample/x.py", "a", "c") == {"sample/x.py": "c b a\n"}


def test_a_text_or_a_file_that_is_not_there_is_an_error(sample: Sample) -> None:
    project = sample().project
    with pytest.raises(MutantDoesNotApply, match=f"^{LEAF} does not hold 'no such text'$"):
        edits.replaced_text(project, LEAF, "no such text", "")
    with pytest.raises(MutantDoesNotApply, match=r"^there is no file sample/no.py$"):
        edits.replaced_span(project, "sample/no.py", (0, 1), "")


def test_a_node_is_replaced_whatever_stands_around_it(sample: Sample) -> None:
    text = "x = 'äö', f(1,\n  2); y = 3\r\nz = 'ä', (4)\n"
    project = sample({"sample/x.py": text}).project
    tree = ast.parse(text)
    call, last = tree.body[0].value.elts[1], tree.body[2].value.elts[1]  # type: ignore[attr-defined]
    assert edits.replaced_node(project, "sample/x.py", call, "ü") == {
        "sample/x.py": "x = 'äö', ü; y = 3\r\nz = 'ä', (4)\n"
    }
    assert edits.replaced_node(project, "sample/x.py", last, "") == {
        "sample/x.py": text.replace("(4)", "()"),
    }


def test_code_is_appended_above_the_block_of_a_script(sample: Sample) -> None:
    text = "import sys\nif sys.argv:\n    pass\nif __name__ == '__main__':\n    main()\nlast = 1\n"
    project = sample({"sample/x.py": text}).project
    appended = text.replace("if __name__", "added = 1\nif __name__")
    assert edits.appended(project, "sample/x.py", "added = 1") == {"sample/x.py": appended}


def test_code_is_appended_at_the_end_of_other_modules(sample: Sample) -> None:
    project = sample({"sample/x.py": "x = '__name__'\nif x: pass\n\n\n"}).project
    assert edits.appended(project, "sample/x.py", "added = 1") == {
        "sample/x.py": "x = '__name__'\nif x: pass\n\nadded = 1\n"
    }


def test_a_first_line_stands_below_docstring_and_future_imports(sample: Sample) -> None:
    for text, expected in (
        ("x = 1\n", "NEW\nx = 1\n"),
        ('"""Doc\nstring."""\nx = 1\n', '"""Doc\nstring."""\nNEW\nx = 1\n'),
        (
            '"""Doc."""\nfrom __future__ import (\n    annotations,\n)\nx = 1\n',
            '"""Doc."""\nfrom __future__ import (\n    annotations,\n)\nNEW\nx = 1\n',
        ),
        ("x = 1\n'text'\n", "NEW\nx = 1\n'text'\n"),
        ("print(1)\n", "NEW\nprint(1)\n"),
        ("from sys import argv\n", "NEW\nfrom sys import argv\n"),
        ("", "NEW\n"),
    ):
        project = sample({"sample/x.py": text}).project
        assert edits.with_first_line(project, "sample/x.py", "NEW") == {"sample/x.py": expected}


@pytest.mark.parametrize(
    ("extras", "written"), [(None, "None"), ([], "[]"), (("a",), '["a"]'), (["a", "b"], '["a", "b"]')]
)
def test_extras_are_written_as_a_literal(extras: Any, written: str) -> None:
    assert edits.written_extras(extras) == written


def test_the_extras_of_an_entry_are_replaced(sample: Sample) -> None:
    project = sample().project
    first, _, third, _ = project.entries
    assert edited(project, edits.with_extras(project, first, ["x"])) == [
        f"-    {FIRST},",
        '+    "sample.workers.First": ["x"],',
    ]
    assert edited(project, edits.replaced_extra(project, first, "beta", "gamma"))[1] == (
        '+    "sample.workers.First": ["gamma", "alpha"],'
    )
    assert edited(project, edits.replaced_extra(project, third, "beta", "gamma"))[1] == (
        '+    "sample.workers.Third": [],'
    )


def test_an_entry_is_renamed(sample: Sample) -> None:
    project = sample().project
    assert edited(project, edits.renamed_entry(project, project.entries[0], "x.Y")) == [
        f"-    {FIRST},",
        '+    "x.Y": ["beta", "alpha"],',
    ]


@pytest.mark.parametrize(
    ("table", "left"),
    [
        ('{\n    # Comment.\n    "x.A": ["a"],\n    "x.B": None,\n}', '{\n    # Comment.\n\n    "x.B": None,\n}'),
        ('{"x.A": ["a"] , "x.B": None}', '{"x.B": None}'),
        ('{"x.A": ["a"]}', "{}"),
        ('{"x.A": ["a"] }', "{}"),
        ('{"x.A": ["a"]  # Comment.\n, "x.B": None}', '{# Comment.\n, "x.B": None}'),
    ],
)
def test_an_entry_is_removed_with_its_comma(sample: Sample, table: str, left: str) -> None:
    project = sample({LEAF: f"ACTOR_ENVIRONMENTS = {table}\n"}).project
    files = edits.without_entry(project, project.entries[0])
    assert files == {LEAF: f"ACTOR_ENVIRONMENTS = {left}\n"}


def test_an_entry_is_added_above_the_first_one(sample: Sample) -> None:
    project = sample().project
    files = edits.added_entry(project, "x.Y", ["a"])
    assert files == {LEAF: project.tree.read_text(LEAF).replace(FIRST, f'"x.Y": ["a"],\n    {FIRST}')}


def test_a_twin_gets_the_same_extras(sample: Sample) -> None:
    project = sample().project
    files = edits.added_twin(project, "x.Y", ["a"], project.entries[1])
    text = project.tree.read_text(LEAF).replace(FIRST, f'"x.Y": ["a"],\n    {FIRST}')
    assert files == {LEAF: text.replace('Second": ["alpha"]', 'Second": ["a"]')}


@pytest.mark.parametrize(("folder", "path"), [("", "x.py"), ("a/b", "a/b/x.py")])
def test_a_path_in_a_folder(folder: str, path: str) -> None:
    assert edits.in_folder(folder, "x.py") == path


def test_a_byte_order_mark_stays_first_and_moves_nothing(sample: Sample) -> None:
    texts = {
        "sample/plain.py": "x = 'ä'; y = 1\n",
        "sample/script.py": "x = 1\nif __name__ == '__main__':\n    main()\n",
        "sample/said.py": '"""Said."""\nx = 1\n',
    }
    project = sample({path: f"\ufeff{text}" for path, text in texts.items()}).project
    unmarked = sample(texts).project
    for path, text in texts.items():
        value = ast.parse(text).body[0].value  # type: ignore[attr-defined]
        for edit in (
            lambda project, path=path: edits.with_first_line(project, path, "z = 2"),
            lambda project, path=path: edits.appended(project, path, "z = 2"),
            lambda project, path=path, value=value: edits.replaced_node(project, path, value, "'ö'"),
        ):
            assert edit(project) == {path: f"\ufeff{edit(unmarked)[path]}"}
