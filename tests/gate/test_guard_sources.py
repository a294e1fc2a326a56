"""Which file a module is made from, where it has one that can be read, and which files a guard is."""

from __future__ import annotations

import importlib
import json
import sys
import types
from pathlib import Path

import pytest

from pytest_actor_envs.gate import guard_sources
from pytest_actor_envs.gate.guard_sources import _file_of, _imported, own_sources
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.model import Guard


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
        ("a.b.c", "c.py", "x = 1\nfrom ..d import e\nimport f\n", ["a", "a.d", "a", "a.d", "a.d.e", "f"]),
        ("a", "__init__.py", "from . import b\n", ["a", "a", "a.b"]),
    ],
)
def test_what_a_file_imports_with_the_packages_above(
    name: str, file: str, text: str, names: list[str], tmp_path: Path
) -> None:
    (tmp_path / file).write_text(text)
    assert list(_imported(name, tmp_path / file)) == names


FILES = {
    "spoken/__init__.py": "",
    "spoken/guard.py": """
import ast, json, iniconfig, beside_it
import pytest_actor_envs.project
from packaging.version import Version
from pytest_actor_envs.model import Guard
from . import words
from .inner.deep import MARK

def later():
    from . import not_imported, no_module

GUARD = Guard("spoken", lambda project: (), lambda project, subject: (), lambda project: ())
""",
    "spoken/words.py": "from spoken import guard\n\ndef later():\n    import gone_module\n",
    "spoken/not_imported.py": "raise RuntimeError\n",
    "spoken/no_module.txt": "",
    "spoken/unasked.py": "",
    "spoken/inner/__init__.py": "import spoken.inner.also\n",
    "spoken/inner/also.py": "",
    "spoken/inner/deep.py": "MARK = 1\n",
    "beside_it.py": "",
    "unasked_too.py": "",
}
OWN = {
    "spoken/__init__.py",
    "spoken/guard.py",
    "spoken/words.py",
    "spoken/not_imported.py",
    "spoken/inner/__init__.py",
    "spoken/inner/also.py",
    "spoken/inner/deep.py",
}


@pytest.fixture
def spoken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guard:
    """A guard of a package of its own."""
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.partition(".")[0] in {"spoken", "beside_it"}]:
        monkeypatch.delitem(sys.modules, name)
    module = importlib.import_module("spoken.guard")
    assert isinstance(module.GUARD, Guard)
    return module.GUARD


def test_a_guard_is_its_file_and_all_it_imports_but_the_plugin_and_what_is_installed(
    spoken: Guard, tmp_path: Path
) -> None:
    assert own_sources(spoken) == {(tmp_path / path).resolve() for path in OWN | {"beside_it.py"}}


def test_a_guard_that_is_installed_is_all_of_its_own_package_and_nothing_beside(
    spoken: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard_sources, "INSTALLED", (*guard_sources.INSTALLED, tmp_path.resolve()))
    assert own_sources(spoken) == {(tmp_path / path).resolve() for path in OWN}


def test_a_guard_of_the_plugin_is_its_file() -> None:
    [built_in] = [guard for guard in load_guards(["extras"]) if guard.name == "extra-declared"]
    assert own_sources(built_in) == {guard_sources.PLUGIN_FOLDER / "guards/extras/extra_declared.py"}


def test_a_guard_without_a_file_has_no_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    made = types.ModuleType("made_while_running")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    exec("def check(project, subject): return ()", made.__dict__)
    assert own_sources(Guard("made", made.check, made.check, made.check)) == frozenset()
