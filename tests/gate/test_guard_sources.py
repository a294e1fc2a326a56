"""Which file a module is made from, where it has one that can be read."""

from __future__ import annotations

import importlib
import json
import sys
import types
from pathlib import Path

import pytest

from pytest_actor_envs.gate.guard_sources import _file_of, _imported


def test_only_a_module_that_has_a_file_of_python_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spaced_package/inner").mkdir(parents=True)
    (tmp_path / "spaced_package/inner/a.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    monkeypatch.setitem(sys.modules, "made_while_running", types.ModuleType("made_while_running"))
    assert _file_of("json") == Path(json.__file__).resolve()
    assert _file_of("spaced_package.inner.a") == (tmp_path / "spaced_package/inner/a.py").resolve()
    for name in ("sys", "spaced_package", "spaced_package.inner", "made_while_running", "nowhere", "json.nowhere.at"):
        assert _file_of(name) is None
    assert _file_of("json.dumps") is None


@pytest.mark.parametrize(
    ("name", "file", "text", "names"),
    [
        ("a.b", "b.py", "import c.d, e as f\n", ["c", "c.d", "e"]),
        ("a.b", "b.py", "from c import d, e\n", ["c", "c", "c.d", "c", "c.e"]),
        ("a.b", "b.py", "from . import d\n", ["a", "a", "a.d"]),
        ("a.b", "__init__.py", "from .c import d\n", ["a", "a.b", "a.b.c", "a", "a.b", "a.b.c", "a.b.c.d"]),
        ("a", "a.py", "def f():\n    import c\nx = 1\n", ["c"]),
    ],
)
def test_what_a_file_imports_with_the_packages_above(
    name: str, file: str, text: str, names: list[str], tmp_path: Path
) -> None:
    (tmp_path / file).write_text(text)
    assert list(_imported(name, tmp_path / file)) == names
