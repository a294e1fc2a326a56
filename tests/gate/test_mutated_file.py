"""The change of one mutant, out of the file that mutmut wrote for all of them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from pytest_actor_envs.gate.mutated_file import MutatedFile, main
from pytest_actor_envs.gate.mutmut_diffs import Change, diffs_of
from pytest_actor_envs.gate.mutmut_process import MutmutFailed

SOURCE = '''\
"""What is é."""


def f(x):
    y = x
    # x_f__mutmut_1 is in here
    return y


class Box:
    def g(self):
        return "g"
'''
MUTATED = '''\
"""What is é."""


def x_f__mutmut_orig(x):
    y = x
    # x_f__mutmut_1 is in here
    return y


def x_f__mutmut_1(x):
    y = None
    # x_f__mutmut_1 is in here
    return y


class Box:

    def xǁBoxǁg__mutmut_orig(self):
        return "g"

    def xǁBoxǁg__mutmut_1(self):
        return "XXgXX"
'''
SPANS = {
    "x_f__mutmut_orig": [3, 7],
    "x_f__mutmut_1": [8, 14],
    "xǁBoxǁg__mutmut_orig": [17, 19],
    "xǁBoxǁg__mutmut_1": [20, 22],
}
OF_F = """\
--- p/a.py
+++ p/a.py
@@ -4,4 +4,4 @@
 def f(x):
-    y = x
+    y = None
     # x_f__mutmut_1 is in here
     return y"""
OF_G = """\
--- p/a.py
+++ p/a.py
@@ -11,2 +11,2 @@
 def g(self):
-    return "g"
+    return "XXgXX\""""
CHANGES = {"p.a.x_f__mutmut_1": (OF_F, 5, "f"), "p.a.xǁBoxǁg__mutmut_1": (OF_G, 12, "Box.g")}


def written(folder: Path, spans: dict[str, list[int]] | None) -> Path:
    for path, text in (("p/a.py", SOURCE), ("mutants/p/a.py", MUTATED)):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(text, encoding="utf-8")
    # mutmut's own code, in a process that starts here, asks for it.
    (folder / "pyproject.toml").write_text('[tool.mutmut]\nsource_paths = ["p"]\n')
    if spans is not None:
        index = {"version": 1, "spans": spans}
        (folder / "mutants/p/a.py.spans").write_text(json.dumps(index), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize(
    "spans",
    [
        SPANS,
        {name: span for name, span in SPANS.items() if "orig" not in name},
        {name: span for name, span in SPANS.items() if "orig" in name},
        None,
    ],
    ids=["indexed", "without originals", "without mutants", "without an index"],
)
def test_a_mutant_is_shown_with_its_own_names_and_the_lines_of_the_file(
    name: str, spans: dict[str, list[int]] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(written(tmp_path, spans))
    assert MutatedFile("p/a.py").change(name) == CHANGES[name]


def test_what_the_index_has_is_taken_from_those_very_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Where mutmut looks for the function by parsing, another body of that name would come first.
    monkeypatch.chdir(written(tmp_path, {**SPANS, "x_f__mutmut_1": [8, 11]}))
    file = MutatedFile("p/a.py")
    assert file.spans is not None
    assert file.spans.span_by_function_name.keys() == SPANS.keys()
    diff, line, function = file.change("p.a.x_f__mutmut_1")
    assert diff.split("\n")[2:] == [
        *("@@ -4,4 +4,2 @@", " def f(x):", "-    y = x", "-    # x_f__mutmut_1 is in here", "-    return y"),
        "+    y = None",
    ]
    assert (line, function) == (5, "f")


def test_all_that_is_asked_is_answered_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(written(tmp_path, SPANS))
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps([(name, "p/a.py") for name in CHANGES])))
    main()
    assert json.loads(capsys.readouterr().out) == {name: list(change) for name, change in CHANGES.items()}


def test_it_is_asked_in_a_process_that_starts_in_the_folder(tmp_path: Path) -> None:
    asked = ((name, "p/a.py") for name in CHANGES)
    folder = written(tmp_path, SPANS)
    assert diffs_of(folder, asked) == {name: Change(*change) for name, change in CHANGES.items()}
    with pytest.raises(MutmutFailed) as raised:
        diffs_of(folder, [("p.gone.x_f__mutmut_1", "p/gone.py")])
    assert str(raised.value).startswith("the diffs of the mutants cannot be made:\nTraceback")
    assert "p/gone.py" in str(raised.value)
